#include "ordered.h"

#include <float.h>
#include <math.h>
#include "../../tensor/cpu.h"
#include "../reduction/reduce.h"
#include "../rule.h"
#include "qtui/base/parts.h"

#define CHUNK 16384 // elements that a thread takes at a time

const struct ordered_loops *ordered_here(void)
{
#ifdef __x86_64__
	if (cpu_level() >= CPU_AVX2)
		return &ordered_avx2;
#endif
	return &ordered_plain;
}

struct rows {
	const float *x;
	float *y;
	int64_t n; // elements of each
	bool mean; // of a sum
};

static void sigmoid_chunk(void *arg, int64_t at, int64_t n)
{
	const struct rows *r = arg;
	ordered_here()->sigmoid(r->x + at, r->y + at, n);
}

static enum status ordered_sigmoid(const struct node *n, const struct tensor *const *in, struct tensor *out, int width, struct error *err)
{
	(void)n, (void)err;
	parts_cut(tensor_count(in[0]), CHUNK, width, sigmoid_chunk, &(struct rows){.x = in[0]->data, .y = out[0].data});
	return STATUS_OK;
}

// Of a positive normal number: its exponent, and a rational function of what the mantissa
// in [sqrt(1/2), sqrt(2)) is above 1.
static float log_normal(float x)
{
	int e;
	float m = frexpf(x, &e);
	if (m < 0.707106781186547524f) {
		m += m;
		e--;
	}
	m -= 1.0f;
	float p = (m * 0.18256296349849254f + 1.0000000190281063f) * m + 1.0000000190281136f;
	float q = ((m * 0.049616247954120038f + 0.59923249590823520f) * m + 1.4999999999999927f) * m + 1.0000000190281136f;
	return (float)e * 0.6931471805599453f + m * p / q;
}

// In vectors of four; the C library's function on what is left over, as on numbers that are rare.
static enum status ordered_log(const struct node *n, const struct tensor *const *in, struct tensor *out, int width, struct error *err)
{
	int64_t count = tensor_count(in[0]);
	const float *x = in[0]->data;
	float *y = out[0].data;
	(void)n, (void)width, (void)err;
	for (int64_t i = 0; i < count; i++)
		y[i] = i < count / 4 * 4 && isnormal(x[i]) && x[i] > 0 ? log_normal(x[i]) : logf(x[i]);
	return STATUS_OK;
}

static void softmax_row(void *arg, int64_t row, int thread)
{
	const struct rows *r = arg;
	const int64_t n = r->n;
	const float *x = r->x + row * n;
	float *y = r->y + row * n, most = -FLT_MAX;
	(void)thread;
	for (int64_t i = 0; i < n; i++)
		most = x[i] > most ? x[i] : most;
	float scale = 1.0f / ordered_here()->sum_exp(x, -most, y, n);
	for (int64_t i = 0; i < n; i++)
		y[i] *= scale;
}

// Rows that do not lie along the last axis are left to the usual evaluation.
static enum status ordered_softmax(const struct node *n, const struct tensor *const *in, struct tensor *out, int width, struct error *err)
{
	const struct shape *s = &in[0]->shape;
	int64_t axis = ((const struct axis_attrs *)n->attrs)->axis, first = axis < 0 ? axis + s->rank : axis;
	if (n->op->since >= 13 && first != s->rank - 1)
		return softmax_eval(n, in, out, width, err);
	struct rows r = {in[0]->data, out[0].data, rule_product(s, (int)first, s->rank), false};
	parts_share(rule_product(s, 0, (int)first), width, softmax_row, &r);
	return STATUS_OK;
}

static float of_lanes(const float v[4])
{
	return (v[0] + v[2]) + (v[1] + v[3]);
}

// The sum of a row that lies `offset` elements into its tensor: two vectors of four side by side,
// from the first element that is aligned to a vector; what lies before and behind is added last.
static float ordered_row_sum(const float *x, int64_t offset, int64_t n)
{
	int64_t start = -offset & 3, pairs, end;
	float a[4], b[4], sum;
	start = start < n ? start : n;
	end = start + (n - start) / 4 * 4;
	pairs = start + (n - start) / 8 * 8;
	if (end == start) {
		sum = n ? x[0] : 0;
		for (int64_t i = 1; i < n; i++)
			sum += x[i];
		return sum;
	}
	for (int j = 0; j < 4; j++) {
		a[j] = x[start + j];
		b[j] = pairs > start ? x[start + 4 + j] : 0;
		for (int64_t i = start + 8; i < pairs; i += 8) {
			a[j] += x[i + j];
			b[j] += x[i + 4 + j];
		}
		a[j] = pairs > start ? a[j] + b[j] : a[j];
		a[j] = pairs > start && end > pairs ? a[j] + x[pairs + j] : a[j];
	}
	sum = of_lanes(a);
	for (int64_t i = 0; i < start; i++)
		sum += x[i];
	for (int64_t i = end; i < n; i++)
		sum += x[i];
	return sum;
}

float ordered_plane_sum(const float *x, int64_t n)
{
	float v[4] = {0}, sum;
	int64_t i = 0;
	for (; i + 4 <= n; i += 4)
		for (int j = 0; j < 4; j++)
			v[j] += x[i + j];
	sum = of_lanes(v);
	for (; i < n; i++)
		sum += x[i];
	return sum;
}

static void sum_row(void *arg, int64_t row, int thread)
{
	const struct rows *r = arg;
	float sum = ordered_row_sum(r->x + row * r->n, row * r->n, r->n);
	(void)thread;
	r->y[row] = r->mean ? sum / (float)r->n : sum;
}

// Sums and means of floats over the last axes; other axes are left to the usual evaluation.
static enum status ordered_reduce(const struct node *n, const struct tensor *const *in, struct tensor *out, int width, struct error *err)
{
	const struct shape *s = &in[0]->shape;
	bool gone[SHAPE_MAX_RANK];
	int first = s->rank, reduced = 0;
	enum status st = reduce_axes(gone, n, in, err);
	if (st != STATUS_OK)
		return st;
	for (int i = 0; i < s->rank; i++)
		reduced += gone[i];
	while (first > 0 && gone[first - 1])
		first--;
	if (in[0]->type != DT_F32 || reduced == 0 || s->rank - first != reduced)
		return reduce_eval(n, in, out, width, err);
	struct rows r = {in[0]->data, out[0].data, rule_product(s, first, s->rank), n->op->id == OP_ReduceMean};
	parts_share(rule_product(s, 0, first), width, sum_row, &r);
	return STATUS_OK;
}

static void mean_plane(void *arg, int64_t p, int thread)
{
	const struct rows *r = arg;
	(void)thread;
	r->y[p] = ordered_plane_sum(r->x + p * r->n, r->n) / (float)r->n;
}

static enum status ordered_globalpool(const struct node *n, const struct tensor *const *in, struct tensor *out, int width, struct error *err)
{
	const struct shape *s = &in[0]->shape;
	struct rows r = {in[0]->data, out[0].data, rule_product(s, 2, s->rank), true};
	(void)n, (void)err;
	parts_share(s->dim[0] * s->dim[1], width, mean_plane, &r);
	return STATUS_OK;
}

op_eval_fn *op_eval_ordered(enum op_id id)
{
	static op_eval_fn *const table[OP_COUNT] = {
	    [OP_AveragePool] = pool_eval,
	    [OP_GlobalAveragePool] = ordered_globalpool,
	    [OP_Log] = ordered_log,
	    [OP_ReduceMean] = ordered_reduce,
	    [OP_ReduceSum] = ordered_reduce,
	    [OP_Sigmoid] = ordered_sigmoid,
	    [OP_Softmax] = ordered_softmax,
	};
	return table[id];
}
