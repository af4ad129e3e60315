// Along which dimension of a tensor its channels lie: forward from the operators that make them,
// then, where that says nothing, backward from those that read them.
#include "attrs.h"
#include "qtui/engine/channels.h"

enum { NONE = CHANNELS_UNKNOWN };
enum rule {
	RULE_NONE,      // nothing is known of the result
	RULE_SECOND,    // made along dimension 1, and read there
	RULE_LAST,      // the same along the last
	RULE_PRODUCT,   // MatMul: along the dimension that the weights make
	RULE_SAME,      // where they are in input 0
	RULE_BROADCAST, // where they are in the inputs, dimensions aligned at the right
	RULE_VIEW,      // the same bytes in other dimensions
	RULE_TRANSPOSE,
	RULE_CONCAT,
	RULE_REDUCE,
	RULE_GATHER,
};

// What the flags of the op table do not say.
static const unsigned char rules[OP_COUNT] = {
	[OP_Conv] = RULE_SECOND, [OP_FusedConv] = RULE_SECOND, [OP_ConvTranspose] = RULE_SECOND, [OP_DeformConv] = RULE_SECOND,
	[OP_ConvInteger] = RULE_SECOND, [OP_QLinearConv] = RULE_SECOND, [OP_Gemm] = RULE_SECOND, [OP_FusedGemm] = RULE_SECOND,
	[OP_QGemm] = RULE_SECOND, [OP_BatchNormalization] = RULE_SECOND, [OP_InstanceNormalization] = RULE_SECOND,
	[OP_GroupNormalization] = RULE_SECOND, [OP_LRN] = RULE_SECOND, [OP_AveragePool] = RULE_SECOND, [OP_LpPool] = RULE_SECOND,
	[OP_MaxPool] = RULE_SECOND, [OP_MaxUnpool] = RULE_SECOND, [OP_GlobalAveragePool] = RULE_SECOND, [OP_GlobalLpPool] = RULE_SECOND,
	[OP_GlobalMaxPool] = RULE_SECOND, [OP_RoiAlign] = RULE_SECOND, [OP_GridSample] = RULE_SECOND, [OP_Col2Im] = RULE_SECOND,
	[OP_DepthToSpace] = RULE_SECOND, [OP_SpaceToDepth] = RULE_SECOND,
	[OP_MatMulNBits] = RULE_LAST, [OP_MatMulBnb4] = RULE_LAST, [OP_DynamicQuantizeMatMul] = RULE_LAST, [OP_MatMulIntegerToFloat] = RULE_LAST,
	[OP_LayerNormalization] = RULE_LAST, [OP_RMSNormalization] = RULE_LAST, [OP_SimplifiedLayerNormalization] = RULE_LAST,
	[OP_SkipLayerNormalization] = RULE_LAST, [OP_SkipSimplifiedLayerNormalization] = RULE_LAST, [OP_EmbedLayerNormalization] = RULE_LAST,
	[OP_QEmbedLayerNormalization] = RULE_LAST, [OP_GatherBlockQuantized] = RULE_LAST,
	[OP_BiasGelu] = RULE_LAST, [OP_FastGelu] = RULE_LAST, [OP_QAttention] = RULE_LAST, [OP_MultiHeadAttention] = RULE_LAST,
	[OP_LSTM] = RULE_LAST, [OP_GRU] = RULE_LAST, [OP_RNN] = RULE_LAST,
	[OP_MatMul] = RULE_PRODUCT, [OP_FusedMatMul] = RULE_PRODUCT, [OP_MatMulInteger] = RULE_PRODUCT,
	[OP_Identity] = RULE_SAME, [OP_Dropout] = RULE_SAME, [OP_Cast] = RULE_SAME, [OP_QuantizeLinear] = RULE_SAME,
	[OP_DequantizeLinear] = RULE_SAME, [OP_DynamicQuantizeLinear] = RULE_SAME, [OP_Softmax] = RULE_SAME, [OP_LogSoftmax] = RULE_SAME,
	[OP_Hardmax] = RULE_SAME, [OP_LpNormalization] = RULE_SAME, [OP_MeanVarianceNormalization] = RULE_SAME, [OP_Pad] = RULE_SAME,
	[OP_Slice] = RULE_SAME, [OP_Split] = RULE_SAME, [OP_Tile] = RULE_SAME, [OP_Resize] = RULE_SAME, [OP_Upsample] = RULE_SAME,
	[OP_CumSum] = RULE_SAME, [OP_CumProd] = RULE_SAME, [OP_Trilu] = RULE_SAME, [OP_ReverseSequence] = RULE_SAME, [OP_TopK] = RULE_SAME,
	[OP_ScatterElements] = RULE_SAME, [OP_ScatterND] = RULE_SAME,
	[OP_Expand] = RULE_BROADCAST, [OP_Where] = RULE_BROADCAST, [OP_Sum] = RULE_BROADCAST, [OP_Mean] = RULE_BROADCAST,
	[OP_Max] = RULE_BROADCAST, [OP_Min] = RULE_BROADCAST,
	[OP_Transpose] = RULE_TRANSPOSE, [OP_Concat] = RULE_CONCAT, [OP_Gather] = RULE_GATHER,
	[OP_ReduceL1] = RULE_REDUCE, [OP_ReduceL2] = RULE_REDUCE, [OP_ReduceLogSum] = RULE_REDUCE, [OP_ReduceLogSumExp] = RULE_REDUCE,
	[OP_ReduceMax] = RULE_REDUCE, [OP_ReduceMean] = RULE_REDUCE, [OP_ReduceMin] = RULE_REDUCE, [OP_ReduceProd] = RULE_REDUCE,
	[OP_ReduceSum] = RULE_REDUCE, [OP_ReduceSumSquare] = RULE_REDUCE,
};

static enum rule rule_of(const struct node *n)
{
	unsigned flags = n->op->flags;
	if (rules[n->op->id])
		return (enum rule)rules[n->op->id];
	return flags & OPF_UNARY ? RULE_SAME : flags & OPF_BINARY ? RULE_BROADCAST : flags & OPF_VIEW ? RULE_VIEW : RULE_NONE;
}

struct axes {
	const struct graph *g;
	int *of; // [n_values]
};

static const struct shape *shape_at(const struct axes *a, int value)
{
	static const struct shape none = {.rank = -1};
	return value >= 0 ? &a->g->value[value].shape : &none;
}

static bool is_constant(const struct axes *a, const struct node *n, int input)
{
	return input < n->n_in && n->in[input] >= 0 && a->g->value[n->in[input]].constant;
}

static int axis_of(const struct axes *a, int value)
{
	return value >= 0 && !a->g->value[value].constant ? a->of[value] : NONE;
}

static int in_rank(int axis, int rank)
{
	return axis >= 0 && axis < rank ? axis : NONE;
}

static int from_end(int64_t axis, int rank)
{
	return in_rank((int)(axis < 0 ? axis + rank : axis), rank);
}

// The dimension of `to` that is dimension `axis` of `from`, both over the same elements in order:
// as many elements behind it, as many in it.
static int across_view(const struct shape *from, int axis, const struct shape *to)
{
	int64_t before = 1, reached = 1;
	if (in_rank(axis, from->rank) == NONE)
		return NONE;
	for (int d = 0; d < axis; d++)
		before *= from->dim[d];
	for (int d = 0; d < to->rank; reached *= to->dim[d++])
		if (reached == before && to->dim[d] == from->dim[axis])
			return d;
	return NONE;
}

// Dimension d of the result is dimension perm[d] of the input.
static int transposed(const struct node *n, int d, int rank)
{
	const struct ints *perm = &((const struct transpose_attrs *)n->attrs)->perm;
	return perm->n < 0 ? rank - 1 - d : d < perm->n ? from_end(perm->at[d], rank) : NONE;
}

static int transpose_forward(const struct node *n, int axis, int rank)
{
	for (int d = 0; axis >= 0 && d < rank; d++)
		if (transposed(n, d, rank) == axis)
			return d;
	return NONE;
}

static void mark_axes(bool *marked, const int64_t *axis, int64_t n, int rank)
{
	for (int64_t i = 0; i < n; i++)
		if (from_end(axis[i], rank) >= 0)
			marked[from_end(axis[i], rank)] = true;
}

// Which dimensions a reduction takes; false when that is known only when it runs.
static bool reduced(const struct axes *a, const struct node *n, int rank, bool *gone)
{
	const struct reduce_attrs *at = n->attrs;
	const struct tensor *list = is_constant(a, n, 1) ? a->g->value[n->in[1]].constant : NULL;
	int64_t given = list ? tensor_count(list) : at->axes.n > 0 ? at->axes.n : 0;
	if (n->n_in > 1 && n->in[1] >= 0 && (!list || list->type != DT_I64))
		return false;
	if (given > 0)
		mark_axes(gone, list ? list->data : at->axes.at, given, rank);
	for (int d = 0; given == 0 && !at->noop_with_empty_axes && d < rank; d++)
		gone[d] = true;
	return true;
}

static int across_reduction(const struct axes *a, const struct node *n, int axis, int rank)
{
	bool gone[SHAPE_MAX_RANK] = {0};
	int before = 0;
	if (in_rank(axis, rank) == NONE || !reduced(a, n, rank, gone) || gone[axis])
		return NONE;
	for (int d = 0; d < axis; d++)
		before += gone[d];
	return ((const struct reduce_attrs *)n->attrs)->keepdims ? axis : axis - before;
}

// Rows of a table have channels along their last dimension.
static int gathered(const struct axes *a, const struct node *n, int out_rank)
{
	int rank = shape_at(a, n->in[0])->rank, indices = shape_at(a, n->in[1])->rank;
	int along = from_end(((const struct axis_attrs *)n->attrs)->axis, rank);
	int axis = is_constant(a, n, 0) ? rank - 1 : axis_of(a, n->in[0]);
	if (axis < 0 || indices < 0 || (axis == along && indices != 1))
		return NONE;
	return in_rank(axis > along ? axis + indices - 1 : axis, out_rank);
}

// How many dimensions of the result stand before the first of input i. Before opset 7 an attribute could say so.
static int leading(const struct node *n, int i, int out_rank, int rank)
{
	const struct broadcast_attrs *a = n->op->attrs_size == sizeof *a && n->op->flags & OPF_BINARY ? n->attrs : NULL;
	if (i == 1 && a && a->broadcast && a->axis != NO_AXIS)
		return (int)(a->axis < 0 ? a->axis + out_rank : a->axis);
	return out_rank - rank;
}

// Those that know must agree.
static int together(const struct axes *a, const struct node *n, int out_rank)
{
	int all = NONE;
	for (int i = 0; i < n->n_in; i++) {
		int axis = axis_of(a, n->in[i]);
		if (axis < 0)
			continue;
		axis += leading(n, i, out_rank, shape_at(a, n->in[i])->rank);
		if (all >= 0 && all != axis)
			return NONE;
		all = axis;
	}
	return in_rank(all, out_rank);
}

static int product_axis(const struct axes *a, const struct node *n, int rank)
{
	return is_constant(a, n, 1) ? in_rank(rank - 1, rank) : is_constant(a, n, 0) ? in_rank(rank - 2, rank) : NONE;
}

static int forward(const struct axes *a, const struct node *n, int out)
{
	const struct shape *y = shape_at(a, out), *x = shape_at(a, n->n_in > 0 ? n->in[0] : -1);
	int axis = n->n_in > 0 ? axis_of(a, n->in[0]) : NONE;
	switch (rule_of(n)) {
	case RULE_NONE: return NONE;
	case RULE_SECOND: return in_rank(1, y->rank);
	case RULE_LAST: return in_rank(y->rank - 1, y->rank);
	case RULE_PRODUCT: return product_axis(a, n, y->rank);
	case RULE_SAME: return x->rank == y->rank ? axis : NONE;
	case RULE_BROADCAST:
	case RULE_CONCAT: return together(a, n, y->rank);
	case RULE_VIEW: return across_view(x, axis, y);
	case RULE_TRANSPOSE: return transpose_forward(n, axis, y->rank);
	case RULE_REDUCE: return across_reduction(a, n, axis, x->rank);
	case RULE_GATHER: return gathered(a, n, y->rank);
	}
	return NONE;
}

// FusedGemm's attributes begin with those of Gemm.
static bool is_gemm(const struct node *n)
{
	return n->op->id == OP_Gemm || n->op->id == OP_FusedGemm;
}

static int gemm_input(const struct node *n)
{
	return is_gemm(n) && ((const struct gemm_attrs *)n->attrs)->trans_a ? 0 : 1;
}

// Where the node, of whose first output `axis` is what its readers ask for, expects the channels of input i.
static int backward(const struct axes *a, const struct node *n, int i, int axis)
{
	const struct shape *x = shape_at(a, n->in[i]), *y = shape_at(a, n->n_out > 0 ? n->out[0] : -1);
	enum rule rule = rule_of(n);
	switch (rule) {
	case RULE_SECOND: return i == 0 ? in_rank(gemm_input(n), x->rank) : NONE;
	case RULE_LAST: return i == 0 ? in_rank(x->rank - 1, x->rank) : NONE;
	case RULE_PRODUCT: // the dimension that is summed over
		return i < 2 && is_constant(a, n, 1 - i) ? in_rank(x->rank - 1 - i, x->rank) : NONE;
	case RULE_SAME: return i == 0 && x->rank == y->rank ? axis : NONE;
	case RULE_BROADCAST:
	case RULE_CONCAT: return in_rank(axis - leading(n, i, y->rank, x->rank), x->rank);
	case RULE_VIEW: return i == 0 ? across_view(y, axis, x) : NONE;
	case RULE_TRANSPOSE: return axis >= 0 ? transposed(n, axis, x->rank) : NONE;
	default: return NONE;
	}
}

// What the readers of each value say, the last one first: an earlier one wins.
static void ask_readers(struct axes *a)
{
	for (int k = a->g->n_nodes - 1; k >= 0; k--) {
		const struct node *n = &a->g->node[k];
		int axis = n->n_out > 0 ? axis_of(a, n->out[0]) : NONE;
		for (int i = 0; i < n->n_in; i++) {
			int asked = n->in[i] >= 0 ? backward(a, n, i, axis) : NONE;
			if (asked >= 0)
				a->of[n->in[i]] = asked;
		}
	}
}

int *channel_axes(const struct graph *g)
{
	struct axes a = {g, xcalloc((size_t)g->n_values + 1, sizeof *a.of)};
	for (int v = 0; v < g->n_values; v++)
		a.of[v] = NONE;
	ask_readers(&a);
	for (int k = 0; k < g->n_nodes; k++)
		for (int i = 0; i < g->node[k].n_out; i++) {
			int out = g->node[k].out[i], axis = out >= 0 ? forward(&a, &g->node[k], out) : NONE;
			if (axis >= 0)
				a.of[out] = axis;
		}
	return a.of;
}

struct channel_split channel_split(const struct shape *s, int axis)
{
	if (shape_count(s) < 0)
		return (struct channel_split){CHANNELS_UNKNOWN, 1, 0};
	if (shape_count(s) == 1 || axis == CHANNELS_WHOLE)
		return (struct channel_split){CHANNELS_WHOLE, 1, 1};
	if (in_rank(axis, s->rank) == NONE)
		return (struct channel_split){CHANNELS_UNKNOWN, 1, 0};
	return (struct channel_split){axis, 1, s->dim[axis]};
}

// [C_in, C_out / groups, ...]: the rows of each group make channels of their own.
static struct channel_split split_transposed(const struct node *n, const struct shape *w)
{
	struct channel_split s = channel_split(w, 1);
	int64_t groups = ((const struct conv_attrs *)n->attrs)->group;
	if (s.axis == 1 && groups > 1 && groups <= w->dim[0] && w->dim[0] % groups == 0) {
		s.groups = groups;
		s.n *= groups;
	}
	return s;
}

// A constant that is combined with the result element by element.
static struct channel_split split_broadcast(const struct axes *a, const struct node *n, int input)
{
	const struct shape *c = &a->g->value[n->in[input]].constant->shape;
	int out = n->n_out > 0 ? n->out[0] : -1, axis = axis_of(a, out);
	if (axis < 0)
		return channel_split(c, CHANNELS_UNKNOWN);
	axis -= leading(n, input, shape_at(a, out)->rank, c->rank);
	return channel_split(c, axis < 0 || (axis < c->rank && c->dim[axis] == 1) ? CHANNELS_WHOLE : axis);
}

struct channel_split channel_split_constant(const struct graph *g, const int *axes, int node, int input)
{
	struct axes a = {g, (int *)axes}; // only read
	const struct node *n = &g->node[node];
	const struct shape *c = &g->value[n->in[input]].constant->shape;
	enum rule rule = rule_of(n);
	if (input == 1 && is_gemm(n))
		return channel_split(c, ((const struct gemm_attrs *)n->attrs)->trans_b ? 0 : 1);
	if (input == 1 && n->op->id == OP_ConvTranspose)
		return split_transposed(n, c);
	if (rule == RULE_PRODUCT)
		return channel_split(c, c->rank < 2 ? CHANNELS_WHOLE : c->rank - 1 - (input == 0));
	if (n->op->id == OP_LSTM || n->op->id == OP_GRU || n->op->id == OP_RNN)
		return channel_split(c, 1); // [directions, gates * hidden, ...]
	if (rule == RULE_GATHER)
		return channel_split(c, c->rank - 1);
	if (rule == RULE_BROADCAST || rule == RULE_CONCAT || (is_gemm(n) && c->rank == 2))
		return split_broadcast(&a, n, input);
	return channel_split(c, c->rank <= 1 || rule == RULE_SECOND ? 0 : CHANNELS_UNKNOWN);
}
