// The loops of quantizer_span.h; the including file defines QSPAN_TABLE, the name of the table that it exports.
//
// Mostly one loop does all; with rarer roundings a block of elements goes through three in a small buffer:
// scaled and clamped, rounded, stored. Clamping comes first: the limits are integers and every
// rounding is monotone and keeps integers, so the order does not show in the result,
// and what is left is small enough for the loops to stay in 32 bits.
#include <math.h>
#include <stdint.h>
#include <string.h>
#include "float_bits.h"
#include "quantizer_span.h"

enum { BLOCK = 512 };
#define SIMD_FOR(i, n) _Pragma("omp simd") for (int i = 0; i < (n); i++)

static void scaled(float *y, const float *x, int n, const struct qspan *s)
{
	float lo = (float)(s->qmin - s->zero), hi = (float)(s->qmax - s->zero), scale = s->scale, inverse = s->inverse;
	if (inverse != 0.0f)
		SIMD_FOR(i, n) y[i] = qspan_clamped(x[i] * inverse, lo, hi);
	else
		SIMD_FOR(i, n) y[i] = qspan_clamped(x[i] / scale, lo, hi);
}

#define ROUND_LOOP(name, expr)                                                                                         \
	static void name(int32_t *y, const float *x, int n)                                                            \
	{                                                                                                              \
		SIMD_FOR(i, n)                                                                                         \
		{                                                                                                      \
			float t = x[i];                                                                                \
			y[i] = (int32_t)(expr);                                                                        \
		}                                                                                                      \
	}
ROUND_LOOP(round_half_up, floorf(t + 0.5f))
ROUND_LOOP(round_half_down, ceilf(t - 0.5f))
ROUND_LOOP(round_half_in, copysignf(ceilf(fabsf(t) - 0.5f), t))
ROUND_LOOP(round_half_out, copysignf(floorf(fabsf(t) + 0.5f), t))
ROUND_LOOP(round_up, ceilf(t))
ROUND_LOOP(round_down, floorf(t))

// Of roundings but ROUND_HALF_EVEN.
static void (*const round_loops[])(int32_t *, const float *, int) = {
	[ROUND_HALF_UP] = round_half_up,
	[ROUND_HALF_DOWN] = round_half_down,
	[ROUND_HALF_TOWARDS_ZERO] = round_half_in,
	[ROUND_HALF_FAR_FROM_ZERO] = round_half_out,
	[ROUND_UP] = round_up,
	[ROUND_DOWN] = round_down,
};

// Distances from the zero point of at most BLOCK elements.
static void steps_of(int32_t *y, const float *x, int n, const struct qspan *s)
{
	float t[BLOCK];
	scaled(t, x, n, s);
	round_loops[s->rounding](y, t, n);
}

// What nearly all targets want needs no buffer: `steps` is the nearest integer to a distance
// from the zero point, ties to even.
#define CODES_EVEN(name, type, distance, expr)                                                                         \
	static void name(type *y, const float *x, int64_t n, const struct qspan *s)                                    \
	{                                                                                                              \
		const float lo = (float)(s->qmin - s->zero), hi = (float)(s->qmax - s->zero);                            \
		const float scale = s->scale, inverse = s->inverse;                                                    \
		const int32_t zero = s->zero;                                                                          \
		(void)zero, (void)scale, (void)inverse;                                                                \
		_Pragma("omp simd") for (int64_t i = 0; i < n; i++)                                                    \
		{                                                                                                      \
			int32_t steps = qspan_nearest(qspan_clamped(distance, lo, hi));                                             \
			y[i] = (type)(expr);                                                                           \
		}                                                                                                      \
	}

#define CODES(name, type, expr)                                                                                        \
	CODES_EVEN(name##_times, type, x[i] * inverse, expr)                                                           \
	CODES_EVEN(name##_over, type, x[i] / scale, expr)                                                              \
	static void name(void *dst, const float *x, int64_t n, const struct qspan *s)                                  \
	{                                                                                                              \
		type *y = dst;                                                                                         \
		const int32_t zero = s->zero;                                                                          \
		const float scale = s->scale;                                                                          \
		int32_t buffer[BLOCK];                                                                                 \
		(void)zero, (void)scale;                                                                               \
		if (s->rounding == ROUND_HALF_EVEN) {                                                                  \
			(s->inverse != 0.0f ? name##_times : name##_over)(y, x, n, s);                                 \
			return;                                                                                        \
		}                                                                                                      \
		for (int64_t at = 0; at < n; at += BLOCK) {                                                            \
			int m = n - at < BLOCK ? (int)(n - at) : BLOCK;                                                \
			steps_of(buffer, x + at, m, s);                                                                \
			SIMD_FOR(i, m)                                                                                 \
			{                                                                                              \
				int32_t steps = buffer[i];                                                             \
				y[at + i] = (type)(expr);                                                              \
			}                                                                                              \
		}                                                                                                      \
	}
CODES(codes_f32, float, (float)steps * scale)
CODES(codes_i8, int8_t, steps + zero)
CODES(codes_u8, uint8_t, steps + zero)
CODES(codes_i16, int16_t, steps + zero)
CODES(codes_u16, uint16_t, steps + zero)

#define VALUES(name, type)                                                                                             \
	static void name(float *y, const void *src, int64_t n, const struct qspan *s)                                  \
	{                                                                                                              \
		const type *x = src;                                                                                   \
		const int32_t zero = s->zero;                                                                          \
		const float scale = s->scale;                                                                          \
		_Pragma("omp simd") for (int64_t i = 0; i < n; i++) y[i] = (float)(x[i] - zero) * scale;               \
	}
VALUES(values_i8, int8_t)
VALUES(values_u8, uint8_t)
VALUES(values_i16, int16_t)
VALUES(values_u16, uint16_t)

// Dividing gives the bits of multiplying by the inverse of a power of two.
#define ROW_CODES(name, type, expr)                                                                                    \
	static void name(void *dst, const float *x, int64_t n, const struct quantizer *q, int64_t first)               \
	{                                                                                                              \
		type *y = dst;                                                                                         \
		const float *scales = q->scale + first;                                                                \
		const int32_t *zeros = q->zero + first, qmin = (int32_t)q->qmin, qmax = (int32_t)q->qmax;              \
		_Pragma("omp simd") for (int64_t i = 0; i < n; i++)                                                    \
		{                                                                                                      \
			const float scale = scales[i];                                                                 \
			const int32_t zero = zeros[i];                                                                 \
			int32_t steps = qspan_nearest(qspan_clamped(x[i] / scale, (float)(qmin - zero), (float)(qmax - zero))); \
			(void)zero, (void)scale;                                                                       \
			y[i] = (type)(expr);                                                                           \
		}                                                                                                      \
	}
ROW_CODES(row_codes_f32, float, (float)steps * scale)
ROW_CODES(row_codes_i8, int8_t, steps + zero)
ROW_CODES(row_codes_u8, uint8_t, steps + zero)
ROW_CODES(row_codes_i16, int16_t, steps + zero)
ROW_CODES(row_codes_u16, uint16_t, steps + zero)

#define ROW_VALUES(name, type)                                                                                         \
	static void name(float *y, const void *src, int64_t n, const struct quantizer *q, int64_t first)               \
	{                                                                                                              \
		const type *x = src;                                                                                   \
		const float *scale = q->scale + first;                                                                 \
		const int32_t *zero = q->zero + first;                                                                 \
		_Pragma("omp simd") for (int64_t i = 0; i < n; i++) y[i] = (float)(x[i] - zero[i]) * scale[i];         \
	}
ROW_VALUES(row_values_i8, int8_t)
ROW_VALUES(row_values_u8, uint8_t)
ROW_VALUES(row_values_i16, int16_t)
ROW_VALUES(row_values_u16, uint16_t)

// Casts to nearest even, done on the bits of the float. A NaN keeps its sign and leading
// bits and becomes quiet, as F16C does it.
static inline float fp16_of(float x)
{
	uint32_t u = bits_of_float(x), sign = u & 0x80000000u, a = u & 0x7fffffffu;
	uint32_t normal = (a + 0xfffu + (a >> 13 & 1)) & ~0x1fffu;
	uint32_t tiny = bits_of_float((float_of_bits(a) + 0.5f) - 0.5f); // 0.5 + 2^-24 is the next float: rounds to steps of 2^-24
	uint32_t finite = a < 0x38800000u ? tiny : normal >= 0x47800000u ? 0x7f800000u : normal;
	uint32_t nan = (a & ~0x1fffu) | 0x400000u;
	return float_of_bits(sign | (a > 0x7f800000u ? nan : finite));
}

static inline float bf16_of(float x)
{
	uint32_t u = bits_of_float(x);
	uint32_t near = (u + 0x7fffu + (u >> 16 & 1)) & 0xffff0000u;
	uint32_t nan = (u & 0xffff0000u) | 0x400000u;
	return float_of_bits((u & 0x7fffffffu) > 0x7f800000u ? nan : near);
}

static void cast_fp16(float *y, const float *x, int64_t n)
{
	_Pragma("omp simd") for (int64_t i = 0; i < n; i++) y[i] = fp16_of(x[i]);
}

static void cast_bf16(float *y, const float *x, int64_t n)
{
	_Pragma("omp simd") for (int64_t i = 0; i < n; i++) y[i] = bf16_of(x[i]);
}

const struct qspan_table QSPAN_TABLE = {
	.codes = {
		[DT_F32] = codes_f32, [DT_I8] = codes_i8, [DT_U8] = codes_u8, [DT_I16] = codes_i16, [DT_U16] = codes_u16,
	},
	.values = {
		[DT_I8] = values_i8, [DT_U8] = values_u8, [DT_I16] = values_i16, [DT_U16] = values_u16,
	},
	.row_codes = {
		[DT_F32] = row_codes_f32, [DT_I8] = row_codes_i8, [DT_U8] = row_codes_u8, [DT_I16] = row_codes_i16,
		[DT_U16] = row_codes_u16,
	},
	.row_values = {
		[DT_I8] = row_values_i8, [DT_U8] = row_values_u8, [DT_I16] = row_values_i16, [DT_U16] = row_values_u16,
	},
	.cast_fp16 = cast_fp16,
	.cast_bf16 = cast_bf16,
};
