// One loop a function, y[i] = f(x[i]), with the exponential, logarithm,
// hyperbolic tangent and error function written out so that the compiler can put them into vectors.
// Included by unary_base.c, unary_avx2.c and unary_avx512.c, which compile it for three processor levels: without
// fused multiply-add the same operations in the same order give the same bits in all, in loops and in their tails.
// Polynomials are minimax fits; the errors measured against double precision are in tests/engine/test_unary.c.
#ifndef QTUI_ENGINE_KERNELS_ELEMENTWISE_UNARY_LOOPS_H
#define QTUI_ENGINE_KERNELS_ELEMENTWISE_UNARY_LOOPS_H

#include <math.h>
#include <stdint.h>
#include <string.h>
#include "../../tensor/float_bits.h"
#include "unary.h"

#define ROUNDER 12582912.0f // 1.5 * 2^23: adding it leaves the nearest integer in the low bits
#define LOG2E 1.44269504088896341f
#define LN2_HIGH 0.693359375f
#define LN2_LOW (-2.12194440e-4f)

// x = whole * ln 2 + rest, |rest| <= ln 2 / 2; returns exp(rest) - 1.
static inline float exp_reduced(float x, uint32_t *whole)
{
	float shifted = x * LOG2E + ROUNDER, n = shifted - ROUNDER;
	float r = (x - n * LN2_HIGH) - n * LN2_LOW;
	float q = (((0.0013950708089396358f * r + 0.008369018323719501f) * r + 0.04166620224714279f) * r +
	              0.166665181517601f) *
	              r +
	          0.5f;
	*whole = bits_of_float(shifted) - bits_of_float(ROUNDER);
	return r * r * q + r;
}

// p * 2^whole in two steps, so that results among the denormals round once.
static inline float scale_by(float p, uint32_t whole)
{
	uint32_t half = (uint32_t)((int32_t)whole >> 1);
	return p * float_of_bits((half + 127) << 23) * float_of_bits((whole - half + 127) << 23);
}

static inline float exp_f(float x)
{
	uint32_t whole;
	float p;
	x = x < -104.0f ? -104.0f : x;
	x = x > 89.0f ? 89.0f : x;
	p = exp_reduced(x, &whole);
	return scale_by(1.0f + p, whole);
}

static inline float expm1_f(float x)
{
	uint32_t whole;
	float p, e;
	x = x < -30.0f ? -30.0f : x;
	x = x > 89.0f ? 89.0f : x;
	p = exp_reduced(x, &whole);
	e = scale_by(1.0f + p, whole) - 1.0f;
	return whole == 0 ? p : e;
}

static inline float log_f(float x)
{
	float big = x * 8388608.0f;
	float v = x < 1.17549435e-38f ? big : x;
	uint32_t u = bits_of_float(v),
	         shifted = u - 0x3f3504f3u; // the bits of sqrt(1/2): the mantissa falls in [sqrt(1/2), sqrt(2))
	float e = (float)((int32_t)shifted >> 23) - (x < 1.17549435e-38f ? 23.0f : 0.0f);
	float f = float_of_bits((shifted & 0x007fffffu) + 0x3f3504f3u) - 1.0f;
	float s = f * f;
	float q = (((((((0.06915616244077682f * f - 0.11793991178274155f) * f + 0.11875008791685104f) * f -
	                  0.1238381415605545f) *
	                     f +
	                 0.14218339323997498f) *
	                    f -
	                0.16669268906116486f) *
	                   f +
	               0.20002241432666779f) *
	                  f -
	              0.24999986588954926f) *
	              f +
	          0.3333331048488617f;
	float y = (f * s * q - e * 2.12194440e-4f - 0.5f * s) + f + e * LN2_HIGH;
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

static inline float sigmoid_f(float x)
{
	return 1.0f / (1.0f + exp_f(-x));
}

static inline float tanh_f(float x)
{
	float t = fabsf(x), s = x * x;
	float q = ((((0.0021309040021151304f * s - 0.008165035396814346f) * s + 0.021696070209145546f) * s -
	               0.05394599214196205f) *
	                  s +
	              0.1333319991827011f) *
	              s -
	          0.3333333134651184f;
	float near = x + x * s * q, far = 1.0f - 2.0f / (exp_f(2.0f * t) + 1.0f);
	return t < 0.625f ? near : copysignf(far, x);
}

// erf in three steps: -log(1 - |erf|), from which 1 - |erf| follows; and from that, or near 0 from x alone, erf.
static inline float erf_exponent(float x)
{
	float t = fabsf(x), c = t > 3.95f ? 3.95f : t;
	return ((((((2.1161911718081683e-05f * c - 0.0004352189425844699f) * c + 0.004174643196165562f) * c -
	             0.025128625333309174f) *
	                c +
	            0.10829395055770874f) *
	               c +
	           0.6333346366882324f) *
	              c +
	          1.1295207738876343f) *
	              c -
	          0.0001758746220730245f;
}

static inline float erf_from(float x, float rest)
{
	float s = x * x;
	float q = (((((8.345225069206208e-05f * s - 0.0008137437398545444f) * s + 0.005200634244829416f) * s -
	                0.02685927040874958f) *
	                   s +
	               0.11283694207668304f) *
	                  s -
	              0.37612634897232056f) *
	              s +
	          0.12837916612625122f;
	return fabsf(x) < 0.925f ? x + x * q : copysignf(1.0f - rest, x);
}

// The sine of a number that is `turn` quarter turns further on: 0 for the sine itself, 1 for the cosine.
// In double, so that what is left of x in a quarter turn is exact but for 2^-60,
// and Taylor's polynomials (up to x^11 and x^10 within an eighth turn) are within 2e-10.
#define SIN_MOST 1e6f // whole quarter turns have 20 bits: their product with the first part of pi / 2, of 33 bits, is exact
static inline float sin_f(float x, uint64_t turn)
{
	const double rounder = 6755399441055744.0; // 1.5 * 2^52
	double v = (double)x, shifted = v * 0.63661977236758138 + rounder, n = shifted - rounder;
	double r = (v - n * 1.5707963267341256) - n * 6.0771005065061922e-11, z = r * r;
	double s = ((((z * (-1.0 / 39916800) + 1.0 / 362880) * z - 1.0 / 5040) * z + 1.0 / 120) * z - 1.0 / 6) * z * r + r;
	double c = ((((z * (-1.0 / 3628800) + 1.0 / 40320) * z - 1.0 / 720) * z + 1.0 / 24) * z - 0.5) * z + 1.0;
	uint64_t quarters;
	memcpy(&quarters, &shifted, sizeof quarters);
	quarters += turn;
	s = quarters & 1 ? c : s;
	return (float)(quarters & 2 ? -s : s);
}

// The angle whose tangent is y / x, both not negative, in double: within an eighth turn of 0 or of 45 degrees,
// whichever is nearer, by Taylor's polynomial (up to t^23, within 3e-11).
static inline double angle(double y, double x)
{
	int steep = y > x;
	double low = steep ? x : y, high = steep ? y : x;
	int near_45 = low > 0.41421356237309503 * high;
	double t = (near_45 ? low - high : low) / (near_45 ? low + high : high), z = t * t;
	double q = (((((z * (-1.0 / 23) + 1.0 / 21) * z - 1.0 / 19) * z + 1.0 / 17) * z - 1.0 / 15) * z + 1.0 / 13) * z - 1.0 / 11;
	double r = ((((q * z + 1.0 / 9) * z - 1.0 / 7) * z + 1.0 / 5) * z - 1.0 / 3) * z * t + t + (near_45 ? 0.78539816339744828 : 0.0);
	return steep ? 1.5707963267948966 - r : r;
}

static inline float atan_f(float x)
{
	return copysignf((float)angle(fabs((double)x), 1.0), x);
}

static inline float asin_f(float x)
{
	double v = fabs((double)x);
	return copysignf((float)angle(v, sqrt((1.0 - v) * (1.0 + v))), x);
}

static inline float acos_f(float x)
{
	double v = fabs((double)x), r = angle(sqrt((1.0 - v) * (1.0 + v)), v);
	return (float)(x < 0.0f ? 3.1415926535897931 - r : r);
}

static inline float mish_f(float x) // x * tanh(log(1 + e^x)) = x * (w^2 + 2w) / (w^2 + 2w + 2), w = e^x
{
	float w = exp_f(x > 20.0f ? 20.0f : x), u = w * (w + 2.0f);
	return x * (u / (u + 2.0f));
}

static inline float gelu_tanh_f(float x)
{
	return 0.5f * x * (1.0f + tanh_f(0.7978845608028654f * (x + 0.044715f * x * x * x)));
}

static inline float clamp_f(float x, float low, float high)
{
	x = x < low ? low : x;
	return x > high ? high : x;
}

#define LOOP(name, value)                                                                                              \
	static void name(const struct act_attrs *a, const float *x, float *y, int64_t n)                               \
	{                                                                                                              \
		const float alpha = a->alpha, beta = a->beta, gamma = a->gamma, low = a->low, high = a->high;          \
		(void)alpha, (void)beta, (void)gamma, (void)low, (void)high;                                           \
		_Pragma("omp simd") for (int64_t i = 0; i < n; i++)                                                    \
		{                                                                                                      \
			const float v = x[i];                                                                          \
			y[i] = value;                                                                                  \
		}                                                                                                      \
	}
LOOP(loop_abs, fabsf(v))
LOOP(loop_acos, acos_f(v))
LOOP(loop_acosh, acoshf(v))
LOOP(loop_asin, asin_f(v))
LOOP(loop_asinh, asinhf(v))
LOOP(loop_atan, atan_f(v))
LOOP(loop_atanh, atanhf(v))
LOOP(loop_ceil, ceilf(v))
LOOP(loop_celu, v > 0.0f ? v : alpha * expm1_f(v / alpha))
LOOP(loop_clip, clamp_f(v, low, high))
LOOP(loop_cosh, coshf(v))
LOOP(loop_elu, v > 0.0f ? v : alpha * expm1_f(v))
LOOP(loop_exp, exp_f(v))
LOOP(loop_floor, floorf(v))
LOOP(loop_gelu_tanh, gelu_tanh_f(v))
LOOP(loop_hardsigmoid, clamp_f(alpha *v + beta, 0.0f, 1.0f))
LOOP(loop_hardswish, v *clamp_f(v *(1.0f / 6.0f) + 0.5f, 0.0f, 1.0f))
LOOP(loop_leakyrelu, v < 0.0f ? v * alpha : v)
LOOP(loop_log, log_f(v))
LOOP(loop_mish, mish_f(v))
LOOP(loop_neg, -v)
LOOP(loop_reciprocal, 1.0f / v)
LOOP(loop_relu, v < 0.0f ? 0.0f : v)
LOOP(loop_round, rintf(v))
LOOP(loop_selu, v > 0.0f ? gamma * v : gamma * (alpha * expm1_f(v)))
LOOP(loop_shrink, v < -alpha ? v + beta : v > alpha ? v - beta : 0.0f)
LOOP(loop_sigmoid, sigmoid_f(v))
LOOP(loop_sign, v > 0.0f ? 1.0f : v < 0.0f ? -1.0f : v)
LOOP(loop_sinh, sinhf(v))
LOOP(loop_softplus, clamp_f(v, 0.0f, INFINITY) + log1p_f(exp_f(-fabsf(v))))
LOOP(loop_softsign, v / (1.0f + fabsf(v)))
LOOP(loop_sqrt, sqrtf(v))
LOOP(loop_swish, v *sigmoid_f(alpha *v))
LOOP(loop_tan, tanf(v))
LOOP(loop_tanh, tanh_f(v))
LOOP(loop_threshold, v > alpha ? v : 0.0f)
LOOP(loop_copy, v)

// Far from 0 (rare: a phase in radians) the C library takes over, which reduces by more digits of pi.
#define SIN_LOOP(name, turn, far)                                                                                      \
	static void name(const struct act_attrs *a, const float *x, float *y, int64_t n)                               \
	{                                                                                                              \
		enum { PIECE = 256 };                                                                                  \
		(void)a;                                                                                               \
		for (int64_t m; n > 0; x += m, y += m, n -= m) {                                                       \
			int is_far = 0;                                                                                \
			m = n < PIECE ? n : PIECE;                                                                     \
			_Pragma("omp simd reduction(|:is_far)") for (int64_t i = 0; i < m; i++) is_far |= fabsf(x[i]) > SIN_MOST; \
			if (is_far)                                                                                    \
				for (int64_t i = 0; i < m; i++)                                                        \
					y[i] = fabsf(x[i]) > SIN_MOST ? far(x[i]) : sin_f(x[i], turn);                 \
			else                                                                                           \
				_Pragma("omp simd") for (int64_t i = 0; i < m; i++) y[i] = sin_f(x[i], turn);          \
		}                                                                                                      \
	}
SIN_LOOP(loop_sin, 0, sinf)
SIN_LOOP(loop_cos, 1, cosf)

// The error function has a chain of sixty operations, more than a processor looks ahead to the next elements for:
// the steps go one after the other over a piece, which a third of the chain waits for.
#define ERF_LOOP(name, argument, value)                                                                                \
	static void name(const struct act_attrs *a, const float *x, float *y, int64_t n)                               \
	{                                                                                                              \
		enum { PIECE = 256 };                                                                                  \
		float rest[PIECE];                                                                                     \
		(void)a;                                                                                               \
		for (int64_t m; n > 0; x += m, y += m, n -= m) {                                                       \
			m = n < PIECE ? n : PIECE;                                                                     \
			_Pragma("omp simd") for (int64_t i = 0; i < m; i++)                                            \
			{                                                                                              \
				const float v = x[i];                                                                  \
				rest[i] = erf_exponent(argument);                                                      \
			}                                                                                              \
			_Pragma("omp simd") for (int64_t i = 0; i < m; i++) rest[i] = exp_f(-rest[i]);                 \
			_Pragma("omp simd") for (int64_t i = 0; i < m; i++)                                            \
			{                                                                                              \
				const float v = x[i], erf = erf_from(argument, rest[i]);                               \
				y[i] = value;                                                                          \
			}                                                                                              \
		}                                                                                                      \
	}
ERF_LOOP(loop_erf, v, erf)
ERF_LOOP(loop_gelu, v * 0.7071067811865476f, 0.5f * v * (1.0f + erf))

// ORDER FUNCTION
static unary_loop *const loops[FN_COUNT] = {
#define FN(name) [FN_##name] = loop_##name,
#include "unary_fns.def"
#undef FN
};

#endif
