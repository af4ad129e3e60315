// Scalar functions from which the element-wise kernels are made. They have no branches, calls or fused multiply-adds, so
// that the compiler turns a loop over them into SIMD code of any width and every element gets the same bits at every
// position, in the tail of an array, and at every processor level.
#ifndef QTUI_ENGINE_KERNELS_ELT_MATH_H
#define QTUI_ENGINE_KERNELS_ELT_MATH_H

#include <stdint.h>
#include <string.h>

static inline float math_from_bits(int32_t bits)
{
	float f;
	memcpy(&f, &bits, sizeof(f));
	return f;
}

static inline int32_t math_bits(float f)
{
	int32_t bits;
	memcpy(&bits, &f, sizeof(bits));
	return bits;
}

// 2^n for n in [-126, 127]; any n may come from a NaN, and gives some number.
static inline float math_pow2(int32_t n)
{
	return math_from_bits((int32_t)((uint32_t)(n + 127) << 23));
}

// NaN passes through all of these.
static inline float math_max(float x, float low)
{
	return x < low ? low : x;
}

static inline float math_min(float x, float high)
{
	return x > high ? high : x;
}

// e^x within 1.5 ulp, over the whole range: 0 below, infinity above, subnormal results included. x = n ln 2 + r with
// |r| <= ln 2 / 2; n is found by adding 1.5 * 2^23, which leaves it in the low bits. ln 2 is in two parts, the first short
// enough that n times it is exact. The power of two is applied in two halves so that neither overflows.
static inline float math_exp(float x)
{
	const float round = 12582912.0f;
	x = math_min(math_max(x, -105.0f), 89.0f);
	float t = x * 1.44269504f + round;
	int32_t n = math_bits(t) - math_bits(round);
	float f = t - round;
	float r = (x - f * 0.693359375f) - f * -2.12194440e-4f;
	float p = 1.9875691500e-4f;
	p = p * r + 1.3981999507e-3f;
	p = p * r + 8.3334519073e-3f;
	p = p * r + 4.1665795894e-2f;
	p = p * r + 1.6666665459e-1f;
	p = p * r + 5.0000001201e-1f;
	p = (p * (r * r) + r) + 1.0f;
	int32_t half = n >> 1;
	return p * math_pow2(half) * math_pow2(n - half);
}

static inline float math_sigmoid(float x)
{
	return 1.0f / (1.0f + math_exp(-x));
}

static inline float math_swish(float x)
{
	return x / (1.0f + math_exp(-x));
}

// Near 0 an odd polynomial, since the quotient would cancel there; beyond 9 the quotient is 1 in any case.
static inline float math_tanh(float x)
{
	float a = math_min(x < 0.0f ? -x : x, 9.1f), s = a * a;
	float p = -5.70498872745e-3f;
	p = p * s + 2.06390887954e-2f;
	p = p * s + -5.37397155531e-2f;
	p = p * s + 1.33314422036e-1f;
	p = p * s + -3.33332819422e-1f;
	float small = p * s * x + x;
	float large = 1.0f - 2.0f / (math_exp(2.0f * a) + 1.0f);
	return a < 0.625f ? small : (x < 0.0f ? -large : large);
}

// x tanh(ln(1 + e^x)): with u = e^x (e^x + 2) the tanh is u / (u + 2), which is 1 past 20.
static inline float math_mish(float x)
{
	float e = math_exp(math_min(x, 20.0f)), u = e * (e + 2.0f);
	return x * (u / (u + 2.0f));
}

static inline float math_hardsigmoid(float x, float a, float b)
{
	return math_max(math_min(a * x + b, 1.0f), 0.0f);
}

static inline float math_hardswish(float x)
{
	return x * math_hardsigmoid(x, 1.0f / 6.0f, 0.5f);
}

#endif
