#include <stdlib.h>
#include "divisors.h"
#include "qtui/base/mem.h"
#include "qtui/engine/op.h"

// The constant that all elements are raised to; 0: there is none.
static float exponent_of(const struct graph *g, const struct node *n)
{
	const struct tensor *t = n->op->id == OP_Pow && n->n_in == 2 && n->in[1] >= 0 ? g->value[n->in[1]].constant : NULL;
	return t && t->type == DT_F32 && shape_count(&t->shape) == 1 ? *(const float *)t->data : 0;
}

static int divisor_input(const struct graph *g, const struct node *n)
{
	if (n->op->id == OP_Div)
		return 1;
	return n->op->id == OP_Log || n->op->id == OP_Reciprocal || exponent_of(g, n) < 0 ? 0 : -1;
}

int divisor_of(const struct graph *g, int node)
{
	const struct node *n = &g->node[node];
	int i = divisor_input(g, n);
	return i >= 0 && i < n->n_in ? n->in[i] : -1;
}

int zeros_behind(const struct graph *g, int value)
{
	if (g->value[value].producer < 0)
		return -1;
	const struct node *n = &g->node[g->value[value].producer];
	enum op_id id = n->op->id;
	bool moves = (n->op->flags & (OPF_MOVES | OPF_VIEW)) && id != OP_Concat && id != OP_MaxPool;
	return moves || id == OP_Sqrt || id == OP_Abs || id == OP_Relu || exponent_of(g, n) > 0 ? n->in[0] : -1;
}

// What moves the terms of a sum: where they round to 0, so does the sum.
static void mark_movers(bool *between, const struct graph *g, int value)
{
	for (int next; (next = zeros_behind(g, value)) >= 0; value = next)
		between[g->value[value].producer] = true;
}

void divisor_mark(bool *takes, const struct graph *g, int node, int lost)
{
	bool *needed = xcalloc((size_t)g->n_values + 1, sizeof *needed), *between = xcalloc((size_t)g->n_nodes + 1, sizeof *between);
	for (int v = divisor_of(g, node); v != lost; v = zeros_behind(g, v))
		between[g->value[v].producer] = true;
	for (int m = node; m >= 0; m--) {
		const struct node *n = &g->node[m];
		unsigned flags = n->op->flags;
		bool ends = (flags & OPF_WEIGHTED) || (!between[m] && (flags & (OPF_MOVES | OPF_VIEW)));
		if (m != node && (n->out[0] < 0 || !needed[n->out[0]] || ends))
			continue;
		takes[m] = true;
		bool sums = n->op->id == OP_ReduceSum;
		if (sums)
			mark_movers(between, g, n->in[0]);
		bool pointwise = between[m] || sums || (flags & (OPF_UNARY | OPF_BINARY));
		for (int i = 0; pointwise && n->op->id != OP_Sigmoid && i < n->n_in; i++)
			if (n->in[i] >= 0 && !g->value[n->in[i]].constant)
				needed[n->in[i]] |= m != node || n->in[i] == divisor_of(g, node);
	}
	free(needed);
	free(between);
}
