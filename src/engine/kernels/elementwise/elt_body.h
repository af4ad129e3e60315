// The element-wise loops, compiled once for every processor level:
// the including file defines ELT_TABLE, the name of the table that it exports.
// The loops are marked for vectorisation, which then does not depend on the optimisation level.
#include <math.h>
#include "../../tensor/quantizer_span.h"
#include "elt.h"

#define BINARY_LOOPS(name, op)                                                                                         \
	static void name(const float *a, const float *b, float *y, int64_t n)                                          \
	{                                                                                                              \
		_Pragma("omp simd") for (int64_t i = 0; i < n; i++) y[i] = a[i] op b[i];                               \
	}

BINARY_LOOPS(binary_add, +)
BINARY_LOOPS(binary_sub, -)
BINARY_LOOPS(binary_mul, *)
BINARY_LOOPS(binary_div, /)

static void prelu(const float *a, const float *b, float *y, int64_t n)
{
	_Pragma("omp simd") for (int64_t i = 0; i < n; i++) y[i] = a[i] < 0 ? a[i] * b[i] : a[i];
}

// Two runs of codes, and the codes of what is done with their values.
// Codes of int8 are those of uint8 with the first bit turned over, once 128 is added to their zero point;
// both are stored as the last eight bits. Nothing is a NaN here.
#define CODES_LOOP(name, op, distance, steps)                                                                          \
	static void name(const uint8_t *a, const uint8_t *b, uint8_t *y, int64_t n, const struct elt_codes *c)         \
	{                                                                                                              \
		const uint8_t turn_a = c->in[0].turn, turn_b = c->in[1].turn;                                          \
		const int32_t zero_a = c->in[0].zero, zero_b = c->in[1].zero, zero = c->zero;                          \
		const float scale_a = c->in[0].scale, scale_b = c->in[1].scale, low = c->low, high = c->high, step = c->step; \
		_Pragma("omp simd") for (int64_t i = 0; i < n; i++)                                                    \
		{                                                                                                      \
			float left = (float)((int32_t)(uint8_t)(a[i] ^ turn_a) - zero_a) * scale_a;                    \
			float right = (float)((int32_t)(uint8_t)(b[i] ^ turn_b) - zero_b) * scale_b;                   \
			float value = left op right, t = distance;                                                     \
			t = t > low ? t : low;                                                                         \
			t = t < high ? t : high;                                                                       \
			y[i] = (uint8_t)((steps) + zero);                                                              \
		}                                                                                                      \
	}
#define CODES_LOOPS(name, op)                                                                                          \
	CODES_LOOP(name##_over_even, op, value / step, qspan_nearest(t))                                               \
	CODES_LOOP(name##_over_up, op, value / step, (int32_t)floorf(t + 0.5f))                                                 \
	CODES_LOOP(name##_times_even, op, value * step, qspan_nearest(t))                                              \
	CODES_LOOP(name##_times_up, op, value * step, (int32_t)floorf(t + 0.5f))
#define CODES_ROW(name) {{name##_over_even, name##_over_up}, {name##_times_even, name##_times_up}}
CODES_LOOPS(codes_add, +)
CODES_LOOPS(codes_sub, -)
CODES_LOOPS(codes_mul, *)

static void scale(float *y, float gain, float shift, int64_t n)
{
	_Pragma("omp simd") for (int64_t i = 0; i < n; i++) y[i] = y[i] * gain + shift;
}

const struct elt_table ELT_TABLE = {
	.binary = {
		[ELT_ADD] = binary_add, [ELT_SUB] = binary_sub, [ELT_MUL] = binary_mul, [ELT_DIV] = binary_div,
		[ELT_PRELU] = prelu,
	},
	.codes = {
		[ELT_ADD] = CODES_ROW(codes_add), [ELT_SUB] = CODES_ROW(codes_sub), [ELT_MUL] = CODES_ROW(codes_mul),
	},
	.scale = scale,
};
