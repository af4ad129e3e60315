// A board's times: from the lines of a table to the nodes of the graph. A name is looked for as the file of the model writes it (a node,
// or a tensor: its maker), then as tools write it that know only letters, digits and '_'.
#include "qtui/analysis/latency.h"
#include <ctype.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include "qtui/base/file.h"
#include "qtui/base/hash.h"
#include "qtui/base/log.h"
#include "qtui/base/mem.h"
#include "table.h"

enum { LINE_MAX_BYTES = 1 << 16, NOTES_KEPT = 1000, NOTES_SAID = 12, AMBIGUOUS = INT_MAX };
#define FILE_MAX ((size_t)64 << 20)

// What was said under one name at one precision: said again, as by every run of a profiler, the mean counts.
struct entry {
	int node, width, line, count;
	double us;
};
struct reading {
	struct latency *l;
	const struct graph *g;
	struct heading heading; // separator 0: not found yet
	int line;
	struct namemap *loose;  // a name in small letters and '_' -> node, or AMBIGUOUS; NULL: not needed yet
	struct namemap *known;  // name and precision -> entry
	struct entry *entry;
	size_t n_entries, cap_entries;
};

static void note(struct reading *r, const char *fmt, ...) PRINTF(2, 3);
static void note(struct reading *r, const char *fmt, ...)
{
	char text[300];
	va_list ap;
	if (r->l->n_notes++ >= NOTES_KEPT)
		return;
	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	str_oneline(text);
	str_addf(&r->l->notes, "%s:%d: %s\n", r->l->path, r->line, text);
}

// ---- names

static int find_exactly(const struct graph *g, const char *name)
{
	int node = graph_find_node(g, name), v = node < 0 ? graph_find_value(g, name) : -1;
	return v >= 0 ? g->value[v].producer : node;
}

// Heap.
static char *loosen(const char *name)
{
	char *out = xcalloc(strlen(name) + 1, 1), *to = out;
	for (; *name; name++) {
		bool plain = isalnum((unsigned char)*name);
		if (plain)
			*to++ = (char)tolower((unsigned char)*name);
		else if (to > out && to[-1] != '_')
			*to++ = '_';
	}
	if (to > out && to[-1] == '_')
		to[-1] = '\0';
	return out;
}

static void put_loose(struct reading *r, const char *name, int node)
{
	char *loose = loosen(name);
	int other = namemap_get(r->loose, loose);
	if (node >= 0 && *loose)
		namemap_put(r->loose, loose, other >= 0 && other != node ? AMBIGUOUS : node);
	free(loose);
}

static int find_loosely(struct reading *r, const char *name)
{
	if (!r->loose) {
		r->loose = namemap_new();
		for (int i = 0; i < r->g->n_origins; i++)
			put_loose(r, r->g->origin[i].name, graph_find_node(r->g, r->g->origin[i].name));
		for (int v = 0; v < r->g->n_values; v++)
			put_loose(r, r->g->value[v].name, r->g->value[v].producer);
	}
	char *loose = loosen(name);
	int node = namemap_get(r->loose, loose);
	free(loose);
	return node;
}

// Of operators that the board runs as one ("A + B") the first that is known has the time of all.
static int find_fused(const struct reading *r, const char *name)
{
	const char *at = name, *end;
	int node = -1;
	for (; node < 0 && (end = strstr(at, " + ")); at = end + 3) {
		char *part = xcalloc((size_t)(end - at) + 1, 1);
		memcpy(part, at, (size_t)(end - at));
		node = find_exactly(r->g, part);
		free(part);
	}
	return node >= 0 || at == name ? node : find_exactly(r->g, at);
}

// ONNX Runtime's profile writes this behind a node's name.
static void cut_suffix(char *name)
{
	static const char suffix[] = "_kernel_time";
	if (str_has_suffix(name, suffix))
		name[strlen(name) - (sizeof suffix - 1)] = '\0';
}

static int find_name(struct reading *r, char *name)
{
	int node = find_exactly(r->g, name);
	if (node < 0)
		cut_suffix(name);
	if (node < 0)
		node = find_exactly(r->g, name);
	if (node < 0)
		node = find_fused(r, name);
	return node < 0 ? find_loosely(r, name) : node;
}

// The node's place in the file, from 0.
static int find_index(const struct reading *r, const char *text)
{
	long long i;
	if (!str_to_int(text, &i) || i < 0 || i >= r->g->n_origins)
		return -1;
	return graph_find_node(r->g, r->g->origin[i].name);
}

static bool is_sum(const char *name)
{
	return strcasecmp(name, "total") == 0 || strcasecmp(name, "sum") == 0;
}

// The node that a line is of; -1: none, which is noted.
static int find_node(struct reading *r, char *name, const char *index)
{
	int node = *name ? find_name(r, name) : -1;
	struct error why;
	if (node < 0)
		node = find_index(r, *name ? name : index);
	if (node == AMBIGUOUS)
		note(r, "%.120s could be several nodes of the model: not taken", name);
	else if (node < 0 && *name && r->l->n_notes >= NOTES_SAID && !is_sum(name))
		note(r, "the model has no node %.120s", name); // which is near takes long to find, for notes that few read
	else if (node < 0 && *name && !is_sum(name))
		note(r, "%s", (graph_no_node(r->g, name, &why), why.text));
	else if (node < 0 && !*name)
		note(r, "the model has no node of number %.40s: they are 0 to %d", index, r->g->n_origins - 1);
	return node == AMBIGUOUS ? -1 : node;
}

// ---- lines

static const char *width_name(int width)
{
	return width == LATENCY_UNSAID ? "no precision" : precision_name((enum precision)width);
}

static void add_time(struct reading *r, const char *name, int node, int width, double us)
{
	struct str key = {0};
	str_addf(&key, "%d %s", width, name);
	int at = namemap_get(r->known, str_text(&key));
	if (at < 0) {
		at = (int)r->n_entries;
		r->entry = xgrow(r->entry, &r->cap_entries, r->n_entries + 1, sizeof *r->entry);
		r->entry[r->n_entries++] = (struct entry){.node = node, .width = width, .line = r->line};
		namemap_put(r->known, str_text(&key), at);
	}
	struct entry *e = &r->entry[at];
	if (++e->count == 2)
		note(r, "%.120s at %s is in line %d too: the mean is taken", name, width_name(width), e->line);
	e->us += us;
	r->l->taken++;
	str_done(&key);
}

// False: noted.
static bool read_time(struct reading *r, const char *cell, double *us)
{
	double unit;
	if (!time_read(cell, r->heading.separator, us, &unit)) {
		note(r, "\"%.40s\" is no time", cell);
		return false;
	}
	unit = unit != UNIT_UNKNOWN ? unit : r->heading.unit;
	if (*us < 0 || unit == UNIT_UNKNOWN) {
		note(r, *us < 0 ? "a time of \"%.40s\" cannot be" : "\"%.40s\" of what? Name the column latency_us or latency_ms", cell);
		return false;
	}
	*us *= unit;
	return true;
}

static void read_row(struct reading *r, char *text)
{
	const struct heading *h = &r->heading;
	const int most = h->time > h->precision ? h->time : h->precision;
	char none[] = "";
	struct cells c;
	double us;
	cells_cut(&c, text, h->separator);
	if (!c.open && cells_are_a_rule(&c))
		return;
	r->l->lines++;
	if (c.open || c.n <= most || c.n <= h->name || c.n <= h->index) {
		note(r, c.open ? "a quote is not closed" : "only %d cells: the heading has more", c.n);
		return;
	}
	char *name = h->name >= 0 ? c.at[h->name] : none, *index = h->index >= 0 ? c.at[h->index] : none;
	int width = h->precision >= 0 ? precision_read(c.at[h->precision]) : LATENCY_UNSAID;
	if (width < 0) {
		note(r, "\"%.40s\" is no precision that is known here: int8, int16 and float are", c.at[h->precision]);
		return;
	}
	if (!read_time(r, c.at[h->time], &us))
		return;
	int node = find_node(r, name, index);
	if (node >= 0)
		add_time(r, *name ? name : index, node, width, us);
	else if (*name && is_sum(name))
		r->l->lines--; // of the table, not of a node
}

static void read_line(struct reading *r, char *text, size_t size)
{
	if (size > LINE_MAX_BYTES)
		note(r, "a line of %zu bytes is not read", size);
	else if (!r->heading.separator)
		r->heading.separator = heading_read(&r->heading, text) ? r->heading.separator : '\0';
	else
		read_row(r, text);
}

static void read_lines(struct reading *r, char *text)
{
	for (char *end; text; text = end) {
		end = strchr(text, '\n');
		size_t size = end ? (size_t)(end - text) : strlen(text);
		if (end)
			*end++ = '\0';
		r->line++;
		read_line(r, text, size);
	}
}

// ---- the file

static void add_entries(const struct reading *r)
{
	for (size_t i = 0; i < r->n_entries; i++) {
		const struct entry *e = &r->entry[i];
		double *us = &r->l->us[e->node][e->width], mean = e->us / e->count;
		*us = isnan(*us) ? mean : *us + mean; // nodes of the file that are one here
	}
}

static enum status check(const struct reading *r, struct error *err)
{
	const struct latency *l = r->l;
	const char *first = str_text(&l->notes);
	int n = (int)strcspn(first, "\n");
	if (!r->heading.separator)
		return error_set(err, STATUS_FORMAT, "%s:1: no heading names a column of nodes and one of times: \"name,latency_us\", or precision too",
		    l->path);
	if (!l->taken && *first)
		return error_set(err, STATUS_FORMAT, "%.*s; none of its lines could be taken", n, first);
	if (!l->taken)
		return error_set(err, STATUS_FORMAT, "%s:%d: there is no line below the heading", l->path, r->line);
	return STATUS_OK;
}

static struct latency *latency_new(const char *path, int n_nodes)
{
	struct latency *l = xcalloc(1, sizeof *l);
	atomic_store(&l->refs, 1);
	l->path = xstrdup(path);
	l->n_nodes = n_nodes;
	l->us = xcalloc((size_t)n_nodes + 1, sizeof *l->us);
	for (int n = 0; n < n_nodes; n++)
		for (int w = 0; w < LATENCY_WIDTHS; w++)
			l->us[n][w] = NAN;
	return l;
}

static enum status read_text(struct latency *l, const struct graph *g, char *text, struct error *err)
{
	struct reading r = {.l = l, .g = g, .known = namemap_new()};
	read_lines(&r, text);
	add_entries(&r);
	enum status st = check(&r, err);
	namemap_free(&r.loose);
	namemap_free(&r.known);
	free(r.entry);
	return st;
}

enum status latency_read(struct latency **out, const struct graph *g, const char *path, struct error *err)
{
	struct bytes b;
	enum status st = file_read_text(&b, path, FILE_MAX, err);
	if (st != STATUS_OK)
		return st;
	struct latency *l = latency_new(path, g->n_nodes);
	if (memchr(b.data, '\0', b.size))
		st = error_set(err, STATUS_FORMAT, "%s:1: no text: a table of names and times is needed", path);
	else
		st = read_text(l, g, (char *)b.data, err);
	bytes_done(&b);
	if (st == STATUS_OK)
		*out = l;
	else
		latency_drop(&l);
	return st;
}

struct latency *latency_take(struct latency *l)
{
	if (l)
		atomic_fetch_add(&l->refs, 1);
	return l;
}

void latency_drop(struct latency **lp)
{
	struct latency *l = *lp;
	*lp = NULL;
	if (!l || atomic_fetch_sub(&l->refs, 1) != 1)
		return;
	free(l->path);
	free(l->us);
	str_done(&l->notes);
	free(l);
}

void latency_warn(const struct latency *l)
{
	const char *end, *line = str_text(&l->notes);
	for (int i = 0; i < NOTES_SAID && (end = strchr(line, '\n')); i++, line = end + 1)
		log_warn("%.*s", (int)(end - line), line);
	if (l->n_notes > NOTES_SAID)
		log_warn("%s: and %d more lines of which something is to be said", l->path, l->n_notes - NOTES_SAID);
}
