// The loops of struct ordered_loops, included by ordered_plain.c and ordered_avx2.c.
// Every fmaf stands where ONNX Runtime fuses, and nothing else is fused; the constants are those of its approximations.
#ifndef QTUI_ENGINE_OPS_ORDERED_ORDERED_LOOPS_H
#define QTUI_ENGINE_OPS_ORDERED_ORDERED_LOOPS_H

#include <math.h>
#include "../../tensor/float_bits.h"
#include "ordered.h"

#define LANES 8

// 1/2 plus a rational function, odd over even, on [-18, 18].
static inline float sigmoid_one(float x)
{
	x = x < -18.0f ? -18.0f : x;
	x = x > 18.0f ? 18.0f : x;
	float s = x * x, p = fmaf(s, 4.37031012579801e-11f, 1.15627324459942e-07f);
	p = fmaf(p, s, 6.08574864600143e-05f);
	p = fmaf(p, s, 8.51377133304701e-03f);
	p = fmaf(p, s, 2.48287947061529e-01f);
	float q = fmaf(s, 6.10247389755681e-13f, 5.76102136993427e-09f);
	q = fmaf(q, s, 6.29106785017040e-06f);
	q = fmaf(q, s, 1.70198817374094e-03f);
	q = fmaf(q, s, 1.16817656904453e-01f);
	q = fmaf(q, s, 9.93151921023180e-01f);
	float y = x * p / q + 0.5f;
	return y < 0.0f ? 0.0f : y;
}

// exp for x <= 0: 2^m times a polynomial in what is left of x.
static inline float exp_one(float x)
{
	const float rounder = 12582912.0f; // 1.5 * 2^23
	x = x < -88.3762626647949f ? -88.3762626647949f : x;
	float biased = fmaf(x, 1.44269504088896341f, rounder), m = biased - rounder;
	float r = fmaf(m, -1.42860677e-6f, fmaf(m, -6.93145752e-1f, x));
	float p = fmaf(0x1.694000p-10f, r, 0x1.125edcp-7f);
	p = fmaf(p, r, 0x1.555b5ap-5f);
	p = fmaf(p, r, 0x1.555450p-3f);
	p = fmaf(p, r, 0x1.fffff6p-2f);
	p = fmaf(fmaf(p, r, 1.0f), r, 1.0f);
	return p * float_of_bits((bits_of_float(biased) << 23) + 0x3f800000u);
}

static void sigmoid(const float *x, float *y, int64_t n)
{
#pragma omp simd
	for (int64_t i = 0; i < n; i++)
		y[i] = sigmoid_one(x[i]);
}

static float sum_exp(const float *x, float minus_max, float *y, int64_t n)
{
	float lane[LANES] = {0};
	int64_t i = 0;

#pragma omp simd
	for (int64_t j = 0; j < n; j++)
		y[j] = exp_one(x[j] + minus_max);
	for (; i + LANES <= n; i += LANES)
		for (int j = 0; j < LANES; j++)
			lane[j] += y[i + j];
	for (int j = 0; i < n; i++, j++)
		lane[j] += y[i];
	return ((lane[4] + lane[5]) + (lane[6] + lane[7])) + ((lane[0] + lane[1]) + (lane[2] + lane[3]));
}

static inline float to_code(float v, float low, float high)
{
	float code = rintf(v);
	return code >= high ? high : code >= low ? code : low; // NaN: the lowest
}

static void add_codes(const float *a, const float *b, const struct codes_by *by, float *y, int64_t n)
{
	const struct codes_by k = *by;
	if (a && b)
		_Pragma("omp simd") for (int64_t i = 0; i < n; i++)
			y[i] = to_code(fmaf(a[i], k.a, fmaf(b[i], k.b, k.rest)), k.low, k.high);
	else
		_Pragma("omp simd") for (int64_t i = 0; i < n; i++)
			y[i] = to_code(a ? fmaf(a[i], k.a, k.rest) : fmaf(b[i], k.b, k.rest), k.low, k.high);
}

static void multiply_codes(const float *a, const float *b, const struct codes_by *by, float *y, int64_t n)
{
	const struct codes_by k = *by;
	_Pragma("omp simd") for (int64_t i = 0; i < n; i++)
		y[i] = to_code((a[i] - k.a) * (b[i] - k.b) * k.ratio + k.rest, k.low, k.high);
}

#define ORDERED_LOOPS {sigmoid, sum_exp, add_codes, multiply_codes}

#endif
