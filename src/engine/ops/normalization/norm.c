// BatchNormalization, InstanceNormalization, LRN, LpNormalization.
#include <math.h>
#include "norm.h"
#include "../rule.h"
#include "qtui/base/parts.h"

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
	rule_set(&out[0], DT_F32, &in[0]->shape);
	for (int i = 1; i < n->n_out; i++)
		rule_set(&out[i], DT_F32, &in[(i - 1) % 2 + 3]->shape);
	return STATUS_OK;
}

// Of channel k over all samples, each of which has as many elements of it: `planes` lie `c` apart.
static struct row_moments channel_moments(const float *x, int64_t planes, int64_t c, int64_t k, int64_t size)
{
	struct row_moments all = {0};
	double seen = 0;
	for (int64_t p = k; p < planes; p += c) {
		struct row_moments m = row_moments_of(x + p * size, size);
		double away = m.mean - all.mean, share = 1 / ++seen;
		all.mean += away * share;
		all.variance += (m.variance - all.variance) * share + away * away * share * (1 - share);
	}
	return all;
}

// An output that may be left out: a channel's old statistic moved towards that of this batch.
static void put_running(const struct node *n, struct tensor *out, int i, int64_t k, float old, double batch)
{
	double momentum = (double)((const struct norm_attrs *)n->attrs)->momentum;
	if (i < n->n_out && n->out[i] >= 0)
		((float *)out[i].data)[k] = (float)((double)old * momentum + batch * (1 - momentum));
}

enum status batchnorm_eval(
    const struct node *n, const struct tensor *const *in, struct tensor *out, int width, struct error *err)
{
	const struct norm_attrs *a = n->attrs;
	const struct shape *x = &in[0]->shape;
	const float *from = in[0]->data, *scale = in[1]->data, *bias = in[2]->data, *mean = in[3]->data, *variance = in[4]->data;
	int64_t c = channels(x), size = rule_product(x, 2, x->rank),
	        planes = c ? tensor_count(in[0]) / (size ? size : 1) : 0;
	(void)width;
	for (int i = 1; i < n->n_out && !a->training; i++)
		if (n->out[i] >= 0)
			return error_set(err, STATUS_UNSUPPORTED,
			    "the statistics of training are not computed: export the model for inference");
	for (int64_t k = 0; k < c; k++) {
		struct row_moments m = {(double)mean[k], (double)variance[k]};
		if (a->training) {
			m = channel_moments(from, planes, c, k, size);
			put_running(n, out, 1, k, mean[k], m.mean);
			put_running(n, out, 2, k, variance[k], m.variance);
		}
		for (int64_t p = k; p < planes; p += c)
			norm_apply(from + p * size, (float *)out[0].data + p * size, size, (float)m.mean,
			    scale[k] / sqrtf((float)m.variance + a->epsilon), bias[k]);
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

// By norms in double. What is all zeros stays so, and NaN stays NaN.
static void normalize_row(const float *x, float *y, int64_t dim, bool absolute)
{
	double sum = 0, norm;
	_Pragma("omp simd reduction(+ : sum)") for (int64_t i = 0; i < dim; i++)
		sum += absolute ? fabs((double)x[i]) : (double)x[i] * (double)x[i];
	norm = absolute ? sum : sqrt(sum);
	_Pragma("omp simd") for (int64_t i = 0; i < dim; i++)
	{
		float v = (float)((double)x[i] / norm);
		y[i] = norm == 0 ? 0.0f : v;
	}
}

enum { COLUMNS = 256 }; // that are normalized side by side

// Columns of `dim` elements, which lie `inner` apart.
static void normalize_columns(const float *x, float *y, int64_t dim, int64_t inner, int64_t columns, bool absolute)
{
	double norm[COLUMNS] = {0};
	for (int64_t i = 0; i < dim; i++)
		_Pragma("omp simd") for (int64_t c = 0; c < columns; c++)
		{
			double v = (double)x[i * inner + c];
			norm[c] += absolute ? fabs(v) : v * v;
		}
	for (int64_t c = 0; c < columns && !absolute; c++)
		norm[c] = sqrt(norm[c]);
	for (int64_t i = 0; i < dim; i++)
		_Pragma("omp simd") for (int64_t c = 0; c < columns; c++)
		{
			float v = (float)((double)x[i * inner + c] / norm[c]);
			y[i * inner + c] = norm[c] == 0 ? 0.0f : v;
		}
}

struct lengths {
	const float *x;
	float *y;
	int64_t dim, inner, pieces; // elements of a vector, how far they are apart, pieces of `inner`
	bool absolute;              // the sum of magnitudes
};

static void norm_piece(void *arg, int64_t i, int thread)
{
	const struct lengths *l = arg;
	int64_t c = i % l->pieces * COLUMNS, columns = l->inner - c < COLUMNS ? l->inner - c : COLUMNS;
	int64_t at = i / l->pieces * l->dim * l->inner + c;
	(void)thread;
	if (l->inner == 1)
		normalize_row(l->x + at, l->y + at, l->dim, l->absolute);
	else
		normalize_columns(l->x + at, l->y + at, l->dim, l->inner, columns, l->absolute);
}

enum status lpnorm_eval(
    const struct node *n, const struct tensor *const *in, struct tensor *out, int width, struct error *err)
{
	const struct norm_attrs *a = n->attrs;
	const struct shape *x = &in[0]->shape;
	int axis = (int)(a->axis < 0 ? a->axis + x->rank : a->axis);
	int64_t outer = rule_product(x, 0, axis), inner = rule_product(x, axis + 1, x->rank), dim = x->dim[axis];
	struct lengths l = {in[0]->data, out[0].data, dim, inner, (inner + COLUMNS - 1) / COLUMNS, a->p == 1};
	(void)err;
	parts_share(outer * l.pieces, width, norm_piece, &l);
	return STATUS_OK;
}
