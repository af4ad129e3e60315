// Cross-layer equalization by AMD Quark's rules (`cle`): one convolution or Gemm behind one, biases count, factors have no limits, and a
// depthwise convolution between two others shares its range with both. The order of the tool is kept, in which the first pair comes once more at the end.
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "../ops/reduce.h"
#include "equalize_impl.h"

// ---- which nodes belong together

// The tool passes any mean and any Pad. A factor does not pass a mean over channels (dimension 1), nor a constant that is padded with.
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

// Every group is put in front of the last one that is there, unless that is a chain and it is none; the first one is put in twice.
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

// ---- factors

static const float NOTHING = 1e-7f; // a weight that is less counts as much

static int64_t row_length(const struct layer *l)
{
	return l->rows_first ? l->second * l->inner : l->first;
}

static float weight_at(const struct layer *l, int64_t row, int64_t i)
{
	const float *w = l->w.data;
	return fabsf(l->rows_first ? w[row * row_length(l) + i] : w[i * l->second + row]);
}

static float least_of_row(const struct layer *l, int64_t row)
{
	float least = INFINITY;
	for (int64_t i = 0; i < row_length(l); i++)
		least = weight_at(l, row, i) > 0 ? fminf(least, weight_at(l, row, i)) : least;
	return least;
}

// How large biases are beside weights: of every weight the bias of its row over it. Where a weight is 0 the least of its row stands for it.
struct quotients {
	float *at;
	int64_t n;
	float top_bias, top_weight;
};

// A bias counts, save that of a row of zeros.
static float bias_of(const struct layer *l, int64_t row)
{
	return isinf(least_of_row(l, row)) ? 0 : fabsf(((const float *)l->b.data)[row]);
}

static enum status take_quotients(struct quotients *q, const struct layer *l, struct error *err)
{
	*q = (struct quotients){.n = l->rows * row_length(l)};
	q->at = mem_try_array((size_t)q->n + 1, sizeof *q->at);
	if (!q->at)
		return error_set(err, STATUS_NOMEM, "no memory for %lld weights", (long long)q->n);
	int64_t k = 0;
	for (int64_t row = 0; row < l->rows; row++) {
		float least = least_of_row(l, row), bias = bias_of(l, row);
		q->top_bias = fmaxf(q->top_bias, fabsf(((const float *)l->b.data)[row]));
		for (int64_t i = 0; i < row_length(l); i++, k++) {
			float w = weight_at(l, row, i);
			w = fmaxf(w > 0 ? w : isinf(least) ? 0 : least, NOTHING);
			q->top_weight = fmaxf(q->top_weight, w);
			q->at[k] = bias / w;
		}
	}
	return STATUS_OK;
}

static bool median_exceeds(const struct quotients *q, float limit)
{
	float under = -INFINITY, over = INFINITY; // next to the limit
	int64_t above = 0;
	for (int64_t i = 0; i < q->n; i++) {
		above += q->at[i] > limit;
		under = q->at[i] > limit ? under : fmaxf(under, q->at[i]);
		over = q->at[i] > limit ? fminf(over, q->at[i]) : over;
	}
	return 2 * above == q->n ? (under + over) / 2 > limit : 2 * above > q->n;
}

static bool mean_exceeds(const struct quotients *q, double limit)
{
	double sum = 0;
	for (int64_t i = 0; i < q->n; i++)
		sum += (double)q->at[i];
	return sum / (double)q->n > limit;
}

static float divisor_of_biases(const struct quotients *q)
{
	if (q->top_bias < 10 && q->top_bias / q->top_weight < 20)
		return median_exceeds(q, 100) || mean_exceeds(q, 1000) ? 5 : 2;
	if (median_exceeds(q, 30) || mean_exceeds(q, 500))
		return 20;
	return median_exceeds(q, 15) || mean_exceeds(q, 100) ? 10 : 5;
}

static enum status raise_by_biases(float *top, const struct layer *l, struct error *err)
{
	struct quotients q = {0};
	if (!l->b.data)
		return STATUS_OK;
	enum status st = take_quotients(&q, l, err);
	float divisor = st == STATUS_OK ? divisor_of_biases(&q) : 1;
	for (int64_t row = 0; row < l->rows && st == STATUS_OK; row++)
		top[row] = fmaxf(top[row], bias_of(l, row) / divisor);
	free(q.at);
	return st;
}

// 1: there is nothing to even out, or a float does not hold it.
static float quotient_or_one(float top, float root)
{
	float q = top / root;
	return isfinite(q) && isfinite(1 / q) && q > 0 ? q : 1;
}

static enum status move_pair(struct layer *front, struct layer *behind, float *a, float *b, double threshold, struct error *err)
{
	layer_raise(a, front, true);
	layer_raise(b, behind, false);
	enum status st = raise_by_biases(a, front, err);
	for (int64_t c = 0; c < front->rows && st == STATUS_OK; c++)
		a[c] = (double)(a[c] + b[c]) >= threshold ? quotient_or_one(b[c], sqrtf(a[c] * b[c])) : 1;
	if (st == STATUS_OK) {
		layer_multiply_rows(front, a);
		layer_divide_columns(behind, a);
	}
	return st;
}

// All three have the geometric mean of their ranges in the end.
static void move_chain(struct layer *front, struct layer *middle, struct layer *behind, float *a, float *b, float *c)
{
	layer_raise(a, front, true);
	layer_raise(b, middle, true);
	layer_raise(c, behind, false);
	for (int64_t i = 0; i < front->rows; i++) {
		float root = cbrtf(a[i] * b[i] * c[i]);
		a[i] = 1 / quotient_or_one(a[i], root);
		c[i] = quotient_or_one(c[i], root);
	}
	layer_multiply_rows(front, a);
	layer_divide_columns(middle, a);
	layer_multiply_rows(middle, c);
	layer_divide_columns(behind, c);
}

enum status quark_move(struct layer *layer, const struct equalize_group *g, double threshold, struct error *err)
{
	size_t n = (size_t)g->channels;
	float *top = mem_try_array(3 * n, sizeof *top);
	struct layer *front = &layer[g->front[0]], *behind = &layer[g->behind[0]];
	enum status st = STATUS_OK;
	if (!top)
		st = error_set(err, STATUS_NOMEM, "no memory for the ranges of %zu channels", n);
	else if (g->chained)
		move_chain(front, &layer[g->front[1]], behind, top, top + n, top + 2 * n);
	else
		st = move_pair(front, behind, top, top + n, threshold, err);
	free(top);
	return st;
}
