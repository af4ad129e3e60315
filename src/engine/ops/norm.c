// BatchNormalization (inference), InstanceNormalization, LRN, LpNormalization.
#include <math.h>
#include "norm.h"
#include "rule.h"

void norm_apply(const float *x, float *y, int64_t n, float mean, float scale, float bias)
{
	for (int64_t i = 0; i < n; i++)
		y[i] = (x[i] - mean) * scale + bias;
}

static int64_t channels(const struct shape *x)
{
	return x->rank > 1 ? x->dim[1] : 1;
}

static enum status check_per_channel(const struct node *n, const struct tensor *const *in, struct error *err)
{
	for (int i = 1; i < n->n_in; i++)
		if (tensor_count(in[i]) != channels(&in[0]->shape))
			return error_set(err, STATUS_FORMAT, "input %d has %lld values for %lld channels", i,
			    (long long)tensor_count(in[i]), (long long)channels(&in[0]->shape));
	return STATUS_OK;
}

enum status batchnorm_shape(const struct node *n, const struct tensor *const *in, struct tensor *out, struct error *err)
{
	const struct norm_attrs *a = n->attrs;
	enum status s = check_per_channel(n, in, err);

	if (s != STATUS_OK)
		return s;
	if (!a->spatial)
		return error_set(err, STATUS_UNSUPPORTED, "spatial = 0 is not supported");
	if (a->training)
		return error_set(
		    err, STATUS_UNSUPPORTED, "training mode is not supported: export the model for inference");
	rule_set(&out[0], DT_F32, &in[0]->shape);
	for (int i = 1; i < n->n_out; i++)
		rule_set(&out[i], DT_F32, &in[(i - 1) % 2 + 3]->shape);
	return STATUS_OK;
}

enum status batchnorm_eval(
    const struct node *n, const struct tensor *const *in, struct tensor *out, int width, struct error *err)
{
	const struct norm_attrs *a = n->attrs;
	const struct shape *x = &in[0]->shape;
	const float *scale = in[1]->data, *bias = in[2]->data, *mean = in[3]->data, *variance = in[4]->data;
	int64_t c = channels(x), size = rule_product(x, 2, x->rank),
	        planes = c ? tensor_count(in[0]) / (size ? size : 1) : 0;

	(void)width;
	for (int i = 1; i < n->n_out; i++)
		if (n->out[i] >= 0)
			return error_set(err, STATUS_UNSUPPORTED,
			    "the statistics of training are not computed: export the model for inference");
	for (int64_t p = 0; p < planes; p++) {
		int64_t k = p % c;
		norm_apply((const float *)in[0]->data + p * size, (float *)out[0].data + p * size, size, mean[k],
		    scale[k] / sqrtf(variance[k] + a->epsilon), bias[k]);
	}
	return STATUS_OK;
}

enum status instancenorm_shape(
    const struct node *n, const struct tensor *const *in, struct tensor *out, struct error *err)
{
	enum status s = rule_rank_at_least(in[0], 0, 2, err);

	if (s == STATUS_OK)
		s = check_per_channel(n, in, err);
	if (s == STATUS_OK)
		rule_set(&out[0], DT_F32, &in[0]->shape);
	return s;
}

enum status instancenorm_eval(
    const struct node *n, const struct tensor *const *in, struct tensor *out, int width, struct error *err)
{
	const struct shape *x = &in[0]->shape;
	const float *scale = in[1]->data, *bias = in[2]->data, *from = in[0]->data;
	float epsilon = ((const struct norm_attrs *)n->attrs)->epsilon, *to = out[0].data;
	int64_t planes = x->dim[0] * x->dim[1], size = rule_product(x, 2, x->rank);

	(void)width;
	(void)err;
	for (int64_t p = 0; p < planes; p++) {
		struct row_moments m = row_moments_of(from + p * size, size);
		int64_t k = p % x->dim[1];
		norm_apply(from + p * size, to + p * size, size, (float)m.mean,
		    (float)((double)scale[k] / sqrt(m.variance + (double)epsilon)), bias[k]);
	}
	return STATUS_OK;
}

enum status lrn_shape(const struct node *n, const struct tensor *const *in, struct tensor *out, struct error *err)
{
	enum status s = rule_rank_at_least(in[0], 0, 2, err);

	if (s == STATUS_OK && ((const struct norm_attrs *)n->attrs)->size < 1)
		s = error_set(err, STATUS_FORMAT, "size must be at least 1");
	if (s == STATUS_OK)
		rule_set(&out[0], DT_F32, &in[0]->shape);
	return s;
}

// y = x / (bias + alpha / size * sum of squares over `size` neighbouring channels) ^ beta
enum status lrn_eval(
    const struct node *n, const struct tensor *const *in, struct tensor *out, int width, struct error *err)
{
	const struct norm_attrs *a = n->attrs;
	const struct shape *x = &in[0]->shape;
	const float *from = in[0]->data;
	float *to = out[0].data;
	int64_t c = x->dim[1], size = rule_product(x, 2, x->rank), before = (a->size - 1) / 2,
	        after = a->size - 1 - before;

	(void)width;
	(void)err;
	for (int64_t p = 0; p < x->dim[0] * c; p++) {
		int64_t k = p % c, first = before > k ? 0 : k - before, last = after >= c - k ? c - 1 : k + after;
		const float *image = from + p / c * c * size;
		for (int64_t i = 0; i < size; i++) {
			double squares = 0;
			for (int64_t j = first; j <= last; j++)
				squares += (double)image[j * size + i] * (double)image[j * size + i];
			to[p * size + i] = (float)((double)from[p * size + i] /
			                           pow((double)a->bias + (double)a->alpha / (double)a->size * squares,
			                               (double)a->beta));
		}
	}
	return STATUS_OK;
}

enum status lpnorm_shape(const struct node *n, const struct tensor *const *in, struct tensor *out, struct error *err)
{
	const struct norm_attrs *a = n->attrs;
	int axis = 0;
	enum status s = rule_axis(&axis, a->axis, in[0]->shape.rank, err);

	if (s == STATUS_OK && a->p != 1 && a->p != 2)
		s = error_set(err, STATUS_FORMAT, "p is %lld, must be 1 or 2", (long long)a->p);
	if (s == STATUS_OK)
		rule_set(&out[0], DT_F32, &in[0]->shape);
	return s;
}

enum status lpnorm_eval(
    const struct node *n, const struct tensor *const *in, struct tensor *out, int width, struct error *err)
{
	const struct norm_attrs *a = n->attrs;
	const struct shape *x = &in[0]->shape;
	int axis = (int)(a->axis < 0 ? a->axis + x->rank : a->axis);
	int64_t outer = rule_product(x, 0, axis), inner = rule_product(x, axis + 1, x->rank), dim = x->dim[axis];

	(void)width;
	(void)err;
	for (int64_t r = 0; r < outer * inner; r++) {
		const float *from = (const float *)in[0]->data + r / inner * dim * inner + r % inner;
		float *to = (float *)out[0].data + (from - (const float *)in[0]->data);
		double sum = 0;
		for (int64_t i = 0; i < dim; i++)
			sum += a->p == 1 ? fabs((double)from[i * inner])
			                 : (double)from[i * inner] * (double)from[i * inner];
		sum = a->p == 1 ? sum : sqrt(sum);
		for (int64_t i = 0; i < dim; i++)
			to[i * inner] = sum == 0 ? 0 : (float)((double)from[i * inner] / sum); // NaN stays
	}
	return STATUS_OK;
}
