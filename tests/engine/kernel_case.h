// Shared by the tests of kernels: buffers with guards, random convolutions, runs of a kernel on them.
#ifndef TESTS_ENGINE_KERNEL_CASE_H
#define TESTS_ENGINE_KERNEL_CASE_H

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "qtui/engine/kernel.h"
#include "support.h"

#define GUARD 64 // bytes on either side
#define GUARD_BYTE 0xff // as floats: NaN

// An array between guards, 64-byte aligned, filled with the guard's byte as well, so that what is not written shows.
static inline void *guarded_new(size_t bytes)
{
	char *p = aligned_alloc(64, (bytes + 2 * GUARD + 63) / 64 * 64);
	assert_non_null(p);
	memset(p, GUARD_BYTE, bytes + 2 * GUARD);
	return p + GUARD;
}

static inline void guarded_free(void *p, size_t bytes)
{
	unsigned char *start = (unsigned char *)p - GUARD;
	for (int i = 0; i < GUARD; i++) {
		assert_int_equal(start[i], GUARD_BYTE);
		assert_int_equal(start[GUARD + bytes + i], GUARD_BYTE);
	}
	free(start);
}

static inline float *random_floats(struct support_random *r, int64_t n, float size)
{
	float *x = calloc((size_t)n + 1, sizeof *x);
	support_random_floats(r, x, (size_t)n, -size, size);
	return x;
}

// A tensor's floats in another layout; `channels`, `h`, `w` of `n` images. The caller frees.
static inline float *to_layout(const float *x, enum layout from, enum layout to, int64_t n, int64_t c, int64_t h, int64_t w)
{
	struct tensor src = {DT_F32, from, shape_of(4, (int64_t[]){n, c, h, w}), (void *)x, NULL};
	struct tensor dst = src;
	dst.layout = to;
	dst.data = aligned_alloc(64, ((size_t)tensor_stored(&dst) * sizeof(float) + 127) / 64 * 64);
	if (from == to)
		memcpy(dst.data, x, (size_t)tensor_stored(&dst) * sizeof(float));
	else
		tensor_reorder(&dst, &src, 1);
	return dst.data;
}

static inline int64_t stored_floats(enum layout l, int64_t n, int64_t c, int64_t h, int64_t w)
{
	struct tensor t = {DT_F32, l, shape_of(4, (int64_t[]){n, c, h, w}), NULL, NULL};
	return tensor_stored(&t);
}

// Runs with scratch memory of exactly the size that the kernel asked for, between guards.
static inline void run_kernel(const struct kernel *k, const void *x, const void *w, const void *residual, void *y, int width)
{
	size_t bytes = kernel_scratch(k, width);
	void *scratch = guarded_new(bytes);
	kernel_run(k, &(struct kernel_io){x, w, residual, y, scratch, width});
	guarded_free(scratch, bytes);
}

struct conv_case {
	struct conv_task t;
	float *weight, *bias, *x, *residual; // plain layout
};

static inline int64_t conv_size(int64_t in, int64_t k, int64_t stride, int64_t dil, int64_t pad, bool transposed)
{
	int64_t reach = (k - 1) * dil + 1;
	return transposed ? (in - 1) * stride + reach - pad : (in + pad - reach) / stride + 1;
}

// Data for the geometry; oh and ow are filled in.
static inline struct conv_case conv_case_new(struct support_random *r, struct conv_task t, bool bias)
{
	struct conv_geometry *g = &t.g;
	g->oh = conv_size(g->h, g->kh, g->stride_h, g->dil_h, g->pad_t + g->pad_b, t.transposed);
	g->ow = conv_size(g->w, g->kw, g->stride_w, g->dil_w, g->pad_l + g->pad_r, t.transposed);
	int64_t taps = (t.transposed ? g->oc : g->c) / g->group * g->kh * g->kw;
	struct conv_case c = {t, NULL, NULL, NULL, NULL};
	c.weight = random_floats(r, g->oc * (g->c / g->group) * g->kh * g->kw, 3.0f / sqrtf((float)taps));
	c.bias = bias ? random_floats(r, g->oc, 1.0f) : NULL;
	c.x = random_floats(r, g->n * g->c * g->h * g->w, 1.0f);
	c.residual = random_floats(r, g->n * g->oc * g->oh * g->ow, 1.0f);
	c.t.weight = c.weight;
	c.t.bias = c.bias;
	return c;
}

static inline void conv_case_free(struct conv_case *c)
{
	free(c->weight);
	free(c->bias);
	free(c->x);
	free(c->residual);
}

static inline bool conv_is_valid(const struct conv_geometry *g, bool transposed)
{
	return conv_size(g->h, g->kh, g->stride_h, g->dil_h, g->pad_t + g->pad_b, transposed) > 0 &&
	    conv_size(g->w, g->kw, g->stride_w, g->dil_w, g->pad_l + g->pad_r, transposed) > 0 &&
	    (transposed || (g->h + g->pad_t + g->pad_b > (g->kh - 1) * g->dil_h &&
	                    g->w + g->pad_l + g->pad_r > (g->kw - 1) * g->dil_w));
}

// A random geometry: small, with asymmetric pads, strides, dilations, groups and every remainder of channels.
static inline struct conv_task random_conv(struct support_random *r, bool transposed)
{
	struct conv_task t = {.transposed = transposed};
	struct conv_geometry *g = &t.g;
	do {
		int group = support_random_int(r, 0, 2) ? 1 : support_random_int(r, 2, 20);
		bool depthwise = group > 1 && support_random_int(r, 0, 1);
		*g = (struct conv_geometry){
			.n = support_random_int(r, 1, 2), .h = support_random_int(r, 1, 12), .w = support_random_int(r, 1, 15),
			.c = group * (depthwise ? 1 : support_random_int(r, 1, group > 1 ? 6 : 40)),
			.oc = group * (depthwise ? 1 : support_random_int(r, 1, group > 1 ? 6 : 40)),
			.kh = support_random_int(r, 1, 5), .kw = support_random_int(r, 1, 5), .group = group,
			.stride_h = support_random_int(r, 1, 3), .stride_w = support_random_int(r, 1, 3),
			.dil_h = support_random_int(r, 1, 2), .dil_w = support_random_int(r, 1, 2),
		};
		g->pad_t = support_random_int(r, 0, (int)g->kh - 1);
		g->pad_l = support_random_int(r, 0, (int)g->kw - 1);
		g->pad_b = support_random_int(r, 0, (int)g->kh - 1);
		g->pad_r = support_random_int(r, 0, (int)g->kw - 1);
	} while (!conv_is_valid(g, transposed));
	t.epi.act = (struct act){(enum act_kind)support_random_int(r, ACT_NONE, ACT_GELU), 0.2f, 0.7f};
	t.epi.add = (enum add_kind)support_random_int(r, ADD_NONE, ADD_AFTER);
	return t;
}

// The result in plain layout, which the caller frees; NULL when the backend has no kernel.
// Checks guards, padding, and that every width up to `widths` gives the same bits.
static inline float *conv_result(const struct conv_case *c, enum kernel_backend b, enum layout in, enum layout out, int widths)
{
	const struct conv_geometry *g = &c->t.g;
	struct conv_task t = c->t;
	struct kernel *k;
	struct error err = {0};
	t.in = in;
	t.out = out;
	enum status s = kernel_conv(&k, b, &t, &err);
	if (s == STATUS_UNSUPPORTED)
		return NULL;
	assert_int_equal(s, STATUS_OK);
	float *x = to_layout(c->x, LAYOUT_PLAIN, in, g->n, g->c, g->h, g->w);
	float *residual = to_layout(c->residual, LAYOUT_PLAIN, out, g->n, g->oc, g->oh, g->ow);
	int64_t stored = stored_floats(out, g->n, g->oc, g->oh, g->ow), block = layout_block(), blocks = (g->oc + block - 1) / block;
	size_t bytes = (size_t)stored * sizeof(float);
	float *y = guarded_new(bytes);
	run_kernel(k, x, NULL, t.epi.add ? residual : NULL, y, 1);
	for (int width = 2; width <= SUPPORT_WIDTH(widths); width++) {
		float *wide = guarded_new(bytes);
		run_kernel(k, x, NULL, t.epi.add ? residual : NULL, wide, width);
		assert_memory_equal(wide, y, bytes);
		guarded_free(wide, bytes);
	}
	for (int64_t i = 0; out == LAYOUT_BLOCK && i < stored; i++)
		if (i / (block * g->oh * g->ow) % blocks * block + i % block >= g->oc)
			assert_true(y[i] == 0.0f);
	float *plain = to_layout(y, out, LAYOUT_PLAIN, g->n, g->oc, g->oh, g->ow);
	guarded_free(y, bytes);
	free(x);
	free(residual);
	kernel_free(&k);
	assert_null(k);
	return plain;
}

static inline void assert_close(const float *a, const float *b, int64_t n, float tolerance)
{
	for (int64_t i = 0; i < n; i++)
		if (!(fabsf(a[i] - b[i]) <= tolerance * (1.0f + fabsf(b[i]))))
			fail_msg("element %lld: %.9g, expected %.9g", (long long)i, (double)a[i], (double)b[i]);
}

// A convolution that one maker of the onednn backend must take, in blocks, against ref.
// Guards, padding channels and the same bits for any width are looked at by conv_result.
typedef enum status conv_maker(struct kernel **out, const struct conv_task *t, struct error *err);

static inline bool is_made_by(conv_maker *maker, const struct conv_task *t)
{
	struct kernel *k = NULL;
	struct error err;
	enum status s = maker(&k, t, &err);
	kernel_free(&k);
	return s == STATUS_OK;
}

static inline void check_made_by(conv_maker *maker, struct support_random *r, struct conv_task t, bool bias)
{
	struct conv_case c = conv_case_new(r, t, bias);
	assert_true(is_made_by(maker, &c.t));
	float *expected = conv_result(&c, BACKEND_REF, LAYOUT_PLAIN, LAYOUT_PLAIN, 1);
	float *y = conv_result(&c, BACKEND_ONEDNN, LAYOUT_BLOCK, LAYOUT_BLOCK, 3);
	assert_close(y, expected, t.g.n * t.g.oc * c.t.g.oh * c.t.g.ow, 1e-5f);
	free(y);
	free(expected);
	conv_case_free(&c);
}

#endif
