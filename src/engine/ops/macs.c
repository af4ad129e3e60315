// Multiply-accumulates of a node, for the shapes of the graph: what costs, budgets and the worth of kept tensors count in.
#include <stdlib.h>
#include "control/loop.h"
#include "qtui/engine/graph.h"
#include "qtui/engine/op.h"

enum product { NONE, CONV, CONV_TRANSPOSE, GEMM, MATMUL, FUSED_MATMUL, EINSUM, RECURRENT, ATTENTION };
static const struct product_row {
	enum product kind;
	int weight; // index of that input
} products[OP_COUNT] = {
    [OP_Conv] = {CONV, 1},
    [OP_ConvInteger] = {CONV, 1},
    [OP_DeformConv] = {CONV, 1},
    [OP_FusedConv] = {CONV, 1},
    [OP_QLinearConv] = {CONV, 3},
    [OP_ConvTranspose] = {CONV_TRANSPOSE, 1},
    [OP_Gemm] = {GEMM, 1},
    [OP_FusedGemm] = {GEMM, 1}, // its attributes begin with those of a Gemm
    [OP_QGemm] = {GEMM, 3},
    [OP_CDist] = {MATMUL, 1}, // of squared differences
    [OP_MatMul] = {MATMUL, 1},
    [OP_MatMulBnb4] = {MATMUL, 1},
    [OP_MatMulNBits] = {MATMUL, 1},
    [OP_MatMulInteger] = {MATMUL, 1},
    [OP_MatMulIntegerToFloat] = {MATMUL, 1},
    [OP_DynamicQuantizeMatMul] = {MATMUL, 1},
    [OP_QLinearMatMul] = {MATMUL, 3},
    [OP_FusedMatMul] = {FUSED_MATMUL, 1},
    [OP_TransposeMatMul] = {FUSED_MATMUL, 1},
    [OP_Einsum] = {EINSUM, 1},
    [OP_RNN] = {RECURRENT, 1},
    [OP_GRU] = {RECURRENT, 1},
    [OP_LSTM] = {RECURRENT, 1},
    [OP_DynamicQuantizeLSTM] = {RECURRENT, 1},
    [OP_Attention] = {ATTENTION, 1},
    [OP_QAttention] = {ATTENTION, 1},
    [OP_MultiHeadAttention] = {ATTENTION, 1},
    [OP_GroupQueryAttention] = {ATTENTION, 1},
};

// NULL: the tensor is left out, is a scalar, or has no elements.
static const struct shape *operand(const struct graph *g, const int *ids, int n, int i)
{
	const struct shape *s = i < n && ids[i] >= 0 ? &g->value[ids[i]].shape : NULL;
	return s && s->rank > 0 && shape_count(s) > 0 ? s : NULL;
}

// 0 where there are more than anybody counts.
static int64_t times(int64_t a, int64_t b)
{
	return a > 0 && b > 0 && a < ((int64_t)1 << 61) / b ? a * b : 0;
}

// Each step of each sequence takes part with all weights: those of the input and, behind them, those of the state.
static int64_t recurrent_macs(const struct graph *g, const struct node *n)
{
	const struct shape *x = operand(g, n->in, n->n_in, 0), *w = operand(g, n->in, n->n_in, 1), *r = operand(g, n->in, n->n_in, 2);
	int64_t weights = w && r ? shape_count(w) + shape_count(r) : 0;
	return x && x->rank == 3 ? times(x->dim[0] * x->dim[1], weights) : 0;
}

// How many keys each query meets: those of the past among them, where the node tells by what it gives (output 1, "present").
static int64_t key_count(const struct graph *g, const struct node *n, const struct shape *query, const struct shape *key)
{
	const struct shape *present = operand(g, n->out, n->n_out, 1);
	if (present && present->rank >= 4)
		return present->dim[present->rank - 2];
	if (key && key->rank >= 3)
		return key->dim[key->rank == 4 ? 2 : 1];
	return query->dim[1];
}

// Queries with keys, the weights of that with values; in front of it the projection, where the node has its matrix
// (of rank 2, where others have keys). What is packed in one input has queries as wide as the result.
static int64_t attention_macs(const struct graph *g, const struct node *n, int64_t result)
{
	const struct shape *query = operand(g, n->in, n->n_in, 0), *second = operand(g, n->in, n->n_in, 1);
	bool projected = second && second->rank == 2;
	const struct shape *key = projected ? NULL : second;
	if (!query || query->rank < 3)
		return 0;
	int64_t rows = query->dim[0] * query->dim[1];
	int64_t queries = key ? shape_count(query) : result;
	return times(queries + result, key_count(g, n, query, key)) + (projected ? times(rows, shape_count(second)) : 0);
}

// What is known of the inputs of a node before anything runs, to be freed by the caller; NULL: one is left out.
struct inputs {
	struct tensor *t;
	const struct tensor **in;
};

static struct inputs inputs_of(const struct graph *g, const struct node *n)
{
	struct inputs all = {xcalloc((size_t)n->n_in + 1, sizeof *all.t), xcalloc((size_t)n->n_in + 1, sizeof *all.in)};
	for (int i = 0; i < n->n_in; i++) {
		if (n->in[i] < 0)
			continue;
		const struct value *v = &g->value[n->in[i]];
		all.t[i] = (struct tensor){.type = v->type, .shape = v->shape};
		all.in[i] = v->constant ? v->constant : &all.t[i];
	}
	return all;
}

static void inputs_done(struct inputs *all)
{
	free(all->t);
	free(all->in);
}

static int64_t equation_macs(const struct graph *g, const struct node *n)
{
	struct inputs all = inputs_of(g, n);
	bool known = true;
	for (int i = 0; i < n->n_in && known; i++)
		known = all.in[i] && shape_count(&all.in[i]->shape) >= 0;
	int64_t macs = known ? einsum_macs(n, all.in) : 0;
	inputs_done(&all);
	return macs;
}

// The length of the sum that is an output element (ConvTranspose: that an input element takes part in).
static int64_t sum_length(const struct graph *g, const struct node *n)
{
	const struct product_row *row = &products[n->op->id];
	const struct shape *a = operand(g, n->in, n->n_in, 0), *w = operand(g, n->in, n->n_in, row->weight);
	if (!a || !w)
		return 0;
	switch (row->kind) {
	case GEMM:
		return a->dim[((const struct gemm_attrs *)n->attrs)->trans_a ? 0 : a->rank - 1];
	case FUSED_MATMUL:
		return a->dim[((const struct fusedmatmul_attrs *)n->attrs)->trans_a && a->rank > 1 ? a->rank - 2 : a->rank - 1];
	case MATMUL:
		return a->dim[a->rank - 1];
	default:
		return shape_count(w) / w->dim[0];
	}
}

// 0 where the first of the tensors is left out, or its shape is not known.
static int64_t elements(const struct graph *g, const int *ids, int n)
{
	int64_t count = n > 0 && ids[0] >= 0 ? shape_count(&g->value[ids[0]].shape) : 0;
	return count > 0 ? count : 0;
}

int64_t graph_macs(const struct graph *g, int node)
{
	const struct node *n = &g->node[node];
	enum product kind = products[n->op->id].kind;
	if (kind == NONE)
		return 0;
	if (kind == RECURRENT)
		return recurrent_macs(g, n);
	if (kind == EINSUM)
		return equation_macs(g, n);
	if (kind == ATTENTION)
		return attention_macs(g, n, elements(g, n->out, n->n_out));
	return times(
	    kind == CONV_TRANSPOSE ? elements(g, n->in, n->n_in) : elements(g, n->out, n->n_out), sum_length(g, n));
}

int64_t graph_macs_with_body(const struct graph *g, int node)
{
	const struct node *n = &g->node[node];
	const struct graph *body = n->n_subgraphs == 1 ? n->subgraph[0] : NULL;
	int64_t once = 0;
	for (int i = 0; body && i < body->n_nodes; i++)
		once += graph_macs_with_body(body, i);
	if (!body)
		return graph_macs(g, node);
	struct inputs all = inputs_of(g, n);
	int64_t trips = loop_trips(n, all.in);
	inputs_done(&all);
	return times(once, trips);
}
