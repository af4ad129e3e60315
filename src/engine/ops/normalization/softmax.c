// Softmax, LogSoftmax, Hardmax. Up to opset 12 the input counts as a matrix whose columns begin at `axis`; from 13 on
// they act along one axis.
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "../../kernels/elementwise/unary.h"
#include "../../kernels/rows/rows.h"
#include "../rule.h"
#include "qtui/base/parts.h"
#include "softmax.h"

enum status softmax_shape(const struct node *n, const struct tensor *const *in, struct tensor *out, struct error *err)
{
	int axis = 0;
	int64_t given = ((const struct axis_attrs *)n->attrs)->axis;
	enum status s = STATUS_OK;
	if (n->op->since >= 13 ||
	    given != in[0]->shape.rank) // before 13 `axis` may be the rank: columns of one element
		s = rule_axis(&axis, given, in[0]->shape.rank, err);
	if (s == STATUS_OK)
		rule_set(&out[0], DT_F32, &in[0]->shape);
	return s;
}

// What is taken from a row before its exponentials: its largest element.
// A fully masked row stays a row of NaN or zeros, as it would without the shift.
static float most_of(const struct rows_loops *loops, const float *x, int64_t n)
{
	float most = n ? loops->most(x, n) : 0;
	return most > -INFINITY ? most : 0;
}

// exp(x - *most) and its sum.
static float exponentials(const float *x, float *y, int64_t n, float *most)
{
	const struct rows_loops *loops = rows_here();
	const struct act_attrs none = {0};
	*most = most_of(loops, x, n);
	loops->less(y, x, *most, n);
	unary_apply(FN_exp, &none, y, y, n);
	return loops->sum(y, n);
}

// Rows one behind the other, with one call for the exponentials of all.
static void softmax_rows(const float *x, float *y, int64_t n, int64_t rows)
{
	const struct rows_loops *loops = rows_here();
	const struct act_attrs none = {0};
	for (int64_t r = 0; r < rows; r++)
		loops->less(y + r * n, x + r * n, most_of(loops, x + r * n, n), n);
	unary_apply(FN_exp, &none, y, y, rows * n);
	for (int64_t r = 0; r < rows; r++)
		loops->over(y + r * n, loops->sum(y + r * n, n), n);
}

static void log_softmax_row(const float *x, float *y, int64_t n)
{
	float most, logsum = logf(exponentials(x, y, n, &most));
	for (int64_t i = 0; i < n; i++)
		y[i] = x[i] - most - logsum;
}

static void hardmax_row(const float *x, float *y, int64_t n)
{
	int64_t best = 0;
	for (int64_t i = 0; i < n; i++) {
		best = x[i] > x[best] ? i : best;
		y[i] = 0;
	}
	if (n)
		y[best] = 1;
}

// Of LogSoftmax or Hardmax.
static void one_row(enum op_id id, const float *x, float *y, int64_t n)
{
	if (id == OP_LogSoftmax)
		log_softmax_row(x, y, n);
	else
		hardmax_row(x, y, n);
}

enum {
	COLUMNS = 64,     // taken at a time
	TOGETHER = 1024,  // elements of short rows that are taken at a time
	ALONE = 1 << 12   // elements that are not worth a second thread
};

// Softmax or LogSoftmax of up to COLUMNS rows side by side whose elements are `inner` apart.
static void softmax_columns(enum op_id id, const float *x, float *y, int64_t n, int64_t inner, int64_t columns)
{
	const struct rows_loops *loops = rows_here();
	const struct act_attrs none = {0};
	float most[COLUMNS], sum[COLUMNS] = {0};
	memcpy(most, x, (size_t)columns * sizeof *most);
	for (int64_t i = 1; i < n; i++)
		loops->most_each(most, x + i * inner, columns);
	for (int64_t c = 0; c < columns; c++)
		most[c] = most[c] > -INFINITY ? most[c] : 0;
	for (int64_t i = 0; i < n; i++) {
		loops->less_each(y + i * inner, x + i * inner, most, columns);
		unary_apply(FN_exp, &none, y + i * inner, y + i * inner, columns);
		loops->sum_each(sum, y + i * inner, columns);
	}
	if (id == OP_LogSoftmax)
		unary_apply(FN_log, &none, sum, sum, columns);
	for (int64_t i = 0; i < n; i++)
		if (id == OP_LogSoftmax) {
			loops->less_each(y + i * inner, x + i * inner, most, columns);
			loops->less_each(y + i * inner, y + i * inner, sum, columns);
		} else {
			loops->over_each(y + i * inner, sum, columns);
		}
}

// Hardmax of a row whose elements are `inner` apart, through a buffer.
static void hardmax_strided(const float *x, float *y, float *row, int64_t n, int64_t inner)
{
	for (int64_t i = 0; i < n; i++)
		row[i] = x[i * inner];
	hardmax_row(row, row + n, n);
	for (int64_t i = 0; i < n; i++)
		y[i * inner] = row[n + i];
}

static enum status hardmax_along(const float *x, float *y, const struct softmax_extent *e, struct error *err)
{
	int64_t n = e->n, inner = e->inner;
	float *row = mem_try_array((size_t)n * 2 + 1, sizeof *row);
	if (!row)
		return error_set(err, STATUS_NOMEM, "no memory for a row of %lld elements", (long long)n);
	for (int64_t r = 0; r < e->outer * inner; r++) {
		int64_t from = r / inner * n * inner + r % inner;
		hardmax_strided(x + from, y + from, row, n, inner);
	}
	free(row);
	return STATUS_OK;
}

struct softmax_run {
	enum op_id id;
	const float *x;
	float *y;
	int64_t n, inner, pieces; // elements of a row or column; columns: how many side by side, in how many pieces
};

static void some_columns(void *arg, int64_t p, int thread)
{
	const struct softmax_run *r = arg;
	int64_t column = p % r->pieces * COLUMNS, from = p / r->pieces * r->n * r->inner + column;
	(void)thread;
	softmax_columns(r->id, r->x + from, r->y + from, r->n, r->inner, r->inner - column < COLUMNS ? r->inner - column : COLUMNS);
}

// One row, unless it is Softmax.
static void some_rows(void *arg, int64_t first, int64_t rows)
{
	const struct softmax_run *r = arg;
	int64_t at = first * r->n;
	if (r->id == OP_Softmax)
		softmax_rows(r->x + at, r->y + at, r->n, rows);
	else
		one_row(r->id, r->x + at, r->y + at, r->n);
}

enum status softmax_along(
    enum op_id id, const float *x, float *y, const struct softmax_extent *e, int width, struct error *err)
{
	struct softmax_run r = {id, x, y, e->n, e->inner, (e->inner + COLUMNS - 1) / COLUMNS};
	if (e->inner > 1 && id == OP_Hardmax)
		return hardmax_along(x, y, e, err);
	if (e->n == 0 || e->inner == 0)
		return STATUS_OK;
	width = e->outer * e->n * e->inner > ALONE ? width : 1;
	if (e->inner > 1)
		parts_share(e->outer * r.pieces, width, some_columns, &r);
	else
		parts_cut(e->outer, id == OP_Softmax && e->n < TOGETHER ? TOGETHER / e->n : 1, width, some_rows, &r);
	return STATUS_OK;
}

enum status softmax_eval(
    const struct node *n, const struct tensor *const *in, struct tensor *out, int width, struct error *err)
{
	const struct shape *x = &in[0]->shape;
	int64_t axis = ((const struct axis_attrs *)n->attrs)->axis;
	int first = (int)(axis < 0 ? axis + x->rank : axis), last = n->op->since < 13 ? x->rank : first + 1;
	struct softmax_extent e = {rule_product(x, 0, first), rule_product(x, first, last), rule_product(x, last, x->rank)};
	return softmax_along(n->op->id, in[0]->data, out[0].data, &e, width, err);
}
