// ReduceSum and its kin. Floats are summed in double (reduce_fold.c), integers in int64.
#include <math.h>
#include <stdlib.h>
#include "../element.h"
#include "../rule.h"
#include "../strided.h"
#include "reduce.h"
#include "reduce_fold.h"

// What is done to the total.
enum finish { FINISH_NONE, FINISH_MEAN, FINISH_SQRT, FINISH_LOG, FINISH_LOG_EXP };
static const struct recipe {
	enum step step;
	enum finish finish;
} recipes[OP_COUNT] = {
    [OP_ReduceL1] = {STEP_ABS, FINISH_NONE},
    [OP_ReduceL2] = {STEP_SQUARE, FINISH_SQRT},
    [OP_ReduceLogSum] = {STEP_SUM, FINISH_LOG},
    [OP_ReduceLogSumExp] = {STEP_SUM, FINISH_LOG_EXP},
    [OP_ReduceMax] = {STEP_MAX, FINISH_NONE},
    [OP_ReduceMean] = {STEP_SUM, FINISH_MEAN},
    [OP_ReduceMin] = {STEP_MIN, FINISH_NONE},
    [OP_ReduceProd] = {STEP_PROD, FINISH_NONE},
    [OP_ReduceSum] = {STEP_SUM, FINISH_NONE},
    [OP_ReduceSumSquare] = {STEP_SQUARE, FINISH_NONE},
};

enum status reduce_axes(
    bool gone[SHAPE_MAX_RANK], const struct node *n, const struct tensor *const *in, struct error *err)
{
	const struct reduce_attrs *a = n->attrs;
	const struct tensor *list = rule_input(n, in, 1);
	int64_t axes[SHAPE_MAX_RANK];
	int rank = in[0]->shape.rank, count = -1;
	enum status s = rule_axes_list(axes, &count, list, &a->axes, err);
	if (s == STATUS_OK)
		s = rule_axes(gone, axes, count, rank, err);
	if (s != STATUS_OK || count > 0)
		return s;
	for (int i = 0; i < rank; i++)
		gone[i] = !a->noop_with_empty_axes;
	return STATUS_OK;
}

void reduce_set_shape(struct shape *y, const struct shape *x, const bool gone[SHAPE_MAX_RANK], bool keepdims)
{
	y->rank = 0;
	for (int i = 0; i < x->rank; i++)
		if (!gone[i] || keepdims)
			rule_push(y, gone[i] ? 1 : x->dim[i]);
}

enum status reduce_shape(const struct node *n, const struct tensor *const *in, struct tensor *out, struct error *err)
{
	bool gone[SHAPE_MAX_RANK];
	struct shape y;
	enum status s = reduce_axes(gone, n, in, err);
	if (s != STATUS_OK)
		return s;
	reduce_set_shape(&y, &in[0]->shape, gone, ((const struct reduce_attrs *)n->attrs)->keepdims != 0);
	rule_set(&out[0], in[0]->type, &y);
	return STATUS_OK;
}

// Array 0 is the output, which does not move along the reduced axes; array 1 the input.
static void reduce_walk(struct strided *s, const struct shape *x, const bool gone[SHAPE_MAX_RANK])
{
	int64_t p = 1;
	*s = (struct strided){.rank = x->rank, .arrays = 2};
	rule_strides(s->stride[1], x);
	for (int i = x->rank - 1; i >= 0; i--) {
		s->dim[i] = x->dim[i];
		s->stride[0][i] = gone[i] ? 0 : p;
		p *= gone[i] ? 1 : x->dim[i];
	}
	strided_merge(s);
}

static int64_t add_int(enum step step, int64_t acc, int64_t v, bool is_unsigned)
{
	bool less = is_unsigned ? (uint64_t)v < (uint64_t)acc : v < acc;
	switch (step) {
	case STEP_SUM:
		return (int64_t)((uint64_t)acc + (uint64_t)v);
	case STEP_ABS:
		return (int64_t)((uint64_t)acc + (v < 0 && !is_unsigned ? -(uint64_t)v : (uint64_t)v));
	case STEP_SQUARE:
		return (int64_t)((uint64_t)acc + (uint64_t)v * (uint64_t)v);
	case STEP_PROD:
		return (int64_t)((uint64_t)acc * (uint64_t)v);
	case STEP_MAX:
		return less || v == acc ? acc : v;
	default:
		return less ? v : acc;
	}
}

static void fold_ints(enum step step, int64_t *acc, const struct tensor *x, const struct strided *s)
{
	int64_t rows = strided_rows(s), run = strided_run(s), to = strided_step(s, 0), from = strided_step(s, 1),
	        v[ELEMENTS_CHUNK];
	bool is_unsigned = elements_unsigned(x->type);
	for (int64_t r = 0; r < rows; r++) {
		int64_t at[STRIDED_MAX];
		strided_at(s, r, at);
		for (int64_t i = 0; i < run; i += ELEMENTS_CHUNK) {
			int64_t m = run - i < ELEMENTS_CHUNK ? run - i : ELEMENTS_CHUNK, *a = acc + at[0] + i * to;
			elements_load(v, x->type, x->data, at[1] + i * from, from, m);
			for (int64_t j = 0; j < m; j++)
				a[j * to] = add_int(step, a[j * to], v[j], is_unsigned);
		}
	}
}

static double finish_double(enum finish finish, double v, double terms, double shift)
{
	switch (finish) {
	case FINISH_MEAN:
		return v / terms;
	case FINISH_SQRT:
		return sqrt(v);
	case FINISH_LOG:
		return log(v);
	case FINISH_LOG_EXP:
		return log(v) + shift;
	default:
		return v;
	}
}

static enum status reduce_doubles(struct recipe recipe, const struct tensor *x, struct tensor *y,
    const struct strided *s, double terms, int width, struct error *err)
{
	int64_t count = tensor_count(y);
	bool shifted = recipe.finish == FINISH_LOG_EXP;
	double *acc = mem_try_array((size_t)count * 2 + 1, sizeof *acc), *shift = acc ? acc + count : NULL;
	if (!acc)
		return error_set(err, STATUS_NOMEM, "no memory for %lld sums", (long long)count);
	for (int64_t i = 0; i < count; i++) {
		acc[i] = reduce_start(recipe.step);
		shift[i] = -INFINITY;
	}
	if (shifted)
		reduce_fold(STEP_MAX, shift, x, s, NULL, width);
	for (int64_t i = 0; i < count; i++)
		shift[i] = isfinite(shift[i]) ? shift[i] : 0;
	reduce_fold(recipe.step, acc, x, s, shifted ? shift : NULL, width);
	for (int64_t i = 0; i < count; i++)
		acc[i] = finish_double(recipe.finish, acc[i], terms, shift[i]);
	elements_store_double(y->data, y->type, 0, acc, count);
	free(acc);
	return STATUS_OK;
}

static enum status reduce_ints(
    struct recipe recipe, const struct tensor *x, struct tensor *y, const struct strided *s, struct error *err)
{
	int64_t count = tensor_count(y), low, high;
	int64_t *acc = mem_try_array((size_t)count + 1, sizeof *acc);
	if (!acc)
		return error_set(err, STATUS_NOMEM, "no memory for %lld sums", (long long)count);
	elements_range(x->type, &low, &high);
	high = x->type == DT_U64 ? -1 : high;
	for (int64_t i = 0; i < count; i++)
		acc[i] = recipe.step == STEP_MAX ? low : recipe.step == STEP_MIN ? high : recipe.step == STEP_PROD;
	fold_ints(recipe.step, acc, x, s);
	elements_store(y->data, y->type, 0, acc, count);
	free(acc);
	return STATUS_OK;
}

enum status reduce_eval(
    const struct node *n, const struct tensor *const *in, struct tensor *out, int width, struct error *err)
{
	struct recipe recipe = recipes[n->op->id];
	bool gone[SHAPE_MAX_RANK];
	struct strided s;
	double terms = 1;
	enum status st = reduce_axes(gone, n, in, err);
	if (st != STATUS_OK)
		return st;
	reduce_walk(&s, &in[0]->shape, gone);
	for (int i = 0; i < in[0]->shape.rank; i++)
		terms *= gone[i] ? (double)in[0]->shape.dim[i] : 1;
	if (in[0]->type == DT_F32 || recipe.finish != FINISH_NONE)
		return reduce_doubles(recipe, in[0], &out[0], &s, terms, width, err);
	return reduce_ints(recipe, in[0], &out[0], &s, err);
}
