// Wishes for many nodes at once: by an expression, by a type, the whole model, and what lies between tensors.
#include <regex.h>
#include <stdlib.h>
#include <string.h>
#include "qtui/engine/op.h"
#include "wishes.h"

// A class, [..], in which POSIX takes a \ as it is. Returns what comes behind it, or NULL: it has no end, or POSIX no word for what is in it.
static const char *posix_class(struct str *out, const char *at)
{
	static const char *const word[][2] = {
	    {"d", "0-9"}, {"w", "[:alnum:]_"}, {"s", "[:space:]"}, {".", "."}, {"/", "/"}, {"_", "_"}, {"\\", "\\"}};
	size_t first = at[1] == '^' ? 2 : 1; // a ] there is one of its characters
	first += at[first] == ']';
	str_addn(out, at, first);
	for (at += first; *at && *at != ']'; at++) {
		size_t i = 0;
		if (*at != '\\') {
			str_addn(out, at, 1);
			continue;
		}
		for (at++; i < sizeof word / sizeof *word && *at != word[i][0][0];)
			i++;
		if (i == sizeof word / sizeof *word)
			return NULL;
		str_add(out, word[i][1]);
	}
	str_add(out, "]");
	return *at ? at + 1 : NULL;
}

// Python's \d and (?: in POSIX's words; all else that names need is the same. False: POSIX has no words for it.
static bool posix_words(struct str *out, const char *pattern)
{
	static const char *const word[][2] = {
	    {"\\\\", "\\\\"}, {"\\d", "[0-9]"}, {"\\D", "[^0-9]"}, {"\\(", "\\("}, {"\\[", "\\["}, {"(?:", "("}};
	while (*pattern) {
		size_t i = 0;
		if (*pattern == '[') {
			pattern = posix_class(out, pattern);
			if (!pattern)
				return false;
			continue;
		}
		while (i < sizeof word / sizeof *word && !str_has_prefix(pattern, word[i][0]))
			i++;
		bool known = i < sizeof word / sizeof *word;
		str_addn(out, known ? word[i][1] : pattern, known ? strlen(word[i][1]) : 1);
		pattern += known ? strlen(word[i][0]) : 1;
	}
	return true;
}

void wish_pattern(struct wishes *w, const char *pattern, enum precision p)
{
	regex_t re;
	regmatch_t at;
	struct str posix = {0};
	bool any = false;
	bool understood = posix_words(&posix, pattern);
	int wrong = understood && str_is_small_regex(str_text(&posix)) ? regcomp(&re, str_text(&posix), REG_EXTENDED) : REG_ESPACE;
	str_done(&posix);
	if (wrong) {
		wish_note(w, "%.120s: not a regular expression that is understood here", pattern);
		return;
	}
	for (int n = 0; n < w->g->n_nodes; n++)
		if (regexec(&re, w->g->node[n].name, 1, &at, 0) == 0 && at.rm_so == 0) {
			wish_precision(w, n, p);
			any = true;
		}
	regfree(&re);
	if (!any)
		wish_note(w, "%.120s: no node has such a name", pattern);
}

void wish_type(struct wishes *w, const char *op_type, enum precision p)
{
	bool any = false;
	for (int n = 0; n < w->g->n_nodes; n++)
		if (strcmp(w->g->node[n].op->name, op_type) == 0) {
			wish_precision(w, n, p);
			any = true;
		}
	if (!any)
		wish_note(w, "%.120s: the model has no operator of this type", op_type);
}

void wish_node_in_float(struct wishes *w, int node)
{
	const struct group *group = &w->p->group[node];
	if (group->kind == GROUP_ACTIVATION && group->owner != node)
		w->part[node] = PREC_FLOAT;
	else
		wish_precision(w, node, PREC_FLOAT);
}

static void mark_listed(struct wishes *w, bool *listed, const char *name, bool types)
{
	int node = types ? -1 : graph_find_node(w->g, name);
	for (int i = 0; types && i < w->g->n_nodes; i++)
		listed[i] |= strcmp(w->g->node[i].op->name, name) == 0;
	if (node >= 0)
		listed[node] = true;
	else if (!types)
		wish_note(w, "%.120s: no node has such a name", name);
}

void wish_only(struct wishes *w, const cJSON *list, bool types)
{
	const cJSON *item;
	if (!list || !list->child)
		return;
	bool *listed = xcalloc((size_t)w->g->n_nodes + 1, sizeof *listed);
	cJSON_ArrayForEach(item, list)
		if (cJSON_IsString(item))
			mark_listed(w, listed, item->valuestring, types);
	for (int i = 0; i < w->g->n_nodes; i++)
		if (w->p->quantizable[i] && !listed[i])
			wish_node_in_float(w, i);
	free(listed);
}

void wish_all(struct wishes *w, enum precision p)
{
	for (int n = 0; n < w->g->n_nodes; n++)
		if (w->p->quantizable[n])
			wish_precision(w, n, p);
}

// Ends of a region: tensors, or nodes by their names.
enum ends { END_TENSORS, END_NODES };

static bool mark_end(struct wishes *w, bool *mark, const cJSON *name, enum ends e)
{
	const char *text = cJSON_IsString(name) ? name->valuestring : NULL;
	int at = !text ? -1 : e == END_NODES ? graph_find_node(w->g, text) : graph_find_value(w->g, text);
	if (at < 0)
		wish_note(w, "%.120s: the model has no such %s: nothing of its region is set", text ? text : "a name that is no text",
		    e == END_NODES ? "node" : "tensor");
	else
		mark[at] = true;
	return at >= 0;
}

// The ends as marks [n_values or n_nodes]; NULL, with a note, when one is not there.
static bool *marked(struct wishes *w, const cJSON *names, enum ends e)
{
	bool *mark = xcalloc((size_t)(e == END_NODES ? w->g->n_nodes : w->g->n_values) + 1, sizeof *mark), sound = true;
	const cJSON *name;
	if (!cJSON_IsArray(names))
		sound = mark_end(w, mark, names, e);
	else
		cJSON_ArrayForEach(name, names)
			sound = sound && mark_end(w, mark, name, e);
	if (!sound)
		free(mark);
	return sound ? mark : NULL;
}

static bool has_mark(const bool *mark, const int *value, int n)
{
	for (int i = 0; i < n; i++)
		if (value[i] >= 0 && mark[value[i]])
			return true;
	return false;
}

static void mark_all(bool *mark, const int *value, int n)
{
	for (int i = 0; i < n; i++)
		if (value[i] >= 0)
			mark[value[i]] = true;
}

// Nodes are in topological order: one way marks what comes after `from`, the way back what leads to `to`.
static void wish_marked(struct wishes *w, bool *from, bool *to, enum precision p)
{
	const struct graph *g = w->g;
	bool *after = xcalloc((size_t)g->n_nodes + 1, sizeof *after);
	for (int n = 0; n < g->n_nodes; n++)
		if ((after[n] = has_mark(from, g->node[n].in, g->node[n].n_in)))
			mark_all(from, g->node[n].out, g->node[n].n_out);
	for (int n = g->n_nodes - 1; n >= 0; n--) {
		if (!has_mark(to, g->node[n].out, g->node[n].n_out))
			continue;
		mark_all(to, g->node[n].in, g->node[n].n_in);
		if (after[n] && w->p->quantizable[n])
			wish_precision(w, n, p);
	}
	free(after);
}

void wish_between(struct wishes *w, const cJSON *from, const cJSON *to, enum precision p)
{
	bool *after = marked(w, from, END_TENSORS), *before = after ? marked(w, to, END_TENSORS) : NULL;
	if (before)
		wish_marked(w, after, before, p);
	free(after);
	free(before);
}

// The same between nodes: what reads a start comes after it, what an end reads leads to it.
static bool wish_on_the_ways(struct wishes *w, const bool *start, const bool *end, enum precision p)
{
	const struct graph *g = w->g;
	bool *from = xcalloc((size_t)g->n_values + 1, sizeof *from), *to = xcalloc((size_t)g->n_values + 1, sizeof *to);
	bool *after = xcalloc((size_t)g->n_nodes + 1, sizeof *after), any = false;
	for (int n = 0; n < g->n_nodes; n++)
		if ((after[n] = start[n] || has_mark(from, g->node[n].in, g->node[n].n_in)))
			mark_all(from, g->node[n].out, g->node[n].n_out);
	for (int n = g->n_nodes - 1; n >= 0; n--) {
		if (!end[n] && !has_mark(to, g->node[n].out, g->node[n].n_out))
			continue;
		mark_all(to, g->node[n].in, g->node[n].n_in);
		any |= after[n];
		if (after[n] && w->p->quantizable[n])
			wish_precision(w, n, p);
	}
	free(from);
	free(to);
	free(after);
	return any;
}

void wish_region(struct wishes *w, const cJSON *from, const cJSON *to, enum precision p)
{
	bool *start = marked(w, from, END_NODES), *end = start ? marked(w, to, END_NODES) : NULL;
	if (end && !wish_on_the_ways(w, start, end, p))
		wish_note(w, "a subgraph from whose start no way leads to its end: nothing is set");
	free(start);
	free(end);
}
