// Factors by the rules of AMD Quark's cross-layer equalization (`cle`): biases count, and factors have no limits.
#include <math.h>
#include <stdlib.h>
#include "equalize_impl.h"

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

// How large biases are beside weights: of every weight the bias of its row over it.
// Where a weight is 0 the least of its row stands for it.
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
