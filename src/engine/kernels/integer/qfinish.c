// What follows the exact sum of an integer kernel: scale, bias, activation, rounding to the output's codes.
// The vector versions in the *_avx2.c files do the same operations in the same order.
#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "qkernel.h"

static void *copy_array(const void *src, int64_t n, size_t elem)
{
	void *p = mem_try_array((size_t)(n ? n : 1), elem);
	if (p && src)
		memcpy(p, src, (size_t)n * elem);
	return p;
}

// Takes the sizes and arrays; scale_n is 1 or f->channels.
static enum status init(struct qfinish *f, const float *scale, int64_t scale_n, const float *fbias, const int64_t *bias,
    const struct quantizer *q, struct error *err)
{
	if (!act_is_for_codes(&f->act))
		return STATUS_UNSUPPORTED;
	f->scale = copy_array(scale_n == f->channels ? scale : NULL, f->channels, sizeof(float));
	f->bias = copy_array(bias, f->channels, sizeof(int64_t));
	f->fbias = fbias ? copy_array(fbias, f->channels, sizeof(float)) : NULL;
	if (!f->scale || !f->bias || (fbias && !f->fbias)) {
		qfinish_done(f);
		return error_set(err, STATUS_NOMEM, "no memory for the scales of %lld channels", (long long)f->channels);
	}
	for (int64_t c = 0; scale_n != f->channels && c < f->channels; c++)
		f->scale[c] = scale[0];
	f->type = DT_F32;
	if (!f->to_float) {
		f->out = qspan_of(q, 0);
		f->type = quantizer_dtype(q);
		f->pad = q->zero[0];
	}
	return STATUS_OK;
}

enum status qfinish_of_conv(struct qfinish *f, const struct qconv_task *t, struct error *err)
{
	*f = (struct qfinish){.channels = t->g.oc, .act = t->act, .to_float = t->to_float};
	return init(f, t->scale, t->g.oc, t->fbias, t->bias, &t->out_quant, err);
}

enum status qfinish_of_matmul(struct qfinish *f, const struct qmatmul_task *t, struct error *err)
{
	*f = (struct qfinish){.channels = t->n, .act = t->act, .to_float = t->to_float};
	return init(f, t->scale, t->scale_n, t->fbias, t->bias, &t->out_quant, err);
}

void qfinish_done(struct qfinish *f)
{
	free(f->scale);
	free(f->fbias);
	free(f->bias);
	f->scale = f->fbias = NULL;
	f->bias = NULL;
}

static float act_one(const struct act *a, float v)
{
	switch (a->kind) {
	case ACT_RELU: return v > 0.0f ? v : 0.0f;
	case ACT_CLIP: v = v > a->a ? v : a->a; return v < a->b ? v : a->b;
	case ACT_LEAKY: return v < 0.0f ? v * a->a : v;
	default: return v;
	}
}

static void store(void *y, enum dtype type, int64_t at, int64_t code)
{
	switch (type) {
	case DT_I8: ((int8_t *)y)[at] = (int8_t)code; break;
	case DT_U8: ((uint8_t *)y)[at] = (uint8_t)code; break;
	case DT_I16: ((int16_t *)y)[at] = (int16_t)code; break;
	case DT_U16: ((uint16_t *)y)[at] = (uint16_t)code; break;
	case DT_I32: ((int32_t *)y)[at] = (int32_t)code; break;
	case DT_I64: ((int64_t *)y)[at] = code; break;
	default: assert(!"a type that holds codes");
	}
}

static float value_of(const struct qfinish *f, int64_t c, int64_t acc)
{
	float v = (float)acc * f->scale[c];
	if (f->fbias)
		v += f->fbias[c];
	return act_one(&f->act, v);
}

void qfinish_store(const struct qfinish *f, void *y, int64_t at, int64_t c, int64_t acc)
{
	float v = value_of(f, c, acc);
	if (f->to_float)
		((float *)y)[at] = v;
	else
		store(y, f->type, at, qspan_code(&f->out, v));
}

static bool same_code(const struct qfinish *f, int64_t c, int64_t a, int64_t b)
{
	return qspan_code(&f->out, value_of(f, c, a)) == qspan_code(&f->out, value_of(f, c, b));
}

// Activations after which codes are in the order of their sums, as those with a dip
// (Swish, Gelu) or a negative slope are not.
static bool keeps_order(const struct act *a)
{
	return a->kind == ACT_NONE || a->kind == ACT_RELU || a->kind == ACT_CLIP;
}

// Where the order is kept, there is no other code between two sums of one code.
void qfinish_tame(struct qfinish *f, int64_t c, double reach)
{
	const int64_t exact = (int64_t)1 << 53, bias = f->bias[c];
	if (f->to_float || !keeps_order(&f->act) || reach >= INT32_MAX || bias < -exact || bias > exact)
		return;
	int64_t r = (int64_t)ceil(reach), most = INT32_MAX - r, tame = bias < 0 ? -most : most;
	if (bias >= -most && bias <= most)
		return;
	if (same_code(f, c, bias - r, bias + r) && same_code(f, c, bias, tame - r) && same_code(f, c, bias, tame + r))
		f->bias[c] = tame;
}

void qfinish_pad(const struct qfinish *f, void *y, int64_t at, int64_t lanes, int64_t pixels, int64_t step)
{
	char run[16 * sizeof(int64_t)] = {0};
	size_t elem = dtype_size(f->type);
	for (int64_t l = 0; l < lanes && !f->to_float; l++)
		store(run, f->type, l, f->pad);
	for (int64_t p = 0; p < pixels; p++)
		memcpy((char *)y + (size_t)(at + p * step) * elem, run, (size_t)lanes * elem);
}

static bool within(const float *x, int64_t n, float limit)
{
	for (int64_t i = 0; i < n; i++)
		if (!(fabsf(x[i]) <= limit))
			return false;
	return true;
}

bool qfinish_is_plain(const struct qfinish *f)
{
	// Sums stay below 2^53 there: nothing can overflow to an infinity before the division by the output's scale.
	if (!within(f->scale, f->channels, 1e20f) || (f->fbias && !within(f->fbias, f->channels, 1e37f)))
		return false;
	if (f->act.kind == ACT_LEAKY && !(fabsf(f->act.a) <= 1.0f))
		return false;
	if (f->act.kind == ACT_CLIP && (isnan(f->act.a) || isnan(f->act.b) || f->act.a > f->act.b))
		return false;
	return f->to_float || (f->out.narrow && f->out.scale > 0.0f && isfinite(f->out.scale) && qcode_type(f->type));
}

bool qcode_type(enum dtype t)
{
	return t == DT_I8 || t == DT_U8 || t == DT_I16 || t == DT_U16;
}

int32_t qcode_at(const void *x, enum dtype t, int64_t i)
{
	switch (t) {
	case DT_I8: return ((const int8_t *)x)[i];
	case DT_U8: return ((const uint8_t *)x)[i];
	case DT_I16: return ((const int16_t *)x)[i];
	default: return ((const uint16_t *)x)[i];
	}
}
