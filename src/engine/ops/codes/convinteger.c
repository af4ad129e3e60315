// ConvInteger and QLinearConv: convolutions of codes, accumulated in 32 bits.
#include <stdlib.h>
#include <string.h>
#include "../element.h"
#include "../rule.h"
#include "../spatial/conv.h"
#include "qlinear.h"

enum { CI_X, CI_W, CI_X_ZERO, CI_W_ZERO };
enum { QC_X, QC_X_SCALE, QC_X_ZERO, QC_W, QC_W_SCALE, QC_W_ZERO, QC_Y_SCALE, QC_Y_ZERO, QC_BIAS };

// Codes of the input and of the weights; the zero points may be NULL.
struct operands {
	const struct tensor *x, *x_zero, *w, *w_zero;
};

// acc[n, oc, out...] = the sum over x - x_zero times w - w_zero.
static enum status accumulate(uint32_t *acc, const struct convolve *t, const struct operands *o, int width, struct error *err)
{
	uint32_t *cx = qlinear_centred(o->x, o->x_zero, 1), *cw = qlinear_centred(o->w, o->w_zero, tensor_count(o->w) / t->oc);
	enum status s = STATUS_OK;
	if (cx && cw)
		convolve_int32(t, cx, cw, acc, width);
	else
		s = error_set(err, STATUS_NOMEM, "no memory for the codes of input and weights");
	free(cx);
	free(cw);
	return s;
}

enum status convinteger_shape(
    const struct node *n, const struct tensor *const *in, struct tensor *out, struct error *err)
{
	struct convolve t;
	struct shape y;
	enum status s = conv_resolve(&t, n->attrs, &in[CI_X]->shape, &in[CI_W]->shape, false, err);
	if (s == STATUS_OK)
		s = qlinear_counts(n, in, (const int[]){CI_X_ZERO}, 1, 0, err);
	if (s == STATUS_OK)
		s = qlinear_counts(n, in, (const int[]){CI_W_ZERO}, 1, t.oc, err);
	if (s != STATUS_OK)
		return s;
	y = window_shape(&t.win, t.n, t.oc);
	rule_set(&out[0], DT_I32, &y);
	return STATUS_OK;
}

enum status convinteger_eval(
    const struct node *n, const struct tensor *const *in, struct tensor *out, int width, struct error *err)
{
	struct convolve t;
	enum status s = conv_resolve(&t, n->attrs, &in[CI_X]->shape, &in[CI_W]->shape, false, err);
	if (s != STATUS_OK)
		return s;
	memset(out[0].data, 0, tensor_bytes(&out[0]));
	struct operands o = {in[CI_X], rule_input(n, in, CI_X_ZERO), in[CI_W], rule_input(n, in, CI_W_ZERO)};
	return accumulate(out[0].data, &t, &o, width, err);
}

enum status qlinearconv_shape(
    const struct node *n, const struct tensor *const *in, struct tensor *out, struct error *err)
{
	struct convolve t;
	struct shape y;
	enum status s = conv_resolve(&t, n->attrs, &in[QC_X]->shape, &in[QC_W]->shape, false, err);
	if (s == STATUS_OK)
		s = qlinear_counts(n, in, (const int[]){QC_X_SCALE, QC_X_ZERO, QC_Y_SCALE, QC_Y_ZERO}, 4, 0, err);
	if (s == STATUS_OK)
		s = qlinear_counts(n, in, (const int[]){QC_W_SCALE, QC_W_ZERO}, 2, t.oc, err);
	if (s == STATUS_OK)
		s = conv_check_bias(&t, rule_input(n, in, QC_BIAS), err);
	if (s != STATUS_OK)
		return s;
	y = window_shape(&t.win, t.n, t.oc);
	rule_set(&out[0], in[QC_Y_ZERO]->type, &y);
	return STATUS_OK;
}

static void add_bias(uint32_t *acc, const struct convolve *t, const struct tensor *bias)
{
	int64_t plane = window_out(&t->win);
	for (int64_t p = 0; bias && p < t->n * t->oc; p++)
		for (int64_t i = 0; i < plane; i++)
			acc[p * plane + i] += (uint32_t)element_int(bias, p % t->oc);
}

// Sums in steps of the output's scale, ready to be rounded.
static void rescale(float *y, const uint32_t *acc, const struct convolve *t, const struct tensor *const *in)
{
	int64_t plane = window_out(&t->win), scales = tensor_count(in[QC_W_SCALE]);
	float x_scale = *(const float *)in[QC_X_SCALE]->data, y_scale = *(const float *)in[QC_Y_SCALE]->data;
	for (int64_t p = 0; p < t->n * t->oc; p++) {
		float m = x_scale * ((const float *)in[QC_W_SCALE]->data)[p % t->oc % scales] / y_scale;
		for (int64_t i = 0; i < plane; i++)
			y[p * plane + i] = (float)(int32_t)acc[p * plane + i] * m;
	}
}

static enum status round_sums(
    const struct node *n, const struct tensor *const *in, uint32_t *acc, struct tensor *out, int width, struct error *err)
{
	struct convolve t;
	struct tensor steps = {.type = DT_F32, .shape = out->shape};
	struct qlinear unit = {1, (int32_t)element_int(in[QC_Y_ZERO], 0)};
	enum status s = conv_resolve(&t, n->attrs, &in[QC_X]->shape, &in[QC_W]->shape, false, err);
	if (s == STATUS_OK)
		s = tensor_alloc(&steps, NULL, err);
	if (s != STATUS_OK)
		return s;
	add_bias(acc, &t, rule_input(n, in, QC_BIAS));
	rescale(steps.data, acc, &t, in);
	qlinear_encode(out, &steps, &unit, width);
	tensor_drop(&steps);
	return STATUS_OK;
}

enum status qlinearconv_eval(
    const struct node *n, const struct tensor *const *in, struct tensor *out, int width, struct error *err)
{
	struct convolve t;
	uint32_t *acc = mem_try_array((size_t)tensor_count(&out[0]) + 1, sizeof *acc);
	enum status s = conv_resolve(&t, n->attrs, &in[QC_X]->shape, &in[QC_W]->shape, false, err);
	if (s == STATUS_OK && !acc)
		s = error_set(err, STATUS_NOMEM, "no memory for the sums");
	struct operands o = {in[QC_X], in[QC_X_ZERO], in[QC_W], in[QC_W_ZERO]};
	if (s == STATUS_OK)
		s = accumulate(acc, &t, &o, width, err);
	if (s == STATUS_OK)
		s = round_sums(n, in, acc, &out[0], width, err);
	free(acc);
	return s;
}
