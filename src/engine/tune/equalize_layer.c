// Which nodes have weights that a factor a channel can move to or from, and how these lie: one row a kind.
#include "equalize_impl.h"
#include "qtui/engine/op.h"

struct kind {
	enum op_id op;
	bool (*fill)(struct layer *l, const struct graph *g, const struct node *n);
	bool wide;
};

static const struct tensor *constant_of(const struct graph *g, const struct node *n, int input)
{
	const struct tensor *t = input < n->n_in && n->in[input] >= 0 ? g->value[n->in[input]].constant : NULL;
	return t && t->type == DT_F32 && tensor_count(t) > 0 ? t : NULL;
}

static const struct shape *shape_at(const struct graph *g, int value)
{
	return &g->value[value].shape;
}

static int64_t channels(const struct graph *g, int value, int axis)
{
	const struct shape *s = shape_at(g, value);
	return s->rank + axis >= 0 ? s->dim[s->rank + axis] : -1;
}

static bool take_bias(struct layer *l, const struct graph *g, const struct node *n)
{
	if (n->n_in < 3 || n->in[2] < 0)
		return true;
	l->bias = constant_of(g, n, 2);
	const struct shape *s = l->bias ? &l->bias->shape : NULL;
	return s && tensor_count(l->bias) == l->rows && s->rank > 0 && s->dim[s->rank - 1] == l->rows;
}

// From the weights' own dimensions and what is known: slot, groups, rows_first.
static bool take_weights(struct layer *l, const struct graph *g, const struct node *n)
{
	l->weight = constant_of(g, n, l->slot);
	if (!l->weight || l->weight->shape.rank < 2 || l->groups <= 0)
		return false;
	l->first = l->weight->shape.dim[0];
	l->second = l->weight->shape.dim[1];
	l->inner = tensor_count(l->weight) / (l->first * l->second);
	l->rows = l->rows_first ? l->first : l->second * l->groups;
	l->columns = l->rows_first ? l->second * l->groups : l->first;
	l->in = n->in[0];
	return l->in >= 0 && l->first % l->groups == 0 && take_bias(l, g, n) && channels(g, l->in, l->axis) == l->columns &&
	    channels(g, n->out[0], l->axis) == l->rows;
}

static bool fill_conv(struct layer *l, const struct graph *g, const struct node *n)
{
	l->slot = 1;
	l->groups = ((const struct conv_attrs *)n->attrs)->group;
	l->rows_first = n->op->id == OP_Conv;
	l->axis = 1 - shape_at(g, n->out[0])->rank;
	return take_weights(l, g, n);
}

static bool fill_gemm(struct layer *l, const struct graph *g, const struct node *n)
{
	const struct gemm_attrs *a = n->attrs;
	l->slot = 1;
	l->groups = 1;
	l->rows_first = a->trans_b;
	l->axis = -1;
	return !a->trans_a && n->in[0] >= 0 && shape_at(g, n->in[0])->rank == 2 && take_weights(l, g, n);
}

static bool fill_matmul(struct layer *l, const struct graph *g, const struct node *n)
{
	const struct tensor *w = constant_of(g, n, 1);
	l->slot = 1;
	l->groups = 1;
	l->axis = -1;
	return w && w->shape.rank == 2 && n->in[0] >= 0 && shape_at(g, n->in[0])->rank >= 2 && take_weights(l, g, n);
}

// One row a channel, and nothing but the channel's own column, if any.
static void take_diagonal(struct layer *l, int64_t n)
{
	l->rows_first = true;
	l->first = l->groups = l->rows = n;
	l->second = l->inner = 1;
}

static bool fill_norm(struct layer *l, const struct graph *g, const struct node *n)
{
	const struct norm_attrs *a = n->attrs;
	const struct shape *y = shape_at(g, n->out[0]);
	l->slot = 1;
	l->in = -1;
	l->axis = -1;
	l->weight = constant_of(g, n, 1);
	if (!l->weight || y->rank < 1 || (a->axis != -1 && a->axis != y->rank - 1) || tensor_count(l->weight) != y->dim[y->rank - 1])
		return false;
	const struct shape *w = &l->weight->shape;
	if (w->rank < 1 || w->dim[w->rank - 1] != y->dim[y->rank - 1]) // one for all, or one for each row, not for each channel
		return false;
	take_diagonal(l, y->dim[y->rank - 1]);
	return take_bias(l, g, n);
}

// The dimension from the end along which a constant has a value a channel; 0: it has not.
static int axis_of_constant(const struct tensor *t)
{
	int axis = 0;
	for (int d = 0; d < t->shape.rank; d++)
		if (t->shape.dim[d] != 1 && axis != 0)
			return 0;
		else if (t->shape.dim[d] != 1)
			axis = d - t->shape.rank;
	return axis;
}

// x and a constant, either first.
static bool fill_diagonal(struct layer *l, const struct graph *g, const struct node *n)
{
	l->slot = constant_of(g, n, 1) ? 1 : 0;
	l->in = n->in[1 - l->slot];
	l->weight = constant_of(g, n, l->slot);
	l->axis = l->weight ? axis_of_constant(l->weight) : 0;
	if (l->axis == 0 || l->in < 0 || g->value[l->in].constant || !shape_equal(shape_at(g, l->in), shape_at(g, n->out[0])))
		return false;
	take_diagonal(l, tensor_count(l->weight));
	l->columns = l->rows;
	return channels(g, l->in, l->axis) == l->rows;
}

static bool fill_addend(struct layer *l, const struct graph *g, const struct node *n)
{
	bool found = fill_diagonal(l, g, n);
	l->addend = true;
	l->columns = 0;
	return found;
}

static const struct kind kinds[] = {
	{OP_Conv, fill_conv, false},
	{OP_ConvTranspose, fill_conv, false},
	{OP_Gemm, fill_gemm, false},
	{OP_MatMul, fill_matmul, true},
	{OP_LayerNormalization, fill_norm, true},
	{OP_Mul, fill_diagonal, true},
	{OP_Add, fill_addend, true},
};

bool layer_find(struct layer *l, const struct graph *g, int node, bool wide)
{
	const struct node *n = &g->node[node];
	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
		if (kinds[i].op == n->op->id && kinds[i].wide <= wide && n->out[0] >= 0) {
			*l = (struct layer){.node = node};
			return kinds[i].fill(l, g, n);
		}
	return false;
}
