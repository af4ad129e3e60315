// Reading a graph: names to ids, metadata; and freeing it.
#include <stdlib.h>
#include <string.h>
#include "qtui/base/mem.h"
#include "qtui/base/str.h"
#include "qtui/engine/graph.h"
#include "qtui/engine/op.h"

static void node_free_subgraphs(struct node *n)
{
	for (int i = 0; i < n->n_subgraphs; i++) {
		struct graph *sub = (struct graph *)n->subgraph[i];
		graph_free(&sub);
	}
}

void graph_free(struct graph **gp)
{
	struct graph *g = *gp;
	*gp = NULL;
	if (!g)
		return;
	for (int i = 0; i < g->n_values; i++)
		if (g->value[i].constant)
			tensor_drop((struct tensor *)g->value[i].constant);
	for (int i = 0; i < g->n_nodes; i++)
		node_free_subgraphs(&g->node[i]);
	namemap_free(&g->node_by_name);
	namemap_free(&g->value_by_name);
	namemap_free(&g->origin_by_name);
	arena_free(&g->arena);
	free(g);
}

static size_t output_bytes(const struct graph *g, const struct node *n)
{
	size_t bytes = 0;
	for (int i = 0; i < n->n_out; i++) {
		const struct value *v = n->out[i] >= 0 ? &g->value[n->out[i]] : NULL;
		int64_t count = v && !v->constant ? shape_count(&v->shape) : 0;
		bytes += count > 0 ? (size_t)count * dtype_size(v->type) : 0;
	}
	return bytes;
}

enum status graph_fits(const struct graph *g, int times, struct error *err)
{
	enum { SMALL = 64 << 20 }; // not worth asking the system
	size_t largest = 0, left;
	const struct node *n = NULL;
	for (int i = 0; i < g->n_nodes; i++) {
		size_t bytes = output_bytes(g, &g->node[i]);
		if (bytes > largest) {
			largest = bytes;
			n = &g->node[i];
		}
	}
	left = largest < SMALL ? SIZE_MAX : mem_available();
	if (largest < left / (size_t)times)
		return STATUS_OK;
	error_set(err, STATUS_NOMEM, "node %s (%s): its output takes %zu MiB%s, and %zu MiB of memory are free: take smaller inputs", n->name,
	    n->op->name, largest >> 20, times > 1 ? ", in floats and quantized" : "", left >> 20);
	return graph_error(g, -1, err);
}

bool graph_is_quantized(const struct graph *g)
{
	for (int i = 0; i < g->n_nodes; i++)
		if (g->node[i].op->id == OP_QuantizeLinear || g->node[i].op->id == OP_DynamicQuantizeLinear)
			return true;
	return false;
}

int graph_output(const struct graph *g, int node)
{
	const struct node *n = &g->node[node];
	for (int i = 0; i < n->n_out; i++)
		if (n->out[i] >= 0)
			return n->out[i];
	return -1;
}

bool graph_is_further(const struct graph *g, int value)
{
	return g->value[value].producer >= 0 && graph_output(g, g->value[value].producer) != value;
}

bool graph_goes_by_own_name(const struct graph *g, int value)
{
	return g->value[value].producer < 0 || graph_is_further(g, value);
}

int graph_node_of(const struct graph *g, int value)
{
	const struct value *v = &g->value[value];
	return v->producer >= 0 ? v->producer : v->n_consumers > 0 ? v->consumer[0] : -1;
}

const char *graph_output_name(const struct graph *g, int value)
{
	return graph_goes_by_own_name(g, value) ? g->value[value].name : g->node[g->value[value].producer].name;
}

int *graph_made(const struct graph *g, int *n)
{
	int *made = xcalloc((size_t)g->n_values + 1, sizeof *made);
	*n = 0;
	for (int i = 0; i < g->n_nodes; i++)
		for (int k = 0; k < g->node[i].n_out; k++)
			if (g->node[i].out[k] >= 0)
				made[(*n)++] = g->node[i].out[k];
	return made;
}

int *graph_scalable(const struct graph *g, int *n)
{
	int *value = graph_made(g, n);
	for (int i = 0; i < g->n_inputs; i++)
		if (g->value[g->input[i]].producer < 0 && !g->value[g->input[i]].constant)
			value[(*n)++] = g->input[i];
	return value;
}

int graph_find_node(const struct graph *g, const char *name)
{
	int id = namemap_get(g->node_by_name, name);
	int origin = id >= 0 ? -1 : namemap_get(g->origin_by_name, name);
	return origin >= 0 ? g->origin[origin].node : id;
}

int graph_find_value(const struct graph *g, const char *name)
{
	return namemap_get(g->value_by_name, name);
}

// The name nearest to `name` that graph_find_node finds, for "did you mean"; NULL when none is near.
static const char *nearest_node(const struct graph *g, const char *name)
{
	const size_t longest = 256;
	const char *best = NULL;
	int best_distance = (int)(strlen(name) / 3) + 2;
	if (strlen(name) > longest)
		return NULL;
	for (int i = 0; i < g->n_origins; i++) {
		const char *candidate = g->origin[i].name;
		bool use = g->origin[i].node >= 0 && strlen(candidate) <= longest;
		int distance = use ? str_distance(name, candidate) : best_distance;
		if (distance < best_distance) {
			best = candidate;
			best_distance = distance;
		}
	}
	return best;
}

// The first name of a node that `part` is a part of; NULL: there is none.
static const char *node_with(const struct graph *g, const char *part)
{
	for (int i = 0; part[0] && i < g->n_origins; i++)
		if (g->origin[i].node >= 0 && strstr(g->origin[i].name, part))
			return g->origin[i].name;
	return NULL;
}

const char *graph_why_no_node(const struct graph *g, const char *name)
{
	int origin = namemap_get(g->origin_by_name, name);
	if (origin < 0)
		return NULL;
	return g->origin[origin].fate == FATE_FOLDED ? "computed when the model is loaded: there is nothing to quantize"
	                                             : "left out when the model is loaded: it passes its input on, or no output needs it";
}

const char *graph_near_node(const struct graph *g, const char *name, bool *part)
{
	const char *near = nearest_node(g, name);
	*part = !near;
	return near ? near : node_with(g, name);
}

enum status graph_no_node(const struct graph *g, const char *name, struct error *err)
{
	bool part;
	const char *why = graph_why_no_node(g, name), *near = why ? NULL : graph_near_node(g, name, &part);
	if (why)
		return error_set(err, STATUS_NOTFOUND, "node %.200s is %s", name, why);
	if (near && part)
		return error_set(err, STATUS_NOTFOUND, "the model has no node %.200s; *%.200s* matches %.200s", name, name, near);
	return error_set(err, STATUS_NOTFOUND, "the model has no node %.200s%s%.200s", name, near ? "; the nearest is " : "", near ? near : "");
}

enum status graph_error(const struct graph *g, int value, struct error *err)
{
	if (value >= 0)
		error_prefix(err, "tensor %s", g->value[value].name);
	return g->path && *g->path ? error_prefix(err, "%s", g->path) : err->status;
}

const char *graph_metadata(const struct graph *g, const char *key)
{
	for (int i = 0; i < g->n_metadata; i++)
		if (!strcmp(g->metadata[i].key, key))
			return g->metadata[i].text;
	return NULL;
}
