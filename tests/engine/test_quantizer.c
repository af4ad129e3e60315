// Values to codes and back: rounding, saturation, scales per channel, casts; every loop against one value at a time.
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "../../src/engine/tensor/cpu.h"
#include "qtui/engine/quantizer.h"
#include "support.h"

static const float one[] = {1.0f};
static const int32_t none[] = {0};

static struct quantizer linear(const float *scale, const int32_t *zero, int64_t qmin, int64_t qmax)
{
	return (struct quantizer){.kind = QUANT_LINEAR, .bits = 8, .qmin = qmin, .qmax = qmax, .axis = -1, .n = 1,
		.scale = scale, .zero = zero};
}

static struct tensor tensor(enum dtype type, enum layout layout, int rank, const int64_t *dim)
{
	struct error err;
	struct tensor t = {.type = type, .layout = layout, .shape = shape_of(rank, dim)};
	assert_int_equal(tensor_alloc(&t, NULL, &err), STATUS_OK);
	return t;
}

static uint32_t seed;
static float noise(void) // -1 .. 1
{
	seed = seed * 1664525u + 1013904223u;
	return (float)(seed >> 8) / 8388608.0f - 1.0f;
}

// Values on, near and between all half-way points, and the odd ones.
static void fill(float *x, int64_t n, float reach)
{
	static const float odd[] = {NAN, INFINITY, -INFINITY, -0.0f, 3e38f, -3e38f, 1e-40f, 0.49999997f, -0.49999997f};
	for (int64_t i = 0; i < n; i++) {
		float u = noise() * reach;
		x[i] = i % 3 == 0 ? rintf(2.0f * u) / 2.0f : i % 3 == 1 ? nextafterf(rintf(2.0f * u) / 2.0f, u) : u;
	}
	for (size_t i = 0; i < sizeof odd / sizeof odd[0] && (int64_t)i < n; i++)
		x[(i * 37) % (size_t)n] = odd[i];
}

static int64_t code_at(const struct tensor *t, int64_t i)
{
	switch (t->type) {
	case DT_I8: return ((int8_t *)t->data)[i];
	case DT_U8: return ((uint8_t *)t->data)[i];
	case DT_I16: return ((int16_t *)t->data)[i];
	case DT_U16: return ((uint16_t *)t->data)[i];
	case DT_I32: return ((int32_t *)t->data)[i];
	default: return ((int64_t *)t->data)[i];
	}
}

void test_quantizer__every_rounding_at_half_way_points(void **state)
{
	static const struct {
		enum rounding r;
		float x[8], want[8];
	} rows[] = {
		{ROUND_HALF_EVEN, {-2.5f, -1.5f, -0.5f, 0.5f, 1.5f, 2.5f, 2.51f, -2.51f}, {-2, -2, 0, 0, 2, 2, 3, -3}},
		{ROUND_HALF_UP, {-2.5f, -1.5f, -0.5f, 0.5f, 1.5f, 2.5f, 2.49f, -2.51f}, {-2, -1, 0, 1, 2, 3, 2, -3}},
		{ROUND_HALF_DOWN, {-2.5f, -1.5f, -0.5f, 0.5f, 1.5f, 2.5f, 2.51f, -2.49f}, {-3, -2, -1, 0, 1, 2, 3, -2}},
		{ROUND_HALF_TOWARDS_ZERO, {-2.5f, -1.5f, -0.5f, 0.5f, 1.5f, 2.5f, 2.51f, -2.51f}, {-2, -1, 0, 0, 1, 2, 3, -3}},
		{ROUND_HALF_FAR_FROM_ZERO, {-2.5f, -1.5f, -0.5f, 0.5f, 1.5f, 2.5f, 2.49f, -2.49f}, {-3, -2, -1, 1, 2, 3, 2, -2}},
		{ROUND_UP, {-2.5f, -1.0f, -0.5f, 0.5f, 1.0f, 2.1f, 0.0f, -2.9f}, {-2, -1, 0, 1, 1, 3, 0, -2}},
		{ROUND_DOWN, {-2.5f, -1.0f, -0.5f, 0.5f, 1.0f, 2.9f, 0.0f, -2.1f}, {-3, -1, -1, 0, 1, 2, 0, -3}},
	};
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct quantizer q = linear(one, none, -128, 127);
		q.rounding = rows[i].r;
		for (int j = 0; j < 8; j++)
			assert_int_equal(quantize_one(&q, 0, rows[i].x[j]), (int64_t)rows[i].want[j]);
	}
}

void test_quantizer__types_follow_the_range(void **state)
{
	static const struct {
		int64_t min, max;
		enum dtype type;
	} rows[] = {
		{-128, 127, DT_I8}, {-127, 127, DT_I8}, {-8, 7, DT_I8}, {0, 255, DT_U8}, {0, 127, DT_U8},
		{-32768, 32767, DT_I16}, {0, 65535, DT_U16}, {-524288, 524287, DT_I32},
		{INT32_MIN, INT32_MAX, DT_I32}, {-((int64_t)1 << 39), ((int64_t)1 << 39) - 1, DT_I64},
	};
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct quantizer q = linear(one, none, rows[i].min, rows[i].max);
		assert_int_equal(quantizer_dtype(&q), rows[i].type);
	}
	assert_int_equal(quantizer_dtype(&(struct quantizer){.kind = QUANT_BF16}), DT_F32);
}

void test_quantizer__all_codes_survive_a_round_trip(void **state)
{
	static const struct {
		int64_t min, max;
		int32_t zero;
	} ranges[] = {{-128, 127, 0}, {0, 255, 128}, {0, 255, 3}, {-128, 127, -128}, {-32768, 32767, 0}, {0, 65535, 1000}};
	static const float scales[] = {1.0f, 0.0625f, 0.1f, 0.0078431377f, 3.7e-5f, 16.0f};
	for (size_t r = 0; r < sizeof ranges / sizeof ranges[0]; r++) {
		for (size_t s = 0; s < sizeof scales / sizeof scales[0]; s++) {
			int64_t n = ranges[r].max - ranges[r].min + 1;
			struct quantizer q = linear(&scales[s], &ranges[r].zero, ranges[r].min, ranges[r].max);
			struct tensor c = tensor(quantizer_dtype(&q), LAYOUT_PLAIN, 1, &n), x = tensor(DT_F32, LAYOUT_PLAIN, 1, &n);
			for (int64_t i = 0; i < n; i++)
				((float *)x.data)[i] = (float)(ranges[r].min + i - ranges[r].zero) * scales[s];
			for (int round = ROUND_HALF_EVEN; round <= ROUND_HALF_FAR_FROM_ZERO; round++) {
				q.rounding = (enum rounding)round;
				quantize(&c, &x, &q, 1);
				for (int64_t i = 0; i < n; i++)
					assert_int_equal(code_at(&c, i), ranges[r].min + i);
			}
			struct tensor back = tensor(DT_F32, LAYOUT_PLAIN, 1, &n);
			dequantize(&back, &c, &q, 1);
			assert_memory_equal(back.data, x.data, (size_t)n * sizeof(float));
			tensor_drop(&back);
			tensor_drop(&c);
			tensor_drop(&x);
		}
	}
}

void test_quantizer__saturates_and_gives_nan_the_zero_code(void **state)
{
	const int32_t zero = 5;
	const float scale = 0.5f;
	struct quantizer q = linear(&scale, &zero, -128, 127), wide = linear(&scale, none, INT32_MIN, INT32_MAX);
	assert_int_equal(quantize_one(&q, 0, NAN), 5);
	assert_int_equal(quantize_one(&q, 0, INFINITY), 127);
	assert_int_equal(quantize_one(&q, 0, -INFINITY), -128);
	assert_int_equal(quantize_one(&q, 0, 61.0f), 127);
	assert_int_equal(quantize_one(&q, 0, 61.5f), 127);
	assert_int_equal(quantize_one(&q, 0, 60.5f), 126);
	assert_int_equal(quantize_one(&wide, 0, 3e38f), INT32_MAX);
	assert_int_equal(quantize_one(&wide, 0, -3e38f), INT32_MIN);
	assert_int_equal(quantize_one(&wide, 0, 123456.5f), 246913);
}

// Every loop, on every processor level, against quantize_one.
static void check_loops(const struct quantizer *q, float reach)
{
	const int64_t n = 1531;
	struct tensor x = tensor(DT_F32, LAYOUT_PLAIN, 1, &n), c = tensor(quantizer_dtype(q), LAYOUT_PLAIN, 1, &n);
	struct tensor fake = tensor(DT_F32, LAYOUT_PLAIN, 1, &n), back = tensor(DT_F32, LAYOUT_PLAIN, 1, &n);
	fill(x.data, n, reach);
	for (int level = CPU_PLAIN; level < CPU_LEVELS; level++) {
		cpu_limit((enum cpu_level)level);
		quantize(&c, &x, q, level == CPU_PLAIN ? 1 : 2);
		for (int64_t i = 0; i < n; i++)
			assert_int_equal(code_at(&c, i), quantize_one(q, 0, ((float *)x.data)[i]));
		dequantize(&back, &c, q, 1);
		memcpy(fake.data, x.data, (size_t)n * sizeof(float));
		fake_quantize(&fake, &fake, q, 1);
		assert_memory_equal(back.data, fake.data, (size_t)n * sizeof(float));
	}
	tensor_drop(&x);
	tensor_drop(&c);
	tensor_drop(&fake);
	tensor_drop(&back);
}

void test_quantizer__loops_give_the_bits_of_one_value(void **state)
{
	static const float scales[] = {1.0f, 0.5f, 0.3f, 1.0f / 3.0f, 2.0f};
	static const struct {
		int64_t min, max;
		int32_t zero;
	} ranges[] = {{-128, 127, 0}, {0, 255, 128}, {-32768, 32767, 7}, {0, 65535, 32768}, {-524288, 524287, 0},
		{INT32_MIN, INT32_MAX, 0}};
	for (size_t r = 0; r < sizeof ranges / sizeof ranges[0]; r++)
		for (size_t s = 0; s < sizeof scales / sizeof scales[0]; s++)
			for (int round = ROUND_HALF_EVEN; round <= ROUND_DOWN; round++) {
				struct quantizer q = linear(&scales[s], &ranges[r].zero, ranges[r].min, ranges[r].max);
				q.rounding = (enum rounding)round;
				check_loops(&q, (float)ranges[r].max * 1.3f);
			}
}

void test_quantizer__dividing_is_not_multiplying_by_the_inverse(void **state)
{
	const float scale = 0.3f;
	struct quantizer q = linear(&scale, none, -32768, 32767);
	int differ = 0;
	for (int i = 0; i < 32767; i++) {
		float x = ((float)i + 0.5f) * scale;
		assert_int_equal(quantize_one(&q, 0, x), (int64_t)rintf(x / scale));
		differ += rintf(x / scale) != rintf(x * (1.0f / scale));
	}
	assert_true(differ > 0); // else the check above shows nothing
}

void test_quantizer__scales_per_channel(void **state)
{
	const int64_t dim[] = {2, 5, 3, 4};
	float scale[5] = {0.5f, 0.25f, 0.1f, 1.0f, 2.0f};
	int32_t zero[5] = {0, 3, -7, 1, 0};
	for (int axis = 0; axis < 4; axis++) {
		struct quantizer q = linear(scale, zero, -128, 127);
		struct tensor x = tensor(DT_F32, LAYOUT_PLAIN, 4, dim), c = tensor(DT_I8, LAYOUT_PLAIN, 4, dim);
		q.axis = axis;
		q.n = (int)dim[axis];
		fill(x.data, 120, 40.0f);
		quantize(&c, &x, &q, 1);
		for (int64_t i = 0; i < 120; i++) {
			int64_t at[4] = {i / 60, i / 12 % 5, i / 4 % 3, i % 4};
			assert_int_equal(code_at(&c, i), quantize_one(&q, (int)at[axis], ((float *)x.data)[i]));
		}
		tensor_drop(&x);
		tensor_drop(&c);
	}
}

// Channels side by side, as in a matrix with a scale for each column, and cut in pieces in the middle of a row.
static void check_rows(const struct quantizer *q, float reach)
{
	const int64_t dim[] = {2000, q->n}, n = dim[0] * dim[1];
	struct tensor x = tensor(DT_F32, LAYOUT_PLAIN, 2, dim), c = tensor(quantizer_dtype(q), LAYOUT_PLAIN, 2, dim);
	struct tensor fake = tensor(DT_F32, LAYOUT_PLAIN, 2, dim), back = tensor(DT_F32, LAYOUT_PLAIN, 2, dim);
	fill(x.data, n, reach);
	for (int level = CPU_PLAIN; level < CPU_LEVELS; level++) {
		int64_t wrong = 0;
		cpu_limit((enum cpu_level)level);
		quantize(&c, &x, q, 2);
		for (int64_t i = 0; i < n; i++)
			wrong += code_at(&c, i) != quantize_one(q, (int)(i % q->n), ((float *)x.data)[i]);
		assert_int_equal(wrong, 0);
		dequantize(&back, &c, q, 1);
		fake_quantize(&fake, &x, q, 1);
		assert_memory_equal(back.data, fake.data, (size_t)n * sizeof(float));
		for (int64_t i = 0; i < n; i += 71)
			assert_float_equal(((float *)back.data)[i], (float)(code_at(&c, i) - q->zero[i % q->n]) * q->scale[i % q->n], 0);
	}
	tensor_drop(&x);
	tensor_drop(&c);
	tensor_drop(&fake);
	tensor_drop(&back);
}

void test_quantizer__rows_of_channels_give_the_bits_of_one_value(void **state)
{
	enum { CHANNELS = 37 }; // no divisor of a piece
	static const struct {
		int64_t min, max;
		int32_t zero, far; // that of one channel
	} ranges[] = {{-128, 127, 0, -3}, {0, 255, 128, 0}, {-32768, 32767, 7, 0}, {0, 65535, 32768, 1}, {-524288, 524287, 0, 0},
		{-128, 127, 0, 1 << 29}, {-128, 127, 0, INT32_MIN}, {INT32_MIN, INT32_MAX, 0, 0}};
	float scale[CHANNELS];
	int32_t zero[CHANNELS];
	for (int i = 0; i < CHANNELS; i++)
		scale[i] = i % 3 ? 0.3f / (float)(i + 1) : ldexpf(1.0f, i / 4 - 4);
	for (size_t r = 0; r < sizeof ranges / sizeof ranges[0]; r++)
		for (int round = ROUND_HALF_EVEN; round <= ROUND_HALF_UP; round++) {
			struct quantizer q = linear(scale, zero, ranges[r].min, ranges[r].max);
			for (int i = 0; i < CHANNELS; i++)
				zero[i] = i == 5 ? ranges[r].far : ranges[r].zero;
			q.axis = 1;
			q.n = CHANNELS;
			q.rounding = (enum rounding)round;
			check_rows(&q, (float)ranges[r].max * 0.7f);
		}
}

void test_quantizer__blocked_layout_pads_with_zero(void **state)
{
	const int64_t dim[] = {2, 11, 3, 5}, block = layout_block(), blocks = (11 + block - 1) / block;
	float scale[11];
	int32_t zero[11];
	struct quantizer q = linear(scale, zero, 0, 255);
	struct tensor x = tensor(DT_F32, LAYOUT_BLOCK, 4, dim), c = tensor(DT_U8, LAYOUT_BLOCK, 4, dim);
	struct tensor back = tensor(DT_F32, LAYOUT_BLOCK, 4, dim);
	for (int i = 0; i < 11; i++) {
		scale[i] = 0.1f * (float)(i + 1);
		zero[i] = 100 + i;
	}
	for (int per_channel = 0; per_channel < 2; per_channel++) {
		q.n = per_channel ? 11 : 1;
		q.axis = per_channel ? 1 : -1;
		float *f = x.data;
		for (int64_t i = 0; i < tensor_stored(&x); i++) {
			int64_t ch = i / (block * 15) % blocks * block + i % block;
			f[i] = ch < 11 ? noise() * 20.0f : 0.0f;
		}
		quantize(&c, &x, &q, SUPPORT_WIDTH(2));
		dequantize(&back, &c, &q, SUPPORT_WIDTH(2));
		for (int64_t i = 0; i < tensor_stored(&x); i++) {
			int64_t ch = i / (block * 15) % blocks * block + i % block;
			if (ch < 11)
				assert_int_equal(code_at(&c, i), quantize_one(&q, (int)ch, f[i]));
			else
				assert_true(((float *)back.data)[i] == 0.0f);
		}
	}
	tensor_drop(&x);
	tensor_drop(&c);
	tensor_drop(&back);
}

void test_quantizer__casts_round_to_nearest_even(void **state)
{
	static const struct {
		float x, half, brain;
	} rows[] = {
		{1.0f, 1.0f, 1.0f}, {65504.0f, 65504.0f, 65536.0f}, {65519.0f, 65504.0f, 65536.0f}, {65520.0f, INFINITY, 65536.0f},
		{1.00048828125f, 1.0f, 1.0f}, {1.00146484375f, 1.001953125f, 1.0f}, {1.00390625f, 1.00390625f, 1.0f},
		{1.01171875f, 1.01171875f, 1.015625f}, {-2.9802322e-8f, -0.0f, -2.9802322e-8f},
		{8.9406967e-8f, 1.1920929e-7f, 8.9406967e-8f}, {6.1035156e-5f, 6.1035156e-5f, 6.1035156e-5f},
		{INFINITY, INFINITY, INFINITY}, {3.4e38f, INFINITY, INFINITY}, {-0.0f, -0.0f, -0.0f},
	};
	const int64_t n = sizeof rows / sizeof rows[0];
	struct tensor x = tensor(DT_F32, LAYOUT_PLAIN, 1, &n), y = tensor(DT_F32, LAYOUT_PLAIN, 1, &n);
	for (int level = CPU_PLAIN; level < CPU_LEVELS; level++) {
		cpu_limit((enum cpu_level)level);
		for (int64_t i = 0; i < n; i++)
			((float *)x.data)[i] = rows[i].x;
		fake_quantize(&y, &x, &(struct quantizer){.kind = QUANT_FP16}, 1);
		for (int64_t i = 0; i < n; i++)
			assert_memory_equal((float *)y.data + i, &rows[i].half, sizeof(float));
		fake_quantize(&y, &x, &(struct quantizer){.kind = QUANT_BF16}, 1);
		for (int64_t i = 0; i < n; i++)
			assert_memory_equal((float *)y.data + i, &rows[i].brain, sizeof(float));
		((float *)x.data)[0] = NAN;
		fake_quantize(&y, &x, &(struct quantizer){.kind = QUANT_FP16}, 1);
		assert_true(isnan(((float *)y.data)[0]));
		fake_quantize(&y, &x, &(struct quantizer){.kind = QUANT_BF16}, 1);
		assert_true(isnan(((float *)y.data)[0]));
	}
	tensor_drop(&x);
	tensor_drop(&y);
}

void test_quantizer__keys_tell_results_apart(void **state)
{
	static const float half[] = {0.5f};
	static const int32_t seven[] = {7};
	struct quantizer a = linear(one, none, -128, 127), b = a;
	assert_true(key_is_zero(quantizer_key(NULL)));
	assert_true(key_is_zero(quantizer_key(&(struct quantizer){.kind = QUANT_NONE})));
	b.pow2 = true;
	assert_true(quantizer_equal(&a, &b));
	b.scale = half;
	assert_false(quantizer_equal(&a, &b));
	b = a;
	b.zero = seven;
	assert_false(quantizer_equal(&a, &b));
	b = a;
	b.rounding = ROUND_HALF_UP;
	assert_false(quantizer_equal(&a, &b));
	b = a;
	b.qmin = -127;
	assert_false(quantizer_equal(&a, &b));
	assert_false(quantizer_equal(&(struct quantizer){.kind = QUANT_FP16}, &(struct quantizer){.kind = QUANT_BF16}));
}
