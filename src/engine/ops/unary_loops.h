// One loop a function, y[i] = f(x[i]), with the logarithm and the error function written out, as elt_math.h does for the
// exponential and its kin, so that the compiler can put them into vectors. Included by unary_base.c and unary_avx2.c, which compile it for two processor levels:
// without fused multiply-add the same operations in the same order give the same bits in both, in loops and in their tails.
// Polynomials are minimax fits; the errors measured against double precision are in tests/engine/test_unary.c.
#ifndef QTUI_ENGINE_OPS_UNARY_LOOPS_H
#define QTUI_ENGINE_OPS_UNARY_LOOPS_H

#include <math.h>
#include <stdint.h>
#include "../kernels/elt_math.h"
#include "unary.h"

// e^x - 1: a polynomial where the difference would cancel.
static inline float expm1_f(float x)
{
	float q = (((0.0013950708089396358f * x + 0.008369018323719501f) * x + 0.04166620224714279f) * x + 0.166665181517601f) * x + 0.5f;
	float near = x * x * q + x, far = math_exp(x) - 1.0f;

	return fabsf(x) < 0.34657f ? near : far;
}

static inline float log_f(float x)
{
	float big = x * 8388608.0f;
	float v = x < 1.17549435e-38f ? big : x;
	uint32_t u = (uint32_t)math_bits(v), shifted = u - 0x3f3504f3u; // the bits of sqrt(1/2): the mantissa falls in [sqrt(1/2), sqrt(2))
	float e = (float)((int32_t)shifted >> 23) - (x < 1.17549435e-38f ? 23.0f : 0.0f);
	float f = math_from_bits((int32_t)((shifted & 0x007fffffu) + 0x3f3504f3u)) - 1.0f;
	float s = f * f;
	float q = (((((((0.06915616244077682f * f - 0.11793991178274155f) * f + 0.11875008791685104f) * f - 0.1238381415605545f) * f
	    + 0.14218339323997498f) * f - 0.16669268906116486f) * f + 0.20002241432666779f) * f - 0.24999986588954926f) * f
	    + 0.3333331048488617f;
	float y = (f * s * q - e * 2.12194440e-4f - 0.5f * s) + f + e * 0.693359375f;

	y = x == 0.0f ? -INFINITY : y;
	y = x < 0.0f ? NAN : y;
	return x < INFINITY ? y : x;
}

static inline float log1p_f(float x) // x >= 0
{
	float w = 1.0f + x;
	float rest = (x - (w - 1.0f)) / w;

	return w < INFINITY ? log_f(w) + rest : w;
}

static inline float erf_f(float x)
{
	float t = fabsf(x), s = x * x, c = t > 3.95f ? 3.95f : t;
	float q = (((((8.345225069206208e-05f * s - 0.0008137437398545444f) * s + 0.005200634244829416f) * s - 0.02685927040874958f) * s
	    + 0.11283694207668304f) * s - 0.37612634897232056f) * s + 0.12837916612625122f;
	float p = ((((((2.1161911718081683e-05f * c - 0.0004352189425844699f) * c + 0.004174643196165562f) * c
	    - 0.025128625333309174f) * c + 0.10829395055770874f) * c + 0.6333346366882324f) * c + 1.1295207738876343f) * c
	    - 0.0001758746220730245f;
	float near = x + x * q, far = 1.0f - math_exp(-p);

	return t < 0.925f ? near : copysignf(far, x);
}

static inline float gelu_tanh_f(float x)
{
	return 0.5f * x * (1.0f + math_tanh(0.7978845608028654f * (x + 0.044715f * x * x * x)));
}

static inline float clamp_f(float x, float low, float high)
{
	x = x < low ? low : x;
	return x > high ? high : x;
}

#define LOOP(name, value) \
	static void name(const struct act_attrs *a, const float *x, float *y, int64_t n) \
	{ \
		const float alpha = a->alpha, beta = a->beta, gamma = a->gamma, low = a->low, high = a->high; \
		(void)alpha, (void)beta, (void)gamma, (void)low, (void)high; \
		_Pragma("omp simd") \
		for (int64_t i = 0; i < n; i++) { \
			const float v = x[i]; \
			y[i] = value; \
		} \
	}
LOOP(loop_abs, fabsf(v))
LOOP(loop_acos, acosf(v))
LOOP(loop_acosh, acoshf(v))
LOOP(loop_asin, asinf(v))
LOOP(loop_asinh, asinhf(v))
LOOP(loop_atan, atanf(v))
LOOP(loop_atanh, atanhf(v))
LOOP(loop_ceil, ceilf(v))
LOOP(loop_celu, v > 0.0f ? v : alpha * expm1_f(v / alpha))
LOOP(loop_clip, clamp_f(v, low, high))
LOOP(loop_cos, cosf(v))
LOOP(loop_cosh, coshf(v))
LOOP(loop_elu, v > 0.0f ? v : alpha * expm1_f(v))
LOOP(loop_erf, erf_f(v))
LOOP(loop_exp, math_exp(v))
LOOP(loop_floor, floorf(v))
LOOP(loop_gelu, 0.5f * v * (1.0f + erf_f(v * 0.7071067811865476f)))
LOOP(loop_gelu_tanh, gelu_tanh_f(v))
LOOP(loop_hardsigmoid, math_hardsigmoid(v, alpha, beta))
LOOP(loop_hardswish, math_hardswish(v))
LOOP(loop_leakyrelu, v < 0.0f ? v * alpha : v)
LOOP(loop_log, log_f(v))
LOOP(loop_mish, math_mish(v))
LOOP(loop_neg, -v)
LOOP(loop_reciprocal, 1.0f / v)
LOOP(loop_relu, v < 0.0f ? 0.0f : v)
LOOP(loop_round, rintf(v))
LOOP(loop_selu, v > 0.0f ? gamma * v : gamma * (alpha * expm1_f(v)))
LOOP(loop_shrink, v < -alpha ? v + beta : v > alpha ? v - beta : v * 0.0f)
LOOP(loop_sigmoid, math_sigmoid(v))
LOOP(loop_sign, v > 0.0f ? 1.0f : v < 0.0f ? -1.0f : v)
LOOP(loop_sin, sinf(v))
LOOP(loop_sinh, sinhf(v))
LOOP(loop_softplus, clamp_f(v, 0.0f, INFINITY) + log1p_f(math_exp(-fabsf(v))))
LOOP(loop_softsign, v / (1.0f + fabsf(v)))
LOOP(loop_sqrt, sqrtf(v))
LOOP(loop_swish, v / (1.0f + math_exp(-(alpha * v))))
LOOP(loop_tan, tanf(v))
LOOP(loop_tanh, math_tanh(v))
LOOP(loop_threshold, v > alpha ? v : 0.0f)
LOOP(loop_copy, v)

// ORDER FUNCTION
static unary_loop *const loops[FN_COUNT] = {
#define FN(name) [FN_##name] = loop_##name,
#include "unary_fns.def"
#undef FN
};

#endif
