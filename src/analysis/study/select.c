// Selections: a node name, a glob (name:GLOB is one, too, as in the screen's filters), op:TYPE, A..B (all on paths from A to B), marked.
#include <stdlib.h>
#include <string.h>
#include "qtui/analysis/study.h"
#include "qtui/base/str.h"

// A pattern meets a node by its own name or by the name of a node of the file that was fused into it.
static void mark_glob(const struct graph *g, const char *pattern, bool *hit)
{
	for (int n = 0; n < g->n_nodes; n++)
		hit[n] |= str_glob(pattern, g->node[n].name);
	for (int i = 0; i < g->n_origins; i++)
		if (g->origin[i].node >= 0 && g->origin[i].fate != FATE_REMOVED && str_glob(pattern, g->origin[i].name))
			hit[g->origin[i].node] = true;
}

// Nodes that values flow to from `from`, itself included.
static void reach_down(const struct graph *g, int from, bool *hit)
{
	hit[from] = true;
	for (int n = from; n < g->n_nodes; n++)
		for (int i = 0; !hit[n] && i < g->node[n].n_in; i++) {
			int v = g->node[n].in[i], p = v >= 0 ? g->value[v].producer : -1;
			hit[n] = p >= 0 && hit[p];
		}
}

static void reach_up(const struct graph *g, int to, bool *hit)
{
	hit[to] = true;
	for (int n = to; n >= 0; n--)
		for (int i = 0; hit[n] && i < g->node[n].n_in; i++) {
			int v = g->node[n].in[i], p = v >= 0 ? g->value[v].producer : -1;
			if (p >= 0)
				hit[p] = true;
		}
}

static enum status need_node(const struct graph *g, const char *name, int *node, struct error *err)
{
	*node = graph_find_node(g, name);
	return *node >= 0 ? STATUS_OK : graph_no_node(g, name, err);
}

static enum status mark_region(const struct graph *g, const char *selection, const char *dots, bool *hit, struct error *err)
{
	int a, b;
	char *first = xstrdup(selection);
	first[dots - selection] = '\0';
	enum status st = need_node(g, first, &a, err);
	if (st == STATUS_OK)
		st = need_node(g, dots + 2, &b, err);
	free(first);
	if (st != STATUS_OK)
		return st;
	bool *down = xcalloc((size_t)g->n_nodes + 1, 1), *up = xcalloc((size_t)g->n_nodes + 1, 1);
	reach_down(g, a, down);
	reach_up(g, b, up);
	for (int n = 0; n < g->n_nodes; n++)
		hit[n] = down[n] && up[n];
	if (!hit[a])
		st = error_set(err, STATUS_NOTFOUND, "no path leads from %s to %s", g->node[a].name, g->node[b].name);
	free(down);
	free(up);
	return st;
}

// "snr<10": a term of the screen's filters. Its answer changes with every run: no decision can be kept by it.
static bool is_condition(const char *selection)
{
	const char *at = selection + strcspn(selection, "<>");
	if (at == selection || !*at)
		return false;
	at += 1 + (at[1] == '=');
	return *at == '-' || *at == '.' || (*at >= '0' && *at <= '9');
}

static enum status mark_selection(const struct study *s, const char *selection, const bool *marked, bool *hit, struct error *err)
{
	const struct graph *g = study_graph(s);
	const char *dots = strstr(selection, "..");
	int node = graph_find_node(g, selection);
	if (node >= 0) {
		hit[node] = true;
		return STATUS_OK;
	}
	if (strcmp(selection, "marked") == 0) {
		for (int n = 0; marked && n < g->n_nodes; n++)
			hit[n] = marked[n];
		return STATUS_OK;
	}
	if (str_has_prefix(selection, "op:")) {
		for (int n = 0; n < g->n_nodes; n++)
			hit[n] = str_glob(selection + 3, g->node[n].op->name);
		return STATUS_OK;
	}
	if (str_has_prefix(selection, "name:")) {
		mark_glob(g, selection + 5, hit);
		return STATUS_OK;
	}
	if (dots)
		return mark_region(g, selection, dots, hit, err);
	if (strpbrk(selection, "*?[")) {
		mark_glob(g, selection, hit);
		return STATUS_OK;
	}
	if (is_condition(selection))
		return error_set(err, STATUS_NOTFOUND,
		    "%.100s is a condition, which names no nodes: on the screen :filter shows those that meet it now, * marks them, and marked names these",
		    selection);
	return need_node(g, selection, &node, err);
}

enum status study_find_output(int *value, const struct graph *g, const char *name, struct error *err)
{
	bool prefixed = str_has_prefix(name, STUDY_TENSOR);
	const char *tensor = prefixed ? name + strlen(STUDY_TENSOR) : name;
	int node = graph_find_node(g, name);
	*value = node >= 0 ? graph_output(g, node) : graph_find_value(g, tensor);
	if (*value >= 0 && !g->value[*value].constant)
		return STATUS_OK;
	if (*value >= 0)
		return error_set(err, STATUS_REFUSED, "%s is a parameter, whose scales follow from its values", tensor);
	if (node >= 0)
		return error_set(err, STATUS_REFUSED, "%s has no output that anybody reads", g->node[node].name);
	if (prefixed)
		return error_set(err, STATUS_NOTFOUND, "the model has no tensor %.200s", tensor);
	return graph_no_node(g, name, err);
}

static bool names_output(const struct graph *g, const char *name)
{
	return graph_find_node(g, name) >= 0 || graph_find_value(g, name) >= 0 || str_has_prefix(name, STUDY_TENSOR);
}

enum status study_select_outputs(const struct study *s, const char *selection, const bool *marked, int **out, int *n,
    struct error *err)
{
	const struct graph *g = study_graph(s);
	bool is_name = names_output(g, selection);
	int *nodes = NULL, n_nodes = 0, value;
	enum status st = is_name ? study_find_output(&value, g, selection, err)
	                         : study_select(s, selection, marked, &nodes, &n_nodes, err);
	*out = NULL;
	*n = 0;
	if (st == STATUS_OK)
		*out = xcalloc((size_t)n_nodes + 1, sizeof **out);
	if (st == STATUS_OK && is_name)
		(*out)[(*n)++] = value;
	for (int i = 0; st == STATUS_OK && i < n_nodes; i++)
		if (graph_output(g, nodes[i]) >= 0)
			(*out)[(*n)++] = graph_output(g, nodes[i]);
	free(nodes);
	return st;
}

enum status study_select(const struct study *s, const char *selection, const bool *marked, int **out, int *n, struct error *err)
{
	const struct graph *g = study_graph(s);
	bool *hit = xcalloc((size_t)g->n_nodes + 1, 1);
	*out = NULL;
	*n = 0;
	enum status st = mark_selection(s, selection, marked, hit, err);
	if (st == STATUS_OK) {
		*out = xcalloc((size_t)g->n_nodes + 1, sizeof **out);
		for (int i = 0; i < g->n_nodes; i++)
			if (hit[i])
				(*out)[(*n)++] = i;
		if (*n == 0)
			st = strcmp(selection, "marked") ? error_set(err, STATUS_NOTFOUND, "%s matches no node", selection)
			                                 : error_set(err, STATUS_NOTFOUND, "no node is marked: Space marks one on the screen, :mark-nodes several");
	}
	if (st != STATUS_OK) {
		free(*out);
		*out = NULL;
	}
	free(hit);
	return st;
}
