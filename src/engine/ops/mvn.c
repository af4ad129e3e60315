// MeanVarianceNormalization: (x - mean) / (deviation + 1e-9) over the axes given, [0, 2, 3] by default.
#include <math.h>
#include <stdlib.h>
#include "rule.h"
#include "strided.h"

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

// Which of the moments an element belongs to.
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
	sum = mem_try_array((size_t)groups * 2, sizeof *sum);
	if (!sum)
		return error_set(err, STATUS_NOMEM, "no memory for %lld sums", (long long)groups);
	for (int64_t i = 0; i < count; i++)
		sum[group_of(i, x, gone)] += (double)from[i] / (double)(count / groups);
	for (int64_t i = 0; i < count; i++) {
		int64_t g = group_of(i, x, gone);
		sum[groups + g] += ((double)from[i] - sum[g]) * ((double)from[i] - sum[g]) / (double)(count / groups);
	}
	for (int64_t i = 0; i < count; i++) {
		int64_t g = group_of(i, x, gone);
		((float *)out[0].data)[i] = (float)(((double)from[i] - sum[g]) / (sqrt(sum[groups + g]) + 1e-9));
	}
	free(sum);
	return STATUS_OK;
}
