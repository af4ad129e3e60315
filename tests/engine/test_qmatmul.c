// Integer products and tables over codes: every processor level gives the bits of the definition.
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "../../src/engine/tensor/cpu.h"
#include "qtui/engine/kernel.h"
#include "support.h"

enum { GUARD = 64 };

struct trial {
	struct qmatmul_task t;
	int16_t *weight;
	void *a, *b;
	int64_t *bias;
	float *scale, *fbias;
	float out_scale;
	int32_t out_zero;
	size_t out_size;
};

static int32_t low_of(enum dtype type)
{
	return type == DT_I8 ? INT8_MIN : type == DT_I16 ? INT16_MIN : 0;
}

static int32_t high_of(enum dtype type)
{
	return low_of(type) + (dtype_size(type) == 1 ? UINT8_MAX : UINT16_MAX);
}

static void *codes(struct support_random *r, enum dtype type, int64_t n)
{
	uint8_t *x = calloc((size_t)n, dtype_size(type));
	for (int64_t i = 0; i < n; i++) {
		int32_t v = support_random_int(r, 0, 7) == 0 ? low_of(type) : support_random_int(r, low_of(type), high_of(type));
		memcpy(x + (size_t)i * dtype_size(type), &v, dtype_size(type)); // the low bytes come first on the machines we know
	}
	return x;
}

static void make(struct support_random *r, struct trial *x, enum dtype a, enum dtype b, bool constant)
{
	struct qmatmul_task *t = &x->t;
	int64_t batch_b;
	t->batch = support_random_int(r, 1, 3);
	t->m = support_random_int(r, 0, 4) ? support_random_int(r, 1, 40) : 1;
	t->n = support_random_int(r, 1, 50);
	t->k = support_random_int(r, 0, 4) ? support_random_int(r, 1, 90) : support_random_int(r, 500, 1500);
	t->trans_a = support_random_int(r, 0, 2) == 0;
	t->trans_b = support_random_int(r, 0, 1);
	t->stride_a = t->m * t->k;
	t->stride_b = support_random_int(r, 0, 1) ? t->n * t->k : 0;
	t->a_type = a;
	t->b_type = b;
	t->a_zero = support_random_int(r, 0, 1) ? support_random_int(r, low_of(a), high_of(a)) : 0;
	t->b_zero = support_random_int(r, 0, 1) ? support_random_int(r, low_of(b), high_of(b)) : 0;
	batch_b = t->stride_b ? t->batch : 1;
	x->a = codes(r, a, t->batch * t->stride_a);
	x->b = codes(r, b, batch_b * t->n * t->k);
	if (constant) {
		t->b_zero = 0;
		x->weight = codes(r, DT_I16, batch_b * t->n * t->k);
		for (int64_t i = 0; i < batch_b * t->n * t->k; i++)
			x->weight[i] = b == DT_I16 ? x->weight[i] : x->weight[i] / 256;
		t->weight = x->weight;
	}
}

static void make_output(struct support_random *r, struct trial *x)
{
	static const struct act acts[] = {{ACT_NONE, 0, 0}, {ACT_RELU, 0, 0}, {ACT_LEAKY, 0.25f, 0}, {ACT_CLIP, -1.0f, 2.5f}};
	struct qmatmul_task *t = &x->t;
	size_t n = (size_t)t->n;
	float size = 0.5f / (float)t->k;
	bool powers = support_random_int(r, 0, 2) == 0; // scales as most of the targets have them
	size /= dtype_size(t->a_type) == 2 ? 256.0f : 1.0f;
	size /= dtype_size(t->b_type) == 2 ? 256.0f : 1.0f;
	x->scale = calloc(n, sizeof(float));
	x->fbias = calloc(n, sizeof(float));
	x->bias = calloc(n, sizeof(int64_t));
	for (size_t i = 0; i < n; i++) {
		x->scale[i] = size * support_random_float(r, 0.1f, 1.0f);
		if (powers)
			x->scale[i] = ldexpf(1.0f, ilogbf(x->scale[i]));
		x->fbias[i] = support_random_float(r, -1.0f, 1.0f);
		x->bias[i] = support_random_int(r, -5000, 5000);
	}
	t->scale = x->scale;
	t->scale_n = support_random_int(r, 0, 1) ? t->n : 1;
	t->fbias = support_random_int(r, 0, 1) ? x->fbias : NULL;
	t->bias = support_random_int(r, 0, 1) ? x->bias : NULL;
	t->act = acts[support_random_int(r, 0, 3)];
	t->to_float = support_random_int(r, 0, 3) == 0;
	x->out_scale = support_random_int(r, 0, 1) ? 0.03125f : 0.021f;
	x->out_zero = support_random_int(r, 0, 1) ? 5 : 0;
	t->out_quant = (struct quantizer){.kind = QUANT_LINEAR, .axis = -1, .n = 1, .qmin = -128, .qmax = 127, .scale = &x->out_scale,
		.zero = &x->out_zero, .rounding = support_random_int(r, 0, 1) ? ROUND_HALF_EVEN : ROUND_HALF_UP};
	x->out_size = (size_t)(t->batch * t->m * t->n) * (t->to_float ? sizeof(float) : 1);
}

static void done(struct trial *x)
{
	free(x->weight);
	free(x->a);
	free(x->b);
	free(x->bias);
	free(x->scale);
	free(x->fbias);
}

static uint8_t *run(const struct trial *x, enum kernel_backend backend, int width)
{
	struct error err = {0};
	struct kernel *k;
	uint8_t *y = malloc(x->out_size + 2 * GUARD);
	if (kernel_qmatmul(&k, backend, &x->t, &err) != STATUS_OK)
		fail_msg("backend %d refuses: %s", (int)backend, err.text);
	memset(y, 0x5a, x->out_size + 2 * GUARD);
	size_t need = kernel_scratch(k, width);
	void *scratch = need ? aligned_alloc(64, (need + 63) / 64 * 64) : NULL;
	kernel_run(k, &(struct kernel_io){.x = x->a, .w = x->b, .y = y + GUARD, .scratch = scratch, .width = width});
	for (size_t i = 0; i < GUARD; i++)
		assert_true(y[i] == 0x5a && y[GUARD + x->out_size + i] == 0x5a);
	free(scratch);
	kernel_free(&k);
	return y;
}

static void check(const struct trial *x)
{
	uint8_t *want = run(x, BACKEND_REF, 1);
	for (int level = CPU_PLAIN; level < CPU_LEVELS; level++) {
		cpu_limit((enum cpu_level)level);
		for (int width = 1; width <= SUPPORT_WIDTH(2); width++) {
			uint8_t *got = run(x, BACKEND_ONEDNN, width);
			if (memcmp(got, want, x->out_size + 2 * GUARD) != 0)
				fail_msg("level %d width %d: batch %d m %d n %d k %d trans %d %d types %d %d zeros %d %d", level, width,
				    (int)x->t.batch, (int)x->t.m, (int)x->t.n, (int)x->t.k, x->t.trans_a, x->t.trans_b, (int)x->t.a_type,
				    (int)x->t.b_type, x->t.a_zero, x->t.b_zero);
			free(got);
		}
	}
	free(want);
}

static void trials(int n, uint64_t seed, enum dtype a, enum dtype b, bool constant)
{
	struct support_random r = {seed};
	for (int i = 0; i < n; i++) {
		struct trial x = {0};
		make(&r, &x, a, b, constant);
		make_output(&r, &x);
		check(&x);
		done(&x);
	}
}

void test_qmatmul__constant_weights(void **state)
{
	trials(80, 1, DT_I8, DT_I8, true);
	trials(40, 2, DT_U8, DT_I8, true);
}

void test_qmatmul__two_activations(void **state)
{
	trials(60, 3, DT_I8, DT_I8, false);
	trials(60, 4, DT_U8, DT_U8, false);
}

void test_qmatmul__sixteen_bits(void **state)
{
	trials(40, 5, DT_I16, DT_I8, true);
	trials(40, 6, DT_I16, DT_I16, true);
	trials(40, 7, DT_I16, DT_I16, false);
	trials(40, 8, DT_U16, DT_U8, false);
}

void test_qmatmul__ref_is_the_definition(void **state)
{
	struct support_random r = {9};
	for (int i = 0; i < 30; i++) {
		struct trial x = {0};
		make(&r, &x, DT_I8, DT_U8, false);
		make_output(&r, &x);
		struct qmatmul_task *t = &x.t;
		t->to_float = true;
		t->act.kind = ACT_NONE;
		x.out_size = (size_t)(t->batch * t->m * t->n) * sizeof(float);
		uint8_t *y = run(&x, BACKEND_REF, 1);
		for (int64_t e = 0; e < t->batch * t->m * t->n; e++) {
			int64_t col = e % t->n, row = e / t->n % t->m, batch = e / (t->n * t->m), acc = t->bias ? t->bias[col] : 0;
			for (int64_t k = 0; k < t->k; k++) {
				int64_t at_a = batch * t->stride_a + (t->trans_a ? k * t->m + row : row * t->k + k);
				int64_t at_b = batch * t->stride_b + (t->trans_b ? col * t->k + k : k * t->n + col);
				acc += (int64_t)(((int8_t *)x.a)[at_a] - t->a_zero) * (((uint8_t *)x.b)[at_b] - t->b_zero);
			}
			float want = (float)acc * t->scale[t->scale_n == 1 ? 0 : col] + (t->fbias ? t->fbias[col] : 0.0f);
			assert_true(((float *)(y + GUARD))[e] == want);
		}
		free(y);
		done(&x);
	}
}

void test_qlut__every_entry_and_every_length(void **state)
{
	struct support_random r = {10};
	enum { LONG = 170001 };
	uint8_t lut[256], x[600], y[600 + 64], *many = malloc(3 * LONG), *same = many + LONG, *wide = same + LONG;
	for (int i = 0; i < 256; i++)
		lut[i] = (uint8_t)support_random_int(&r, 0, 255);
	for (int i = 0; i < 600; i++)
		x[i] = (uint8_t)(i < 256 ? i : support_random_int(&r, 0, 255));
	for (int level = CPU_PLAIN; level < CPU_LEVELS; level++) {
		cpu_limit((enum cpu_level)level);
		for (int n = 0; n <= 600; n++) {
			memset(y, 0xee, sizeof y);
			elt_lut8(lut, x, y, n, 1);
			for (int i = 0; i < n; i++)
				assert_int_equal(y[i], lut[x[i]]);
			assert_int_equal(y[n], 0xee);
		}
	}
	for (int i = 0; i < LONG; i++)
		many[i] = (uint8_t)support_random_int(&r, 0, 255);
	elt_lut8(lut, many, same, LONG, 1);
	elt_lut8(lut, many, wide, LONG, 2);
	assert_memory_equal(same, wide, LONG);
	free(many);
}
