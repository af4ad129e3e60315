// Element-wise kernels: against libm, and the same bits at every level, position and length.
#include "../../src/engine/tensor/cpu.h"
#include "kernel_case.h"

#define N 4096

static double exact(enum act_kind kind, double x)
{
	switch (kind) {
	case ACT_SIGMOID: return 1 / (1 + exp(-x));
	case ACT_SWISH: return x / (1 + exp(-x));
	case ACT_TANH: return tanh(x);
	case ACT_MISH: return x * tanh(log1p(exp(x)));
	default: return x;
	}
}

static double ulps(float got, double want)
{
	float near = fabsf((float)want);
	return fabs(got - want) / (double)(nextafterf(near, INFINITY) - near);
}

static void run(enum act_kind kind, const float *x, float *y, int64_t n)
{
	elt_act(&(struct act){kind, 0.25f, 0.5f}, x, y, n);
}

// Where the exact result is a normal float with some room.
void test_elt__within_ulps_of_libm(void **state)
{
	static const struct {
		enum act_kind kind;
		double ulps;
	} want[] = {{ACT_SIGMOID, 2.6}, {ACT_SWISH, 2.6}, {ACT_TANH, 1.6}, {ACT_MISH, 6.0}};
	static const float size[] = {1e-6f, 1e-3f, 0.1f, 1.0f, 3.0f, 10.0f, 40.0f, 85.0f};
	struct support_random r = {31};
	float x[N], y[N];
	for (size_t k = 0; k < sizeof want / sizeof *want; k++) {
		for (size_t s = 0; s < sizeof size / sizeof *size; s++) {
			support_random_floats(&r, x, N, -size[s], size[s]);
			run(want[k].kind, x, y, N);
			for (int i = 0; i < N; i++)
				if (ulps(y[i], exact(want[k].kind, x[i])) > want[k].ulps)
					fail_msg("function %d of %.9g is %.9g", want[k].kind, (double)x[i], (double)y[i]);
		}
	}
}

void test_elt__limits(void **state)
{
	static const float x[] = {0.0f, -0.0f, INFINITY, -INFINITY, NAN, 1e30f, -1e30f};
	static const struct {
		enum act_kind kind;
		float y[7];
	} want[] = {
		{ACT_NONE, {0, 0, INFINITY, -INFINITY, NAN, 1e30f, -1e30f}},
		{ACT_RELU, {0, 0, INFINITY, 0, NAN, 1e30f, 0}},
		{ACT_CLIP, {0.25f, 0.25f, 0.5f, 0.25f, NAN, 0.5f, 0.25f}},
		{ACT_LEAKY, {0, 0, INFINITY, -INFINITY, NAN, 1e30f, -0.25e30f}},
		{ACT_SIGMOID, {0.5f, 0.5f, 1, 0, NAN, 1, 0}},
		{ACT_HARDSIGMOID, {0.5f, 0.5f, 1, 0, NAN, 1, 0}},
		{ACT_TANH, {0, 0, 1, -1, NAN, 1, -1}},
	};
	for (size_t k = 0; k < sizeof want / sizeof *want; k++) {
		float y[7];
		run(want[k].kind, x, y, 7);
		for (int i = 0; i < 7; i++)
			assert_true(isnan(want[k].y[i]) ? isnan(y[i]) : y[i] == want[k].y[i]);
	}
}

void test_elt__same_bits_anywhere(void **state)
{
	struct support_random r = {32};
	float x[200], best[200], y[200];
	support_random_floats(&r, x, 200, -12.0f, 12.0f);
	for (enum act_kind kind = ACT_NONE; kind <= ACT_MISH; kind++) {
		run(kind, x, best, 200);
		for (int level = CPU_PLAIN; level < CPU_LEVELS; level++) {
			cpu_limit((enum cpu_level)level);
			for (int first = 0; first < 40; first++) {
				int n = support_random_int(&r, 0, 200 - first);
				run(kind, x + first, y, n);
				assert_memory_equal(y, best + first, (size_t)n * sizeof(float));
			}
		}
		cpu_limit(CPU_LEVELS);
	}
}

void test_elt__binary(void **state)
{
	static const enum op_id ops[] = {OP_Add, OP_Sub, OP_Mul, OP_Div};
	struct support_random r = {33};
	float a[77], b[77], y[77];
	support_random_floats(&r, a, 77, -2.0f, 2.0f);
	support_random_floats(&r, b, 77, 0.5f, 2.0f);
	for (int level = CPU_PLAIN; level < CPU_LEVELS; level++) {
		cpu_limit((enum cpu_level)level);
		for (int o = 0; o < 4; o++) {
			elt_binary(ops[o], a, b, y, 77);
			for (int i = 0; i < 77; i++) {
				float with[] = {a[i] + b[i], a[i] - b[i], a[i] * b[i], a[i] / b[i]};
				assert_true(y[i] == with[o]);
			}
		}
	}
	cpu_limit(CPU_LEVELS);
}

static const float steps[][3] = {{0.5f, 0.25f, 2.0f}, {0.31f, 0.047f, 0.53f}, {0.02f, 0.02f, 0.015625f}, {0.0078125f, 0.11f, 0.0007f}};

// All pairs of codes, with the scales `step`; the rest of the grids is what the bits of `kind` say.
static void check_codes(enum op_id op, const float step[3], int kind)
{
	static const int32_t zeros[2][3] = {{128, 3, 77}, {-5, 0, 19}}; // of uint8, of int8
	enum { PAIRS = 256 * 256 };
	static uint8_t a[PAIRS], b[PAIRS], want[PAIRS], got[PAIRS];
	static float left[PAIRS], right[PAIRS], value[PAIRS];
	struct quantizer q[3];
	struct elt_codes codes;
	bool relu = kind & 16;
	for (int i = 0; i < 3; i++) {
		bool is_signed = kind >> i & 1;
		q[i] = (struct quantizer){.kind = QUANT_LINEAR, .bits = 8, .axis = -1, .n = 1, .qmin = is_signed ? -128 : 0,
		    .qmax = is_signed ? 127 : 255, .scale = &step[i], .zero = &zeros[is_signed][i],
		    .rounding = kind & 8 ? ROUND_HALF_UP : ROUND_HALF_EVEN};
	}
	for (int i = 0; i < PAIRS; i++) {
		a[i] = (uint8_t)(i >> 8);
		b[i] = (uint8_t)i;
	}
	dequantize_run(left, a, quantizer_dtype(&q[0]), PAIRS, &q[0]);
	dequantize_run(right, b, quantizer_dtype(&q[1]), PAIRS, &q[1]);
	elt_binary(op, left, right, value, PAIRS);
	if (relu)
		elt_act(&(struct act){.kind = ACT_RELU}, value, value, PAIRS);
	quantize_run(want, quantizer_dtype(&q[2]), value, PAIRS, &q[2]);
	assert_true(elt_codes_of(&codes, op, &q[0], &q[1], &q[2], relu));
	elt_codes(&codes, a, b, got, PAIRS - 3); // the last lanes fill no vector
	elt_codes(&codes, a + PAIRS - 3, b + PAIRS - 3, got + PAIRS - 3, 3);
	for (int i = 0; i < PAIRS; i++) {
		int64_t one = quantize_one(&q[2], 0, value[i]);
		if (got[i] != want[i] || (uint8_t)one != want[i])
			fail_msg("operator %d of %d and %d, grids %d: %d, not %d or %d", (int)op, a[i], b[i], kind, got[i], want[i], (int)one);
	}
}

// The codes that floats would give, whatever the scales, types and ties.
void test_elt__codes_of_all_pairs(void **state)
{
	static const enum op_id ops[] = {OP_Add, OP_Sub, OP_Mul};
	static const enum cpu_level levels[] = {CPU_PLAIN, CPU_AVX2, CPU_AVX512};
	for (size_t l = 0; l < sizeof levels / sizeof *levels; l++) {
		cpu_limit(levels[l]);
		for (size_t i = 0; i < sizeof steps / sizeof *steps; i++)
			for (int o = 0; o < 3; o++)
				for (int kind = 0; kind < 32; kind++)
					check_codes(ops[o], steps[i], kind);
	}
	cpu_limit(CPU_LEVELS);
}

// What may be no number, and roundings without a loop, is left to floats.
void test_elt__codes_without_a_loop(void **state)
{
	static const float fine = 0.5f, huge = 1e35f, none = 0.0f;
	struct quantizer q = {
	    .kind = QUANT_LINEAR, .bits = 8, .axis = -1, .n = 1, .qmin = -128, .qmax = 127, .scale = &fine, .zero = &(int32_t){0}};
	struct quantizer large = q, zero = q, down = q, wide = q;
	struct elt_codes c;
	large.scale = &huge;
	zero.scale = &none;
	down.rounding = ROUND_DOWN;
	wide.bits = 16;
	assert_true(elt_codes_of(&c, OP_Add, &q, &q, &q, false));
	assert_false(elt_codes_of(&c, OP_Div, &q, &q, &q, false));
	assert_false(elt_codes_of(&c, OP_Add, &large, &large, &q, false));
	assert_false(elt_codes_of(&c, OP_Add, &q, &q, &zero, false));
	assert_false(elt_codes_of(&c, OP_Add, &q, &q, &down, false));
	assert_false(elt_codes_of(&c, OP_Add, &q, &wide, &q, false));
}

// In place, as the executor and the epilogues use it.
void test_elt__in_place(void **state)
{
	struct support_random r = {34};
	float x[100], y[100];
	support_random_floats(&r, x, 100, -4.0f, 4.0f);
	for (enum act_kind kind = ACT_NONE; kind <= ACT_MISH; kind++) {
		float z[100];
		memcpy(z, x, sizeof x);
		run(kind, x, y, 100);
		run(kind, z, z, 100);
		assert_memory_equal(z, y, sizeof y);
	}
}
