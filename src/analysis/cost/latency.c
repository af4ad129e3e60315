// A board's times: from the lines of a table to the nodes of the graph.
#include "qtui/analysis/latency.h"
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

enum { LINE_MAX_BYTES = 1 << 16, NOTES_KEPT = 1000, NOTES_SAID = 12 };
#define FILE_MAX ((size_t)64 << 20)
#define TIME_MAX 1e15 // of any unit: sums of more could become infinite

// What was said under one name at one precision: said again, as by every run of a profiler, the mean counts.
struct entry {
	int node, width, line, count;
	double us;
};
struct reading {
	struct latency *l;
	const struct graph *g;
	struct heading heading;
	bool has_heading;
	int line;
	bool trace;             // in JSON, where runs repeat what they say
	struct node_finder finder;
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
	str_addf(&r->l->notes, "%s%s%d: %s\n", r->l->path, r->trace ? ": entry " : ":", r->line, text);
}

// ---- lines

// Whether it is said for the first time that there is no such node.
static bool is_news(struct reading *r, const char *name)
{
	struct str key = {0};
	str_addf(&key, "no %s", name);
	bool news = namemap_get(r->known, str_text(&key)) < 0;
	namemap_put(r->known, str_text(&key), 0);
	str_done(&key);
	return news;
}

static void note_unknown(struct reading *r, const char *name)
{
	struct error why;
	if (!is_news(r, name))
		return;
	if (r->l->n_notes >= NOTES_SAID)
		note(r, "the model has no node %.120s", name); // which is near takes long to find, for notes that few read
	else
		note(r, "%s", (graph_no_node(r->g, name, &why), why.text));
}

// The node that a line is of; -1: none, which is noted.
static int find_node(struct reading *r, char *name, const char *index)
{
	int node = *name ? node_by_name(&r->finder, name) : -1;
	if (node < 0)
		node = node_by_index(&r->finder, *name ? name : index);
	if (node == NODE_AMBIGUOUS)
		note(r, "%.120s could be several nodes of the model: not taken", name);
	else if (node < 0 && *name)
		note_unknown(r, name);
	else if (node < 0)
		note(r, "the model has no node of number %.40s: they are 0 to %d", index, r->g->n_origins - 1);
	return node == NODE_AMBIGUOUS ? -1 : node;
}

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
	if (++e->count == 2 && !r->trace)
		note(r, "%.120s at %s is in line %d too: the mean is taken", name, width_name(width), e->line);
	e->us += us;
	r->l->taken++;
	str_done(&key);
}

// False: noted.
static bool read_time(struct reading *r, const struct heading *h, const char *cell, double *us)
{
	double unit;
	if (!time_read(cell, h->separator, us, &unit)) {
		note(r, "\"%.40s\" is no time", cell);
		return false;
	}
	unit = unit != UNIT_UNKNOWN ? unit : h->unit;
	bool possible = *us >= 0 && *us < TIME_MAX;
	if (!possible || unit == UNIT_UNKNOWN) {
		note(r, !possible ? "a time of \"%.40s\" cannot be" : "\"%.40s\" of what? Name the column latency_us or latency_ms", cell);
		return false;
	}
	*us *= unit;
	return true;
}

// What profilers write beside the nodes: sums, and what ONNX Runtime does before and behind a node.
static bool is_aside(const char *name)
{
	return strcasecmp(name, "total") == 0 || strcasecmp(name, "sum") == 0 || str_has_suffix(name, "_fence_before") ||
	    str_has_suffix(name, "_fence_after");
}

static void take_row(struct reading *r, const struct heading *h, struct cells *c)
{
	char none[] = "";
	double us;
	char *name = h->name >= 0 ? c->at[h->name] : none, *index = h->index >= 0 ? c->at[h->index] : none;
	int width = h->precision >= 0 ? precision_read(c->at[h->precision]) : LATENCY_UNSAID;
	if (is_aside(name) && node_by_name(&r->finder, name) < 0)
		return;
	r->l->lines++;
	if (width < 0) {
		note(r, "\"%.40s\" is no precision that is known here: int8, int16 and float are", c->at[h->precision]);
		return;
	}
	if (!read_time(r, h, c->at[h->time], &us))
		return;
	int node = find_node(r, name, index);
	if (node >= 0)
		add_time(r, *name ? name : index, node, width, us);
}

static void read_row(struct reading *r, char *text)
{
	const struct heading *h = &r->heading;
	struct cells c;
	cells_cut(&c, text, h->separator);
	if (!c.open && cells_are_a_rule(&c))
		return;
	if (!c.open && c.n > h->time && c.n > h->precision && c.n > h->name && c.n > h->index) {
		take_row(r, h, &c);
		return;
	}
	r->l->lines++;
	note(r, c.open ? "a quote is not closed" : "only %d cells: the heading has more", c.n);
}

static void read_line(struct reading *r, char *text, size_t size)
{
	if (size > LINE_MAX_BYTES)
		note(r, "a line of %zu bytes is not read", size);
	else if (!r->has_heading)
		r->has_heading = heading_read(&r->heading, text);
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

// An object of a profile in JSON; those that are no node's have no time, or are of another category than nodes.
static void read_object(void *arg, const struct cells *names, struct cells *values)
{
	struct reading *r = arg;
	struct heading h;
	r->line++;
	for (int i = 0; i < names->n; i++)
		if (strcmp(names->at[i], "cat") == 0 && strcmp(values->at[i], "Node") != 0)
			return;
	if (!heading_of(&h, names, '\0'))
		return;
	r->has_heading = true;
	take_row(r, &h, values);
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
	if (!r->has_heading)
		return error_set(err, STATUS_FORMAT,
		    "%s%s1: nothing names a column of nodes and one of times: \"name,latency_us\", or precision too", l->path,
		    r->trace ? ": entry " : ":");
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

static enum status read_text(struct latency *l, const struct graph *g, struct bytes *b, struct error *err)
{
	char *text = (char *)b->data;
	struct reading r = {.l = l, .g = g, .trace = trace_is(text), .finder = {.g = g}, .known = namemap_new()};
	enum status st = r.trace ? trace_read(text, b->size, l->path, read_object, &r, err) : STATUS_OK;
	if (!r.trace)
		read_lines(&r, text);
	add_entries(&r);
	if (st == STATUS_OK)
		st = check(&r, err);
	node_finder_done(&r.finder);
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
		st = read_text(l, g, &b, err);
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

struct key latency_key(const struct latency *l)
{
	return l ? key_of(l->us, (size_t)l->n_nodes * sizeof *l->us) : (struct key){0};
}

void latency_warn(const struct latency *l)
{
	const char *end, *line = str_text(&l->notes);
	for (int i = 0; i < NOTES_SAID && (end = strchr(line, '\n')); i++, line = end + 1)
		log_warn("%.*s", (int)(end - line), line);
	if (l->n_notes > NOTES_SAID)
		log_warn("%s: and %d more lines of which something is to be said", l->path, l->n_notes - NOTES_SAID);
}
