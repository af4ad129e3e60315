#include "qtui/tui/layers.h"

#include <stdlib.h>
#include <string.h>

#include "qtui/base/mem.h"
#include "qtui/tui/text.h"

void layers_init(struct layers *l, int n_nodes)
{
	*l = (struct layers){.n_nodes = n_nodes, .sort = COLUMN_SNR, .visual = -1, .chosen = -1};
	l->order = xcalloc((size_t)n_nodes + 1, sizeof *l->order);
	l->marked = xcalloc((size_t)n_nodes + 1, sizeof *l->marked);
}

void layers_done(struct layers *l)
{
	free(l->order);
	free(l->marked);
	filter_free(&l->filter);
	abbrev_done(&l->names);
}

// Merge sort: stable and without a global for the comparison's context.
static void sort_rows(int *a, int *scratch, int n, const struct snapshot *s, const struct layers *l)
{
	int half = n / 2, i = 0, j = half;
	if (n < 2)
		return;
	sort_rows(a, scratch, half, s, l);
	sort_rows(a + half, scratch, n - half, s, l);
	for (int k = 0; k < n; k++)
		if (j == n || (i < half && columns_compare(s, l->sort, l->turned, a[i], a[j]) <= 0))
			scratch[k] = a[i++];
		else
			scratch[k] = a[j++];
	for (int k = 0; k < n; k++)
		a[k] = scratch[k];
}

static int wider(int widest, const char *name)
{
	int width = strlen(name) > (size_t)widest ? text_width(name) : 0; // no name has more columns than bytes
	return width > widest ? width : widest;
}

static bool has_before(const struct snapshot *s)
{
	for (int i = 0; i < s->n_sites; i++)
		if (s->site[i].before.known)
			return true;
	return false;
}

static const char *name_of(int node, const void *graph)
{
	return ((const struct graph *)graph)->node[node].name;
}

void layers_refresh(struct layers *l, const struct snapshot *s)
{
	int node = layers_node(l), line = l->scroll.cursor - l->scroll.top;
	int *scratch = xmalloc(((size_t)l->n_nodes + 1) * sizeof *scratch);
	l->n = l->total = l->widest = 0;
	for (int i = 0; i < s->n_rows && i < l->n_nodes; i++) {
		if (s->row[i].fused_into >= 0)
			continue;
		l->total++;
		l->widest = wider(l->widest, s->g->node[i].name);
		if (filter_match(l->filter, s, l->marked, i))
			l->order[l->n++] = i;
	}
	abbrev_set(&l->names, s->g->n_nodes, name_of, s->g);
	sort_rows(l->order, scratch, l->n, s, l);
	free(scratch);
	l->compared = has_before(s);
	if (l->chosen < 0)
		scroll_move(&l->scroll, -l->n_nodes, l->n);
	else if (layers_go(l, l->chosen) || layers_go(l, node))
		l->scroll.top = l->scroll.cursor - line;
	else
		scroll_move(&l->scroll, 0, l->n);
}

// A run will change figures of the nodes, or does.
static bool is_unsettled(const struct snapshot *s)
{
	return s->dirty || s->stage == STAGE_LOAD || s->stage == STAGE_CALIBRATE || s->stage == STAGE_MEASURE;
}

// The rows are nodes that stand for themselves still: another target, or a width, may join others.
static bool has_same_rows(const struct layers *l, const struct snapshot *s)
{
	int total = 0;
	for (int i = 0; i < s->n_rows && i < l->n_nodes; i++)
		total += s->row[i].fused_into < 0;
	for (int i = 0; i < l->n; i++)
		if (s->row[l->order[i]].fused_into >= 0)
			return false;
	return total == l->total;
}

void layers_update(struct layers *l, const struct snapshot *s)
{
	bool unsettled = is_unsettled(s);
	if (unsettled && l->settled && has_same_rows(l, s)) {
		l->compared = has_before(s);
		return;
	}
	l->settled = !unsettled;
	layers_refresh(l, s);
}

void layers_refilter(struct layers *l, const struct snapshot *s)
{
	layers_refresh(l, s);
	if (l->chosen < 0 || layers_row(l, l->chosen) >= 0)
		return;
	scroll_move(&l->scroll, -l->n_nodes, l->n);
	layers_choose(l);
}

int layers_node(const struct layers *l)
{
	return l->scroll.cursor < l->n ? l->order[l->scroll.cursor] : -1;
}

void layers_choose(struct layers *l)
{
	l->chosen = layers_node(l);
}

int layers_row(const struct layers *l, int node)
{
	for (int i = 0; i < l->n; i++)
		if (l->order[i] == node)
			return i;
	return -1;
}

bool layers_go(struct layers *l, int node)
{
	int row = layers_row(l, node);
	if (row < 0)
		return false;
	l->scroll.cursor = row;
	return true;
}

// Rows of the visual range: first..last-1.
static void find_visual(const struct layers *l, int *first, int *last)
{
	int from = l->visual >= 0 ? layers_row(l, l->visual) : -1, to = l->scroll.cursor;
	*first = from < to ? from : to;
	*last = from < 0 ? *first : (from < to ? to : from) + 1;
}

bool layers_in_visual(const struct layers *l, int row)
{
	int first, last;
	find_visual(l, &first, &last);
	return row >= first && row < last;
}

int layers_n_visual(const struct layers *l)
{
	int first, last;
	find_visual(l, &first, &last);
	return last - first;
}

void layers_mark(struct layers *l, int node, bool on)
{
	l->n_marked += on - l->marked[node];
	l->marked[node] = on;
}

static int take_visual(const struct layers *l, int *out)
{
	int n = 0, first, last;
	find_visual(l, &first, &last);
	for (int i = first; i < last && i < l->n; i++)
		out[n++] = l->order[i];
	return n;
}

static int take_marked(const struct layers *l, int *out)
{
	int n = 0;
	for (int i = 0; i < l->n_nodes; i++)
		if (l->marked[i])
			out[n++] = i;
	return n;
}

int *layers_selection(const struct layers *l, int *n)
{
	int *out = xmalloc(((size_t)l->n_nodes + 1) * sizeof *out);
	*n = take_visual(l, out);
	if (!*n)
		*n = take_marked(l, out);
	if (!*n && layers_node(l) >= 0)
		out[(*n)++] = layers_node(l);
	return out;
}
