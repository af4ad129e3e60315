// Quantizers over whole tensors: which element goes with which scale, and which loop does it.
#include <assert.h>
#include <math.h>
#include <string.h>
#include "cpu.h"
#include "qtui/base/parts.h"
#include "quantizer_span.h"

enum dtype quantizer_dtype(const struct quantizer *q)
{
	static const struct {
		int64_t min, max;
		enum dtype type;
	} types[] = {
		{0, UINT8_MAX, DT_U8},
		{INT8_MIN, INT8_MAX, DT_I8},
		{0, UINT16_MAX, DT_U16},
		{INT16_MIN, INT16_MAX, DT_I16},
		{INT32_MIN, INT32_MAX, DT_I32},
	};
	if (q->kind != QUANT_LINEAR)
		return DT_F32;
	for (size_t i = 0; i < sizeof types / sizeof types[0]; i++)
		if (q->qmin >= types[i].min && q->qmax <= types[i].max)
			return types[i].type;
	return DT_I64;
}

// Only what decides the numbers goes in: two plans that come to the same scales share their results.
struct key quantizer_key(const struct quantizer *q)
{
	struct key k = {0, 0};
	if (!q || q->kind == QUANT_NONE)
		return k;
	k = key_add_int(k, q->kind);
	if (q->kind != QUANT_LINEAR)
		return k;
	k = key_add_int(k, q->rounding);
	k = key_add_int(k, q->qmin);
	k = key_add_int(k, q->qmax);
	k = key_add_int(k, q->axis);
	k = key_add(k, q->scale, (size_t)q->n * sizeof q->scale[0]);
	return key_add(k, q->zero, (size_t)q->n * sizeof q->zero[0]);
}

bool quantizer_equal(const struct quantizer *a, const struct quantizer *b)
{
	return key_equal(quantizer_key(a), quantizer_key(b));
}

static float round_with(enum rounding r, float x)
{
	switch (r) {
	case ROUND_HALF_UP: return floorf(x + 0.5f);
	case ROUND_HALF_DOWN: return ceilf(x - 0.5f);
	case ROUND_HALF_TOWARDS_ZERO: return copysignf(ceilf(fabsf(x) - 0.5f), x);
	case ROUND_HALF_FAR_FROM_ZERO: return copysignf(floorf(fabsf(x) + 0.5f), x);
	case ROUND_UP: return ceilf(x);
	case ROUND_DOWN: return floorf(x);
	case ROUND_HALF_EVEN: break;
	}
	return rintf(x);
}

// 1 / scale when scale is a power of two with a normal inverse, else 0.
static float qspan_inverse(float scale)
{
	int e;
	return scale > 0.0f && frexpf(scale, &e) == 0.5f && e >= -125 && e <= 127 ? 1.0f / scale : 0.0f;
}

struct qspan qspan_of(const struct quantizer *q, int channel)
{
	const int64_t reach = 1 << 22;
	int c = q->n > 1 ? channel : 0;
	struct qspan s = {
		.rounding = q->rounding, .scale = q->scale[c], .inverse = qspan_inverse(q->scale[c]),
		.zero = q->zero[c], .qmin = q->qmin, .qmax = q->qmax,
	};
	s.narrow = s.qmin - s.zero >= -reach && s.qmax - s.zero <= reach && s.qmin - s.zero <= s.qmax - s.zero;
	return s;
}

static int64_t clamp_code(int64_t v, int64_t lo, int64_t hi)
{
	return v < lo ? lo : v > hi ? hi : v;
}

int64_t qspan_code(const struct qspan *s, float x)
{
	const float huge = 4611686018427387904.0f; // 2^62: past every code, and the sum below stays in 64 bits
	float t = round_with(s->rounding, s->inverse != 0.0f ? x * s->inverse : x / s->scale);
	if (isnan(t))
		t = 0.0f;
	if (t >= huge)
		return s->qmax;
	if (t <= -huge)
		return s->qmin;
	return clamp_code((int64_t)t + s->zero, s->qmin, s->qmax);
}

int64_t quantize_one(const struct quantizer *q, int channel, float x)
{
	struct qspan s = qspan_of(q, channel);
	return qspan_code(&s, x);
}

static const struct qspan_table *table(void)
{
#if defined(__x86_64__)
	enum cpu_level level = cpu_level();
	return level >= CPU_AVX512 ? &qspan_avx512 : level >= CPU_AVX2 ? &qspan_avx2 : &qspan_plain;
#else
	return &qspan_plain;
#endif
}

static void store_code(void *y, enum dtype type, int64_t i, int64_t code, const struct qspan *s)
{
	switch (type) {
	case DT_F32: ((float *)y)[i] = (float)(code - s->zero) * s->scale; break;
	case DT_I8: ((int8_t *)y)[i] = (int8_t)code; break;
	case DT_U8: ((uint8_t *)y)[i] = (uint8_t)code; break;
	case DT_I16: ((int16_t *)y)[i] = (int16_t)code; break;
	case DT_U16: ((uint16_t *)y)[i] = (uint16_t)code; break;
	case DT_I32: ((int32_t *)y)[i] = (int32_t)code; break;
	case DT_I64: ((int64_t *)y)[i] = code; break;
	default: assert(!"a type that holds codes");
	}
}

static int64_t load_code(const void *x, enum dtype type, int64_t i)
{
	switch (type) {
	case DT_I8: return ((const int8_t *)x)[i];
	case DT_U8: return ((const uint8_t *)x)[i];
	case DT_I16: return ((const int16_t *)x)[i];
	case DT_U16: return ((const uint16_t *)x)[i];
	case DT_I32: return ((const int32_t *)x)[i];
	case DT_I64: return ((const int64_t *)x)[i];
	default: assert(!"a type that holds codes"); return 0;
	}
}

static void span_codes(struct tensor *dst, const struct tensor *src, int64_t at, int64_t n, const struct qspan *s)
{
	qspan_codes_fn *loop = s->narrow ? table()->codes[dst->type] : NULL;
	const float *x = (const float *)src->data + at;
	void *y = (char *)dst->data + (size_t)at * dtype_size(dst->type);
	if (loop)
		loop(y, x, n, s);
	else
		for (int64_t i = 0; i < n; i++)
			store_code(y, dst->type, i, qspan_code(s, x[i]), s);
}

static void span_values(struct tensor *dst, const struct tensor *src, int64_t at, int64_t n, const struct qspan *s)
{
	qspan_values_fn *loop = s->narrow ? table()->values[src->type] : NULL;
	const void *x = (const char *)src->data + (size_t)at * dtype_size(src->type);
	float *y = (float *)dst->data + at;
	if (loop)
		loop(y, x, n, s);
	else
		for (int64_t i = 0; i < n; i++)
			y[i] = (float)(load_code(x, src->type, i) - s->zero) * s->scale;
}

void quantize_run(void *codes, enum dtype type, const float *x, int64_t n, const struct quantizer *q)
{
	struct tensor dst = {.type = type, .data = codes}, src = {.type = DT_F32, .data = (void *)x};
	struct qspan s = qspan_of(q, 0);
	span_codes(&dst, &src, 0, n, &s);
}

void dequantize_run(float *x, const void *codes, enum dtype type, int64_t n, const struct quantizer *q)
{
	struct tensor dst = {.type = DT_F32, .data = x}, src = {.type = type, .data = (void *)codes};
	struct qspan s = qspan_of(q, 0);
	span_values(&dst, &src, 0, n, &s);
}

struct qruns qruns_of(const struct tensor *t, const struct quantizer *q)
{
	struct qruns r = {.total = tensor_stored(t), .channels = 1};
	int64_t inner = 1;
	r.run = r.total;
	if (q->n <= 1)
		return r;
	assert(q->axis >= 0 && q->axis < t->shape.rank && t->shape.dim[q->axis] == q->n);
	for (int d = q->axis + 1; d < t->shape.rank; d++)
		inner *= t->shape.dim[d];
	r.channels = q->n;
	r.run = inner;
	if (t->layout == LAYOUT_BLOCK) {
		assert(q->axis == 1);
		r.run = 1;
		r.plane = inner;
		r.block = layout_block();
	}
	return r;
}

int qruns_channel(const struct qruns *r, int64_t at)
{
	if (!r->block)
		return (int)(at / r->run % r->channels);
	int64_t blocks = (r->channels + r->block - 1) / r->block;
	int64_t c = at / (r->block * r->plane) % blocks * r->block + at % r->block;
	return (int)(c < r->channels ? c : r->channels - 1);
}

typedef void span_fn(struct tensor *dst, const struct tensor *src, int64_t at, int64_t n, const struct qspan *s);

static void piece(struct tensor *dst, const struct tensor *src, const struct quantizer *q, span_fn *fn,
    const struct qruns *r, int64_t at, int64_t end)
{
	while (at < end) {
		int64_t left = r->run - at % r->run, n = left < end - at ? left : end - at;
		struct qspan s = qspan_of(q, qruns_channel(r, at));
		fn(dst, src, at, n, &s);
		at += n;
	}
}

struct spans {
	struct tensor *dst;
	const struct tensor *src;
	const struct quantizer *q;
	span_fn *fn;
	qrow_codes_fn *codes;   // where runs are of one element, NULL elsewhere: this,
	qrow_values_fn *values; // or this
	struct qruns runs;
};
enum { PIECE = 1 << 16 }; // elements

// Do all channels keep to what the loops over rows of them take?
static bool fits_rows(const struct qruns *r, const struct quantizer *q)
{
	const int64_t reach = 1 << 30;
	bool fits = r->run == 1 && !r->block && r->channels > 1 && q->rounding == ROUND_HALF_EVEN && q->qmin >= -reach && q->qmax <= reach;
	for (int c = 0; c < r->channels && fits; c++)
		fits = qspan_of(q, c).narrow && q->zero[c] >= -reach && q->zero[c] <= reach;
	return fits;
}

static void one_row(const struct spans *s, int64_t at, int64_t n)
{
	const void *x = (const char *)s->src->data + (size_t)at * dtype_size(s->src->type);
	void *y = (char *)s->dst->data + (size_t)at * dtype_size(s->dst->type);
	if (s->codes)
		s->codes(y, x, n, s->q, at % s->runs.channels);
	else
		s->values(y, x, n, s->q, at % s->runs.channels);
}

static void one_piece(void *arg, int64_t i, int thread)
{
	const struct spans *s = arg;
	int64_t at = i * PIECE, end = at + PIECE < s->runs.total ? at + PIECE : s->runs.total, n;
	(void)thread;
	if (!s->codes && !s->values) {
		piece(s->dst, s->src, s->q, s->fn, &s->runs, at, end);
		return;
	}
	for (; at < end; at += n) {
		int64_t left = s->runs.channels - at % s->runs.channels;
		n = left < end - at ? left : end - at;
		one_row(s, at, n);
	}
}

static void each_span(struct tensor *dst, const struct tensor *src, const struct quantizer *q, span_fn *fn, int width)
{
	struct spans s = {.dst = dst, .src = src, .q = q, .fn = fn, .runs = qruns_of(src, q)};
	if (fits_rows(&s.runs, q) && fn == span_codes)
		s.codes = table()->row_codes[dst->type];
	else if (fits_rows(&s.runs, q))
		s.values = table()->row_values[src->type];
	parts_share((s.runs.total + PIECE - 1) / PIECE, width, one_piece, &s);
}

// Casts and the absence of a quantizer: floats to floats.
static void cast(struct tensor *dst, const struct tensor *src, enum quantizer_kind kind)
{
	int64_t n = tensor_stored(src);
	if (kind == QUANT_FP16)
		table()->cast_fp16(dst->data, src->data, n);
	else if (kind == QUANT_BF16)
		table()->cast_bf16(dst->data, src->data, n);
	else if (dst->data != src->data)
		memcpy(dst->data, src->data, (size_t)n * sizeof(float));
}

static void convert(struct tensor *dst, const struct tensor *x, const struct quantizer *q, int width)
{
	if (q->kind == QUANT_LINEAR)
		each_span(dst, x, q, span_codes, width);
	else
		cast(dst, x, q->kind);
}

void quantize(struct tensor *codes, const struct tensor *x, const struct quantizer *q, int width)
{
	assert(x->type == DT_F32 && codes->layout == x->layout);
	convert(codes, x, q, width);
}

void fake_quantize(struct tensor *dst, const struct tensor *x, const struct quantizer *q, int width)
{
	assert(x->type == DT_F32 && dst->type == DT_F32 && dst->layout == x->layout);
	convert(dst, x, q, width);
}

void dequantize(struct tensor *x, const struct tensor *codes, const struct quantizer *q, int width)
{
	assert(x->type == DT_F32 && codes->layout == x->layout);
	if (codes->type == DT_F32)
		cast(x, codes, QUANT_NONE);
	else
		each_span(x, codes, q, span_values, width);
}

void codes_of_weights(int16_t *codes, const struct tensor *x, const struct quantizer *q)
{
	int64_t n = tensor_count(x);
	struct tensor c = {.type = quantizer_dtype(q), .shape = x->shape};
	if (dtype_size(c.type) == sizeof *codes) {
		c.data = codes;
		quantize(&c, x, q, 1);
		return;
	}
	// Bytes in the second half of the codes, then widened from the front.
	c.data = (int8_t *)codes + n;
	quantize(&c, x, q, 1);
	const int8_t *narrow = c.data;
	const uint8_t *plain = c.data;
	if (c.type == DT_U8)
		for (int64_t i = 0; i < n; i++)
			codes[i] = plain[i];
	else
		for (int64_t i = 0; i < n; i++)
			codes[i] = narrow[i];
}

void codes_of_bias(int64_t *codes, const struct tensor *x, const struct quantizer *q)
{
	int64_t n = tensor_count(x);
	for (int64_t i = 0; i < n; i++)
		codes[i] = quantize_one(q, q->n > 1 ? (int)(i % q->n) : 0, ((const float *)x->data)[i]);
}
