// Which nodes AMD Quark's cross-layer equalization (`cle`) takes together:
// one convolution or Gemm and the one behind it, and a depthwise convolution with the two around it.
// The order of the tool is kept, in which the first pair comes once more at the end.
#include <stdlib.h>
#include <string.h>
#include "../ops/reduction/reduce.h"
#include "equalize_impl.h"

// The tool passes any mean and any Pad. A factor does not pass a mean over channels (dimension 1),
// nor a constant that is padded with.
static bool keeps_channels(const struct graph *g, const struct node *n)
{
	const struct tensor *in[2] = {&(struct tensor){.shape = g->value[n->in[0]].shape}};
	bool gone[SHAPE_MAX_RANK] = {false};
	struct error err;
	if (n->n_in > 1 && n->in[1] >= 0 && !(in[1] = g->value[n->in[1]].constant))
		return false;
	if (in[0]->shape.rank < 2 || reduce_axes(gone, n, in, &err) != STATUS_OK)
		return false;
	return !gone[1] && (!gone[0] || ((const struct reduce_attrs *)n->attrs)->keepdims);
}

static const struct tensor *constant_at(const struct graph *g, const struct node *n, int input)
{
	return n->n_in > input && n->in[input] >= 0 ? g->value[n->in[input]].constant : NULL;
}

static bool pads_zeros(const struct graph *g, const struct node *n)
{
	const struct pad_attrs *a = n->attrs;
	const struct tensor *value = constant_at(g, n, 2);
	if (strcmp(a->mode, "constant") != 0)
		return true;
	if (n->n_in > 2 && n->in[2] >= 0)
		return value && value->type == DT_F32 && tensor_count(value) == 1 && *(const float *)value->data == 0;
	return a->value == 0;
}

// Nothing in front of the first channel, hence, since behind it there are as many, nor behind the last one.
static bool pads_places(const struct graph *g, const struct node *n)
{
	const struct pad_attrs *a = n->attrs;
	const struct tensor *list = constant_at(g, n, 1);
	const int64_t *pads = list && list->type == DT_I64 ? list->data : n->n_in < 2 && a->pads.n > 0 ? a->pads.at : NULL;
	int64_t n_pads = list ? tensor_count(list) : a->pads.n;
	int rank = g->value[n->in[0]].shape.rank;
	return pads && n->n_in < 4 && rank > 1 && n_pads == 2 * rank && pads[1] == 0;
}

static bool passes_pair(const struct graph *g, const struct node *n)
{
	switch (n->op->id) {
	case OP_Relu:
	case OP_LeakyRelu:
		return true;
	case OP_ReduceMean:
		return keeps_channels(g, n);
	case OP_Pad:
		return pads_zeros(g, n) && pads_places(g, n);
	default:
		return false;
	}
}

static bool passes_chain(const struct graph *g, const struct node *n)
{
	(void)g;
	return n->op->id == OP_Relu;
}

static bool is_dense(const struct layer *l)
{
	return l->groups == 1;
}

static bool is_depthwise(const struct layer *l)
{
	return l->groups > 1 && l->second == 1 && l->first == l->groups;
}

static bool find_layer(struct layer *l, const struct graph *g, int node)
{
	enum op_id op = node >= 0 ? g->node[node].op->id : OP_COUNT;
	return (op == OP_Conv || op == OP_Gemm) && layer_find(l, g, node, false) && (is_dense(l) || is_depthwise(l));
}

// The node with weights that alone reads `node`, through operators that pass; -1: there is none.
static int weights_behind(const struct graph *g, int node, bool (*passes)(const struct graph *, const struct node *))
{
	for (;;) {
		int v = g->node[node].out[0];
		bool alone = v >= 0 && g->value[v].n_consumers == 1 && !g->value[v].is_output;
		int reader = alone ? g->value[v].consumer[0] : -1;
		struct layer l;
		if (reader < 0 || g->node[reader].n_in == 0 || g->node[reader].in[0] != v)
			return -1;
		if (find_layer(&l, g, reader))
			return reader;
		if (!passes(g, &g->node[reader]))
			return -1;
		node = reader;
	}
}

static void add_group(struct equalize_group *to, const int *node, int n, const struct layer *first)
{
	*to = (struct equalize_group){.front = xcalloc((size_t)n, sizeof(int)), .n_front = n - 1,
	    .behind = xcalloc(1, sizeof(int)), .n_behind = 1, .channels = first->rows, .chained = n == 3};
	for (int i = 0; i + 1 < n; i++)
		to->front[i] = node[i];
	to->behind[0] = node[n - 1];
}

static bool find_pair(struct equalize_group *out, const struct graph *g, int node)
{
	struct layer a, b;
	if (!find_layer(&a, g, node))
		return false;
	int next = weights_behind(g, node, passes_pair);
	if (!find_layer(&b, g, next) || b.columns != a.rows)
		return false;
	add_group(out, (int[]){node, next}, 2, &a);
	return true;
}

static bool find_chain(struct equalize_group *out, const struct graph *g, int node)
{
	struct layer l[3];
	int at[3] = {node, -1, -1};
	for (int i = 0; i < 3; i++) {
		if (!find_layer(&l[i], g, at[i]) || g->node[at[i]].op->id != OP_Conv)
			return false;
		if (i < 2)
			at[i + 1] = weights_behind(g, at[i], passes_chain);
	}
	if (!is_dense(&l[0]) || !is_depthwise(&l[1]) || !is_dense(&l[2]))
		return false;
	add_group(out, at, 3, &l[0]);
	return true;
}

int quark_groups(struct equalize_group **out, const struct graph *g)
{
	struct equalize_group *group = xcalloc(2 * (size_t)g->n_nodes + 1, sizeof *group);
	int n = 0;
	for (int i = 0; i < g->n_nodes; i++) {
		n += find_pair(&group[n], g, i);
		n += find_chain(&group[n], g, i);
	}
	*out = group;
	return n;
}

// Every group is put in front of the last one that is there, unless that is a chain and it is none;
// the first one is put in twice.
int *quark_order(int *n_order, const struct equalize_group *group, int n)
{
	int *order = xcalloc((size_t)n + 1, sizeof *order), at = 0;
	for (int i = 0; i < n; i++) {
		if (at == 0)
			order[at++] = i;
		bool behind = group[order[at - 1]].chained && !group[i].chained;
		order[at] = behind ? i : order[at - 1];
		if (!behind)
			order[at - 1] = i;
		at++;
	}
	*n_order = at;
	return order;
}
