// ArgMax, ArgMin.
#include "../element.h"
#include "../rule.h"
#include "qtui/base/parts.h"
#include "reduce.h"

enum status argreduce_shape(const struct node *n, const struct tensor *const *in, struct tensor *out, struct error *err)
{
	const struct reduce_attrs *a = n->attrs;
	bool gone[SHAPE_MAX_RANK] = {false};
	struct shape y;
	int axis = 0;
	enum status s = rule_axis(&axis, a->axis, in[0]->shape.rank, err);
	if (s != STATUS_OK)
		return s;
	if (in[0]->shape.dim[axis] == 0)
		return error_set(err, STATUS_FORMAT, "axis %d is empty", axis);
	gone[axis] = true;
	reduce_set_shape(&y, &in[0]->shape, gone, a->keepdims != 0);
	rule_set(&out[0], DT_I64, &y);
	return STATUS_OK;
}

static int64_t best_int(const struct tensor *x, int64_t from, int64_t n, int64_t inner, bool max, bool last)
{
	int64_t best = 0, value = 0;
	for (int64_t i = 0; i < n; i++) {
		int64_t v = element_int(x, from + i * inner);
		elements_order(&v, x->type, 1);
		if (i > 0 && !(max ? v > value : v < value) && !(last && v == value))
			continue;
		best = i;
		value = v;
	}
	return best;
}

// Of more floats than the faster ways below count.
static int64_t best_of(const struct tensor *x, int64_t from, int64_t n, int64_t inner, bool max, bool last)
{
	int64_t best = 0;
	double value = element_double(x, from);
	for (int64_t i = 1; i < n; i++) {
		double v = element_double(x, from + i * inner);
		if (!(max ? v > value : v < value) && !(last && v == value))
			continue;
		best = i;
		value = v;
	}
	return best;
}

// The same of floats side by side: the largest is found first, then where it lies.
// What is no number is passed over, but at the start.
static int64_t best_float(const float *x, int64_t n, bool max, bool last)
{
	enum { LANES = 16 };
	float best[LANES], sign = max ? 1.0f : -1.0f, most = sign * x[0];
	int64_t i = 0;
	if (x[0] != x[0])
		return 0;
	for (int k = 0; k < LANES; k++)
		best[k] = most;
	for (; i + LANES <= n; i += LANES)
		_Pragma("omp simd") for (int k = 0; k < LANES; k++) best[k] = sign * x[i + k] > best[k] ? sign * x[i + k] : best[k];
	for (; i < n; i++)
		best[0] = sign * x[i] > best[0] ? sign * x[i] : best[0];
	for (int k = 0; k < LANES; k++)
		most = best[k] > most ? best[k] : most;
	for (i = last ? n - 1 : 0; sign * x[i] != most;)
		i += last ? -1 : 1;
	return i;
}

enum { COLUMNS = 256 }; // taken at a time

// Columns whose elements are `inner` apart.
static void best_columns(int64_t *y, const float *x, int64_t n, int64_t inner, int64_t columns, bool max, bool last)
{
	float value[COLUMNS], sign = max ? 1.0f : -1.0f;
	int32_t best[COLUMNS] = {0};
	for (int64_t c = 0; c < columns; c++)
		value[c] = sign * x[c];
	for (int64_t i = 1; i < n; i++)
		_Pragma("omp simd") for (int64_t c = 0; c < columns; c++)
		{
			float v = sign * x[i * inner + c];
			bool better = (v > value[c]) | (last & (v == value[c]));
			best[c] = better ? (int32_t)i : best[c];
			value[c] = better ? v : value[c];
		}
	for (int64_t c = 0; c < columns; c++)
		y[c] = best[c];
}

struct lines {
	int64_t outer, n, inner;
	bool max, last;
};

struct seeking {
	int64_t *y;
	const float *x;
	const struct lines *l;
	int64_t pieces; // of `inner`
};

// A row, or columns of a piece of `inner`.
static void seek(void *arg, int64_t p, int thread)
{
	const struct seeking *s = arg;
	const struct lines *l = s->l;
	int64_t o = p / s->pieces, c = p % s->pieces * COLUMNS;
	const float *from = s->x + o * l->n * l->inner + c;
	int64_t *to = s->y + o * l->inner + c;
	(void)thread;
	if (l->inner == 1)
		*to = best_float(from, l->n, l->max, l->last);
	else
		best_columns(to, from, l->n, l->inner, l->inner - c < COLUMNS ? l->inner - c : COLUMNS, l->max, l->last);
}

static void best_floats(int64_t *y, const float *x, const struct lines *l, int width)
{
	enum { ALONE = 32768 }; // elements that are not worth a second thread
	struct seeking s = {y, x, l, l->inner > 1 ? (l->inner + COLUMNS - 1) / COLUMNS : l->inner};
	parts_share(l->outer * s.pieces, l->outer * l->n * l->inner > ALONE ? width : 1, seek, &s);
}

enum status argreduce_eval(
    const struct node *n, const struct tensor *const *in, struct tensor *out, int width, struct error *err)
{
	const struct reduce_attrs *a = n->attrs;
	const struct shape *x = &in[0]->shape;
	int axis = 0;
	enum status s = rule_axis(&axis, a->axis, x->rank, err);
	int64_t inner, count = tensor_count(&out[0]);
	if (s != STATUS_OK)
		return s;
	inner = rule_product(x, axis + 1, x->rank);
	if (in[0]->type == DT_F32 && x->dim[axis] <= INT32_MAX && count > 0) {
		const struct lines l = {count / inner, x->dim[axis], inner, n->op->id == OP_ArgMax, a->select_last_index != 0};
		best_floats(out[0].data, in[0]->data, &l, width);
		return STATUS_OK;
	}
	for (int64_t r = 0; r < count; r++)
		((int64_t *)out[0].data)[r] = (in[0]->type == DT_F32 ? best_of : best_int)(in[0], r / inner * x->dim[axis] * inner + r % inner, x->dim[axis],
		    inner, n->op->id == OP_ArgMax, a->select_last_index != 0);
	return STATUS_OK;
}
