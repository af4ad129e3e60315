// MeanVarianceNormalization: (x - mean) / (deviation + 1e-9) over the axes given, [0, 2, 3] by default.
#include <math.h>
#include <stdlib.h>
#include "../rule.h"
#include "../strided.h"

static enum status reduced_axes(bool gone[SHAPE_MAX_RANK], const struct node *n, int rank, struct error *err)
{
	int64_t dflt[] = {0, 2, 3};
	const struct ints *axes = &((const struct norm_attrs *)n->attrs)->axes;
	if (axes->n > 0 && axes->at)
		return rule_axes(gone, axes->at, axes->n, rank, err);
	return rule_axes(gone, dflt, 3, rank, err);
}

enum status mvn_shape(const struct node *n, const struct tensor *const *in, struct tensor *out, struct error *err)
{
	bool gone[SHAPE_MAX_RANK];
	enum status s = reduced_axes(gone, n, in[0]->shape.rank, err);
	if (s == STATUS_OK)
		rule_set(&out[0], DT_F32, &in[0]->shape);
	return s;
}

// Runs of elements, each with the moments that its first and its following elements belong to:
// one after the other, or all to one.
struct runs {
	int64_t count, length, step; // step: 0 or 1 moment from element to element
	int64_t of_each;             // elements of every moment
};

static struct runs runs_of(const struct shape *x, const bool gone[SHAPE_MAX_RANK], int64_t groups)
{
	struct runs r = {.length = 1};
	int64_t count = shape_count(x);
	int d = x->rank;
	r.step = d > 0 && !gone[d - 1];
	while (d > 0 && gone[d - 1] == !r.step)
		r.length *= x->dim[--d];
	r.count = count / r.length;
	r.of_each = count / groups;
	return r;
}

// The moment of element `at`.
static int64_t group_of(int64_t at, const struct shape *x, const bool gone[SHAPE_MAX_RANK])
{
	int64_t group = 0, p = 1;
	for (int i = x->rank - 1; i >= 0; i--) {
		group += gone[i] ? 0 : at % x->dim[i] * p;
		p *= gone[i] ? 1 : x->dim[i];
		at /= x->dim[i];
	}
	return group;
}

// sum[..] += (x - mean[..])^power, of a run.
static void add_run(double *sum, const double *mean, const float *x, const struct runs *r, int power)
{
	if (r->step) {
		_Pragma("omp simd") for (int64_t i = 0; i < r->length; i++)
		{
			double d = (double)x[i] - mean[i];
			sum[i] += power == 2 ? d * d : d;
		}
		return;
	}
	double all = 0, m = mean[0];
	_Pragma("omp simd reduction(+ : all)") for (int64_t i = 0; i < r->length; i++)
	{
		double d = (double)x[i] - m;
		all += power == 2 ? d * d : d;
	}
	sum[0] += all;
}

static void add_all(double *sum, const double *mean, const float *x, const struct shape *shape, const bool gone[SHAPE_MAX_RANK],
    const struct runs *r, int power)
{
	for (int64_t i = 0; i < r->count; i++) {
		int64_t g = group_of(i * r->length, shape, gone);
		add_run(sum + g, mean + g, x + i * r->length, r, power);
	}
}

static void normalize_run(float *y, const double *mean, const double *divisor, const float *x, const struct runs *r)
{
	for (int64_t i = 0; i < r->length; i++)
		y[i] = (float)(((double)x[i] - mean[i * r->step]) / divisor[i * r->step]);
}

enum status mvn_eval(
    const struct node *n, const struct tensor *const *in, struct tensor *out, int width, struct error *err)
{
	const struct shape *x = &in[0]->shape;
	bool gone[SHAPE_MAX_RANK];
	int64_t count = tensor_count(in[0]), groups = 1;
	const float *from = in[0]->data;
	double *sum;
	enum status s = reduced_axes(gone, n, x->rank, err);
	(void)width;
	for (int i = 0; i < x->rank; i++)
		groups *= gone[i] ? 1 : x->dim[i];
	if (s != STATUS_OK || count == 0)
		return s;
	sum = mem_try_array((size_t)groups * 3, sizeof *sum);
	if (!sum)
		return error_set(err, STATUS_NOMEM, "no memory for %lld sums", (long long)groups);
	const struct runs r = runs_of(x, gone, groups);
	// The mean is the sum of differences from zero: one loop serves both moments.
	double *zero = sum, *mean = sum + groups, *divisor = sum + 2 * groups;
	add_all(mean, zero, from, x, gone, &r, 1);
	for (int64_t g = 0; g < groups; g++)
		mean[g] /= (double)r.of_each;
	add_all(divisor, mean, from, x, gone, &r, 2);
	for (int64_t g = 0; g < groups; g++)
		divisor[g] = sqrt(divisor[g] / (double)r.of_each) + 1e-9;
	for (int64_t i = 0; i < r.count; i++) {
		int64_t g = group_of(i * r.length, x, gone);
		normalize_run((float *)out[0].data + i * r.length, mean + g, divisor + g, from + i * r.length, &r);
	}
	free(sum);
	return STATUS_OK;
}
