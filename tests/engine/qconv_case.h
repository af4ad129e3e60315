// Shared by the tests of integer convolutions: a task with random data,
// and the comparison of every processor level with ref.
#ifndef TESTS_ENGINE_QCONV_CASE_H
#define TESTS_ENGINE_QCONV_CASE_H

#include <setjmp.h>
#include <stdarg.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "../../src/engine/tensor/cpu.h"
#include "qtui/engine/kernel.h"
#include "support.h"

enum { GUARD = 64 };

// A task with all that it borrows.
struct trial {
	struct qconv_task t;
	bool wide; // weights of 16 bits, else of 8
	int16_t *weight;
	int64_t *bias;
	float *scale, *fbias;
	float out_scale;
	int32_t out_zero;
	void *x;
	size_t in_elems, out_elems, out_size;
};

static inline size_t stored(enum layout l, int64_t n, int64_t c, int64_t plane)
{
	int64_t block = l == LAYOUT_BLOCK ? layout_block() : 1;
	return (size_t)(n * ((c + block - 1) / block * block) * plane);
}

static inline size_t place(enum layout l, int64_t channels, int64_t plane, int64_t n, int64_t c, int64_t p)
{
	int64_t block = l == LAYOUT_BLOCK ? layout_block() : 1, blocks = (channels + block - 1) / block;
	return (size_t)(((n * blocks + c / block) * plane + p) * block + c % block);
}

static inline void code_limits(enum dtype type, int32_t *low, int32_t *high)
{
	int bits = dtype_size(type) == 1 ? 8 : 16;
	bool is_signed = type == DT_I8 || type == DT_I16;
	*low = is_signed ? -(1 << (bits - 1)) : 0;
	*high = *low + (1 << bits) - 1;
}

static inline void put_code(void *x, enum dtype type, size_t i, int32_t v)
{
	if (dtype_size(type) == 1)
		((uint8_t *)x)[i] = (uint8_t)v;
	else
		((uint16_t *)x)[i] = (uint16_t)v;
}

static inline int32_t get_code(const void *x, enum dtype type, size_t i)
{
	switch (type) {
	case DT_I8: return ((const int8_t *)x)[i];
	case DT_U8: return ((const uint8_t *)x)[i];
	case DT_I16: return ((const int16_t *)x)[i];
	default: return ((const uint16_t *)x)[i];
	}
}

static inline void make_input(struct support_random *r, struct trial *b)
{
	const struct conv_geometry *g = &b->t.g;
	int32_t low, high;
	code_limits(b->t.in_type, &low, &high);
	b->in_elems = stored(b->t.in, g->n, g->c, g->h * g->w);
	b->x = calloc(b->in_elems, dtype_size(b->t.in_type));
	for (size_t i = 0; i < b->in_elems; i++)
		put_code(b->x, b->t.in_type, i, b->t.in_zero);
	for (int64_t n = 0; n < g->n; n++)
		for (int64_t c = 0; c < g->c; c++)
			for (int64_t p = 0; p < g->h * g->w; p++) {
				int edge = support_random_int(r, 0, 9);
				int32_t v = edge == 0 ? low : edge == 1 ? high : support_random_int(r, low, high);
				put_code(b->x, b->t.in_type, place(b->t.in, g->c, g->h * g->w, n, c, p), v);
			}
}

static inline void make_weights(struct support_random *r, struct trial *b)
{
	const struct conv_geometry *g = &b->t.g;
	size_t n = (size_t)(g->oc * (g->c / g->group) * g->kh * g->kw);
	int high = b->wide ? 32767 : 127;
	b->weight = calloc(n, sizeof *b->weight);
	for (size_t i = 0; i < n; i++)
		b->weight[i] = (int16_t)(support_random_int(r, 0, 9) == 0 ? -high - 1 : support_random_int(r, -high - 1, high));
	b->t.weight = b->weight;
}

static inline void make_channels(struct support_random *r, struct trial *b)
{
	size_t oc = (size_t)b->t.g.oc;
	double size = (double)(b->t.g.kh * b->t.g.kw * (b->t.g.c / b->t.g.group));
	bool powers = support_random_int(r, 0, 2) == 0; // scales as most of the targets have them
	b->bias = calloc(oc, sizeof *b->bias);
	b->scale = calloc(oc, sizeof *b->scale);
	b->fbias = calloc(oc, sizeof *b->fbias);
	for (size_t i = 0; i < oc; i++) {
		b->bias[i] = support_random_int(r, -3000, 3000);
		b->scale[i] = support_random_int(r, 0, 1) ? 0.0009765625f : support_random_float(r, 0.0001f, 0.002f);
		b->scale[i] *= (float)(16.0 / (8.0 + size));
		if (powers)
			b->scale[i] = ldexpf(1.0f, ilogbf(b->scale[i]));
		if (dtype_size(b->t.in_type) == 2)
			b->scale[i] /= 256.0f;
		if (b->wide)
			b->scale[i] /= 256.0f;
		b->fbias[i] = support_random_float(r, -1.0f, 1.0f);
	}
	b->t.bias = support_random_int(r, 0, 2) ? b->bias : NULL;
	b->t.fbias = support_random_int(r, 0, 3) ? NULL : b->fbias;
	b->t.scale = b->scale;
}

static inline void make_output(struct support_random *r, struct trial *b)
{
	static const struct act acts[] = {{ACT_NONE, 0, 0}, {ACT_NONE, 0, 0}, {ACT_RELU, 0, 0}, {ACT_CLIP, 0.0f, 6.0f},
		{ACT_CLIP, -0.37f, 0.9f}, {ACT_LEAKY, 0.1f, 0}};
	static const enum dtype types[] = {DT_I8, DT_U8, DT_I8, DT_I16};
	struct quantizer *q = &b->t.out_quant;
	enum dtype type = types[support_random_int(r, 0, 3)];
	int32_t low, high;
	code_limits(type, &low, &high);
	b->out_scale = support_random_int(r, 0, 2) ? 0.0625f : support_random_float(r, 0.01f, 0.1f);
	if (type == DT_I16)
		b->out_scale /= 64.0f;
	b->out_zero = type == DT_U8 || support_random_int(r, 0, 3) == 0 ? support_random_int(r, low, high) : 0;
	*q = (struct quantizer){.kind = QUANT_LINEAR, .bits = 8, .axis = -1, .n = 1, .qmin = low, .qmax = high,
		.scale = &b->out_scale, .zero = &b->out_zero};
	q->rounding = support_random_int(r, 0, 1) ? ROUND_HALF_EVEN : (enum rounding)support_random_int(r, ROUND_HALF_EVEN, ROUND_DOWN);
	b->t.act = acts[support_random_int(r, 0, 5)];
	b->t.to_float = support_random_int(r, 0, 5) == 0;
	b->out_elems = stored(b->t.out, b->t.g.n, b->t.g.oc, b->t.g.oh * b->t.g.ow);
	b->out_size = b->out_elems * (b->t.to_float ? sizeof(float) : dtype_size(quantizer_dtype(q)));
}

static inline void trial_fill(struct support_random *r, struct trial *b)
{
	make_input(r, b);
	make_weights(r, b);
	make_channels(r, b);
	make_output(r, b);
}

static inline void trial_done(struct trial *b)
{
	free(b->x);
	free(b->weight);
	free(b->bias);
	free(b->scale);
	free(b->fbias);
}

// Output bytes between guards that must stay as they are.
static inline uint8_t *trial_run(const struct trial *b, enum kernel_backend backend, int width)
{
	struct error err = {0};
	struct kernel *k;
	uint8_t *y = malloc(b->out_size + 2 * GUARD);
	enum status s = kernel_qconv(&k, backend, &b->t, &err);
	if (s != STATUS_OK)
		fail_msg("backend %d refuses: %s", (int)backend, err.text);
	memset(y, 0xa5, b->out_size + 2 * GUARD);
	size_t need = kernel_scratch(k, width);
	void *scratch = need ? aligned_alloc(64, (need + 63) / 64 * 64) : NULL;
	kernel_run(k, &(struct kernel_io){.x = b->x, .y = y + GUARD, .scratch = scratch, .width = width});
	for (size_t i = 0; i < GUARD; i++)
		assert_true(y[i] == 0xa5 && y[GUARD + b->out_size + i] == 0xa5);
	free(scratch);
	kernel_free(&k);
	return y;
}

static inline void trial_check(const struct trial *b)
{
	const struct conv_geometry *g = &b->t.g;
	uint8_t *want = trial_run(b, BACKEND_REF, 1);
	for (int level = CPU_PLAIN; level < CPU_LEVELS; level++) {
		cpu_limit((enum cpu_level)level);
		for (int width = 1; width <= SUPPORT_WIDTH(2); width++) {
			uint8_t *got = trial_run(b, BACKEND_ONEDNN, width);
			if (memcmp(got, want, b->out_size + 2 * GUARD) != 0)
				fail_msg("level %d width %d: n %d c %d h %d w %d oc %d k %dx%d s %dx%d d %dx%d p %d %d g %d o %dx%d "
					"%s in %d bits %d layouts %d %d", level, width, (int)g->n, (int)g->c, (int)g->h, (int)g->w,
				    (int)g->oc, (int)g->kh, (int)g->kw, (int)g->stride_h, (int)g->stride_w, (int)g->dil_h, (int)g->dil_w,
				    (int)g->pad_t, (int)g->pad_l, (int)g->group, (int)g->oh, (int)g->ow, b->t.transposed ? "transposed" : "",
				    (int)b->t.in_type, b->wide ? 16 : 8, (int)b->t.in, (int)b->t.out);
			free(got);
		}
	}
	free(want);
}

// c, oc, size, kernel, stride, group; padding keeps the size
static inline struct conv_geometry square(int64_t c, int64_t oc, int64_t size, int64_t k, int64_t stride, int64_t group)
{
	int64_t pad = k / 2, out = (size + 2 * pad - k) / stride + 1;
	return (struct conv_geometry){.n = 1, .c = c, .h = size, .w = size, .oc = oc, .kh = k, .kw = k, .oh = out, .ow = out,
		.stride_h = stride, .stride_w = stride, .dil_h = 1, .dil_w = 1, .pad_t = pad, .pad_l = pad, .pad_b = pad, .pad_r = pad,
		.group = group};
}

#endif
