// LayerNormalization, RMSNormalization, SimplifiedLayerNormalization, SkipLayerNormalization and its simplified form,
// GroupNormalization: moments over a part of each sample.
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "../rule.h"
#include "../strided.h"
#include "norm.h"
#include "qtui/base/parts.h"

static bool wanted(const struct node *n, int i)
{
	return i < n->n_out && n->out[i] >= 0;
}

// Does a scale or bias of this shape have the same values for every row? A row is what x has from `axis` on.
static bool is_shared(const struct shape *s, const struct shape *x, int axis)
{
	for (int i = 0; i < s->rank + axis - x->rank; i++)
		if (s->dim[i] != 1)
			return false;
	return true;
}

static enum status check_affine(const struct shape *s, int i, const struct shape *x, int axis, struct error *err)
{
	int64_t size = rule_product(x, axis, x->rank), count = rule_product(s, 0, s->rank);
	struct shape y;
	if (count == size && is_shared(s, x, axis))
		return STATUS_OK;
	if (s->rank <= x->rank && rule_broadcast(&y, x, s, err) == STATUS_OK && shape_equal(&y, x))
		return STATUS_OK;
	return error_set(err, STATUS_FORMAT, "input %d has %lld values for rows of %lld", i, (long long)count, (long long)size);
}

enum status layernorm_shape(const struct node *n, const struct tensor *const *in, struct tensor *out, struct error *err)
{
	const struct norm_attrs *a = n->attrs;
	struct shape row = in[0]->shape;
	int axis = 0;
	enum status s = rule_axis(&axis, a->axis, row.rank, err);
	for (int i = 1; s == STATUS_OK && i < n->n_in; i++)
		if (in[i])
			s = check_affine(&in[i]->shape, i, &row, axis, err);
	if (s != STATUS_OK)
		return s;
	rule_set(&out[0], DT_F32, &row);
	for (int i = axis; i < row.rank; i++)
		row.dim[i] = 1;
	for (int i = 1; i < n->n_out; i++)
		rule_set(&out[i], DT_F32, &row);
	return STATUS_OK;
}

struct row { // scale and bias may be NULL: 1 and 0
	const float *scale, *bias;
	int64_t n;
	double epsilon;
	bool rms; // the mean is taken as 0
};

// Returns the mean; *inverse is 1 / deviation.
static double normalise_row(const struct row *r, const float *x, float *y, double *inverse)
{
	struct row_moments m = row_moments_of(x, r->n);
	if (r->rms) {
		m.variance += m.mean * m.mean;
		m.mean = 0;
	}
	*inverse = 1 / sqrt(m.variance + r->epsilon);
	row_moments_apply(x, y, r->n, m.mean, *inverse, r->scale, r->bias);
	return m.mean;
}

// A scale or a bias for all rows: that of row i begins at `row + i * step`.
struct affine {
	const float *row; // NULL: there is none
	float *own;       // its values where they had to be broadcast, else NULL
	int64_t step;
};

static enum status affine_init(struct affine *p, const struct tensor *t, const struct shape *x, int axis, struct error *err)
{
	struct shape y = *x;
	struct strided s;
	int64_t size = rule_product(x, axis, x->rank), count;
	bool shared = t && is_shared(&t->shape, x, axis);
	*p = (struct affine){.row = t ? t->data : NULL, .step = shared ? 0 : size};
	if (!t || (shared && tensor_count(t) == size))
		return STATUS_OK;
	for (int i = 0; shared && i < axis; i++)
		y.dim[i] = 1;
	count = rule_product(&y, 0, y.rank);
	p->row = p->own = mem_try_array((size_t)count + 1, sizeof *p->own);
	if (!p->own)
		return error_set(err, STATUS_NOMEM, "no memory for a scale or bias of %lld elements", (long long)count);
	strided_broadcast(&s, &y, (const struct shape *const[]){&t->shape}, 1);
	strided_copy(&s, p->own, t->data, sizeof *p->own);
	return STATUS_OK;
}

static const float *affine_row(const struct affine *p, int64_t i)
{
	return p->row ? p->row + i * p->step : NULL;
}

struct layers {
	const float *x;
	float *y, *mean, *inverse; // mean and inverse of each row, where they are wanted
	struct affine scale, bias;
	int64_t size; // of a row
	double epsilon;
	bool rms;
};

static void one_layer(void *arg, int64_t i, int thread)
{
	const struct layers *l = arg;
	struct row r = {affine_row(&l->scale, i), affine_row(&l->bias, i), l->size, l->epsilon, l->rms};
	double inverse, mean = normalise_row(&r, l->x + i * l->size, l->y + i * l->size, &inverse);
	(void)thread;
	if (l->mean)
		l->mean[i] = (float)mean;
	if (l->inverse)
		l->inverse[i] = (float)inverse;
}

enum status layernorm_eval(
    const struct node *n, const struct tensor *const *in, struct tensor *out, int width, struct error *err)
{
	const struct norm_attrs *a = n->attrs;
	const struct shape *x = &in[0]->shape;
	int axis = (int)(a->axis < 0 ? a->axis + x->rank : a->axis);
	bool rms = n->op->id != OP_LayerNormalization;
	struct layers l = {.x = in[0]->data, .y = out[0].data, .mean = !rms && wanted(n, 1) ? out[1].data : NULL,
	    .size = rule_product(x, axis, x->rank), .epsilon = (double)a->epsilon, .rms = rms};
	enum status s = affine_init(&l.scale, in[1], x, axis, err);
	if (s == STATUS_OK)
		s = affine_init(&l.bias, rule_input(n, in, 2), x, axis, err);
	if (rms ? wanted(n, 1) : wanted(n, 2))
		l.inverse = out[rms ? 1 : 2].data;
	if (s == STATUS_OK)
		parts_share(rule_product(x, 0, axis), width, one_layer, &l);
	free(l.scale.own);
	free(l.bias.own);
	return s;
}

// One for each row of x, or one for each row of a sample, which all samples share.
static bool is_skip_of(const struct shape *x, const struct shape *skip)
{
	int sample = skip->rank > 0 && skip->rank == x->rank && skip->dim[0] == 1; // its first dimension, if it has one
	if (shape_equal(x, skip))
		return true;
	if (x->rank < 2 || skip->rank - sample != x->rank - 1)
		return false;
	for (int i = 1; i < x->rank; i++)
		if (skip->dim[i - 1 + sample] != x->dim[i])
			return false;
	return true;
}

enum status skipnorm_shape(const struct node *n, const struct tensor *const *in, struct tensor *out, struct error *err)
{
	struct shape row = in[0]->shape;
	if (row.rank < 1 || !is_skip_of(&row, &in[1]->shape))
		return error_set(err, STATUS_FORMAT, "the two inputs must have one shape, or the second that of a sample");
	for (int i = 2; i < n->n_in; i++)
		if (in[i] && tensor_count(in[i]) != row.dim[row.rank - 1])
			return error_set(err, STATUS_FORMAT, "input %d must be as long as the last dimension", i);
	rule_set(&out[0], DT_F32, &row);
	if (n->n_out > 3)
		rule_set(&out[3], DT_F32, &row);
	row.dim[row.rank - 1] = 1;
	for (int i = 1; i < n->n_out && i < 3; i++)
		rule_set(&out[i], DT_F32, &row);
	return STATUS_OK;
}

// Normalises x + skip + bias; output 3 is that sum. The simplified one takes the mean
// as 0 and has no beta before the bias.
enum status skipnorm_eval(
    const struct node *n, const struct tensor *const *in, struct tensor *out, int width, struct error *err)
{
	const struct shape *x = &in[0]->shape;
	int64_t size = x->dim[x->rank - 1], rows = size ? tensor_count(in[0]) / size : 0;
	int64_t skip_rows = size ? tensor_count(in[1]) / size : 0;
	const float *a = in[0]->data, *b = in[1]->data, *bias;
	bool simplified = n->op->id == OP_SkipSimplifiedLayerNormalization;
	int at = simplified ? 3 : 4;
	struct row r = {in[2]->data, !simplified && rule_input(n, in, 3) ? in[3]->data : NULL, size,
	    (double)((const struct norm_attrs *)n->attrs)->epsilon, simplified};
	float *sum = mem_try_array((size_t)size + 1, sizeof *sum);
	(void)width;
	bias = rule_input(n, in, at) ? in[at]->data : NULL;
	if (!sum)
		return error_set(err, STATUS_NOMEM, "no memory for a row of %lld elements", (long long)size);
	for (int64_t i = 0; i < rows; i++) {
		double inverse, mean;
		for (int64_t j = 0; j < size; j++)
			sum[j] = a[i * size + j] + b[i % skip_rows * size + j] + (bias ? bias[j] : 0);
		mean = normalise_row(&r, sum, (float *)out[0].data + i * size, &inverse);
		if (wanted(n, 1))
			((float *)out[1].data)[i] = (float)mean;
		if (wanted(n, 2))
			((float *)out[2].data)[i] = (float)inverse;
		if (wanted(n, 3))
			memcpy((float *)out[3].data + i * size, sum, (size_t)size * sizeof *sum);
	}
	free(sum);
	return STATUS_OK;
}

enum status groupnorm_shape(const struct node *n, const struct tensor *const *in, struct tensor *out, struct error *err)
{
	int64_t groups = ((const struct norm_attrs *)n->attrs)->num_groups, each;
	const struct shape *x = &in[0]->shape;
	enum status s = rule_rank_at_least(in[0], 0, 2, err);
	if (s != STATUS_OK)
		return s;
	if (groups < 1 || x->dim[1] % groups)
		return error_set(err, STATUS_FORMAT, "%lld channels do not make %lld groups", (long long)x->dim[1],
		    (long long)groups);
	each = n->op->since < 21 ? groups : x->dim[1]; // scale and bias were per group before opset 21
	if (tensor_count(in[1]) != each || tensor_count(in[2]) != each)
		return error_set(err, STATUS_FORMAT, "scale and bias must have %lld values", (long long)each);
	rule_set(&out[0], DT_F32, x);
	return STATUS_OK;
}

enum status groupnorm_eval(
    const struct node *n, const struct tensor *const *in, struct tensor *out, int width, struct error *err)
{
	const struct norm_attrs *a = n->attrs;
	const struct shape *x = &in[0]->shape;
	const float *scale = in[1]->data, *bias = in[2]->data, *from = in[0]->data;
	int64_t size = rule_product(x, 2, x->rank), per = x->dim[1] / a->num_groups;
	float *to = out[0].data;
	(void)width;
	(void)err;
	for (int64_t g = 0; g < x->dim[0] * a->num_groups; g++) {
		struct row_moments m = row_moments_of(from + g * per * size, per * size);
		double inverse = 1 / sqrt(m.variance + (double)a->epsilon);
		for (int64_t c = g * per; c < (g + 1) * per; c++) {
			int64_t k = n->op->since < 21 ? g % a->num_groups : c % x->dim[1];
			norm_apply(from + c * size, to + c * size, size, (float)m.mean,
			    (float)(inverse * (double)scale[k]), bias[k]);
		}
	}
	return STATUS_OK;
}
