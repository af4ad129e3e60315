// Where the network's result is read. Behind a selection by value (TopK, NonMaxSuppression)
// tensors of two networks do not hold the same things in the same places, so that their difference says nothing:
// there the tensors that the selection reads stand for it. Likewise where no output has a shape before the network
// runs (behind a Loop that makes a tensor grow): what the Loop reads stands for it.
#include <stdlib.h>
#include "qtui/engine/op.h"
#include "repair_impl.h"

enum { CHANNEL_MIN = 16, CHANNELS_MAX = 4096 }; // elements for a channel's variance; channels worth telling apart

static bool selects_by_value(const struct graph *g, const struct node *n)
{
	(void)g;
	static const enum op_id op[] = {OP_TopK, OP_NonMaxSuppression, OP_ArgMax, OP_ArgMin, OP_NonZero, OP_Unique};
	for (size_t i = 0; i < sizeof op / sizeof *op; i++)
		if (n->op->id == op[i])
			return true;
	return false;
}

static bool makes_unknown_shape(const struct graph *g, const struct node *n)
{
	for (int i = 0; i < n->n_out; i++)
		if (n->out[i] >= 0 && g->value[n->out[i]].shape.rank < 0)
			return true;
	return false;
}

// Those that begin it, and all that reads of them.
static bool *behind_nodes(const struct graph *g, bool (*begins)(const struct graph *g, const struct node *n))
{
	bool *behind = xcalloc((size_t)g->n_values + 1, 1);
	for (int n = 0; n < g->n_nodes; n++) {
		const struct node *node = &g->node[n];
		bool is = begins(g, node);
		for (int i = 0; i < node->n_in && !is; i++)
			is = node->in[i] >= 0 && behind[node->in[i]];
		for (int i = 0; i < node->n_out && is; i++)
			if (node->out[i] >= 0)
				behind[node->out[i]] = true;
	}
	return behind;
}

bool *points_behind(const struct graph *g)
{
	return behind_nodes(g, selects_by_value);
}

static bool is_result(const struct value *v)
{
	return v->type == DT_F32 && !v->constant && !v->is_input && v->producer >= 0 && v->shape.rank >= 0;
}

static bool is_read_behind(const struct graph *g, const bool *behind, const struct value *v)
{
	for (int i = 0; i < v->n_consumers; i++) {
		const struct node *n = &g->node[v->consumer[i]];
		for (int k = 0; k < n->n_out; k++)
			if (n->out[k] >= 0 && behind[n->out[k]])
				return true;
	}
	return false;
}

// Channels of a map are its dimension 1; of a table of rows, the shorter of the last two.
// Tensors without enough elements a channel are taken as a whole.
static struct point point_of(const struct graph *g, int value)
{
	const struct shape *s = &g->value[value].shape;
	int rank = s->rank, axis = rank >= 4 ? 1 : rank - 1;
	int64_t count = 1, inner = 1;
	if (rank == 3 && s->dim[1] < s->dim[2])
		axis = 1;
	for (int i = 0; i < rank; i++)
		count *= s->dim[i];
	for (int i = axis + 1; i < rank; i++)
		inner *= s->dim[i];
	int64_t channels = axis >= 0 ? s->dim[axis] : 1;
	if (channels < 2 || channels > CHANNELS_MAX || count / channels < CHANNEL_MIN)
		return (struct point){.value = value, .axis = -1, .channels = 1, .inner = count};
	return (struct point){.value = value, .axis = axis, .channels = channels, .inner = inner};
}

// Outputs, and what is read by the nodes that begin what lies behind.
static int find_in_front(struct point *p, const struct graph *g, bool (*begins)(const struct graph *g, const struct node *n))
{
	bool *behind = behind_nodes(g, begins);
	int n = 0;
	for (int v = 0; v < g->n_values; v++)
		if (is_result(&g->value[v]) && !behind[v] && (g->value[v].is_output || is_read_behind(g, behind, &g->value[v])))
			p[n++] = point_of(g, v);
	free(behind);
	return n;
}

struct point *points_find(const struct graph *g, int *n)
{
	struct point *p = xcalloc((size_t)g->n_values + 1, sizeof *p);
	*n = find_in_front(p, g, selects_by_value);
	for (int i = 0; i < g->n_outputs && *n == 0; i++)
		if (is_result(&g->value[g->output[i]]))
			p[(*n)++] = point_of(g, g->output[i]);
	if (*n == 0)
		*n = find_in_front(p, g, makes_unknown_shape);
	return p;
}

enum status points_missing(const struct graph *g, struct error *err)
{
	return error_set(err, STATUS_UNSUPPORTED,
	    "%s: nothing to compare: neither %s nor what it is made from is a float tensor whose shape is known", g->path,
	    g->n_outputs ? g->value[g->output[0]].name : "an output");
}

const struct figures *point_figures(const struct snapshot *s, const struct point *p)
{
	for (int i = 0; i < s->n_outputs; i++)
		if (s->g->output[i] == p->value)
			return s->output[i].known ? &s->output[i] : NULL;
	for (int i = 0; i < s->n_sites; i++)
		if (s->site[i].kind == SITE_OUTPUT && s->site[i].value == p->value)
			return s->site[i].graphwise.known ? &s->site[i].graphwise : NULL;
	return NULL;
}
