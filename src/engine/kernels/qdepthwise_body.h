// The loops of qdepthwise.h; the including file defines QDW_TABLE, the name of the table that it exports.
#include <string.h>
#include "../vector.h"
#include "qdepthwise.h"

#define EXPAND(name, num, type, load)                                                                                  \
	static void name(void *dst, const void *src, int64_t step, int64_t n, int32_t zero)                            \
	{                                                                                                              \
		const type *x = src;                                                                                   \
		num *y = dst;                                                                                          \
		for (int64_t p = 0; p < n; p++, x += step, y += QDW_LANES) {                                           \
			vint v = load(x) - zero;                                                                       \
			_Pragma("omp simd") for (int i = 0; i < QDW_LANES; i++) y[i] = (num)v[i];                      \
		}                                                                                                      \
	}

// QDW_ROUND pixels, and as many of their channels as a vector holds, with their sums in registers.
#define TAPS(name, vec, num)                                                                                           \
	static inline void name##_some(num *acc, const num *x, const int64_t *offset, int64_t n_taps, const num *w,    \
	    const num *bias, int64_t step)                                                                             \
	{                                                                                                              \
		vec a[QDW_ROUND], v, weight;                                                                           \
		_Pragma("GCC unroll 8") for (int i = 0; i < QDW_ROUND; i++) memcpy(&a[i], bias, sizeof(a[i]));         \
		for (int64_t t = 0; t < n_taps; t++) {                                                                 \
			const num *from = x + offset[t];                                                               \
			memcpy(&weight, w + t * QDW_LANES, sizeof(weight));                                            \
			_Pragma("GCC unroll 8") for (int i = 0; i < QDW_ROUND; i++, from += step)                      \
			{                                                                                              \
				memcpy(&v, from, sizeof(v));                                                           \
				a[i] += v * weight;                                                                    \
			}                                                                                              \
		}                                                                                                      \
		_Pragma("GCC unroll 8") for (int i = 0; i < QDW_ROUND; i++)                                            \
		    memcpy(acc + i * QDW_LANES, &a[i], sizeof(a[i]));                                                  \
	}                                                                                                              \
	static void name(void *acc, const void *x, const int64_t *offset, int64_t n_taps, const void *w,               \
	    const void *bias, int64_t step, int64_t n)                                                                 \
	{                                                                                                              \
		const int lanes = (int)(sizeof(vec) / sizeof(num));                                                    \
		for (int64_t p = 0; p < n; p += QDW_ROUND)                                                             \
			for (int l = 0; l < QDW_LANES; l += lanes)                                                     \
				name##_some((num *)acc + p * QDW_LANES + l, (const num *)x + p * step + l, offset,     \
				    n_taps, (const num *)w + l, (const num *)bias + l, step);                          \
	}

#define NUMBERS(num, vec)                                                                                              \
	EXPAND(num##_i8, num, int8_t, vcodes_i8)                                                                       \
	EXPAND(num##_u8, num, uint8_t, vcodes_u8)                                                                      \
	EXPAND(num##_i16, num, int16_t, vcodes_i16)                                                                    \
	EXPAND(num##_u16, num, uint16_t, vcodes_u16)                                                                   \
	TAPS(num##_taps, vec, num)

NUMBERS(float, vfloat)
NUMBERS(double, vdouble)

static void double_to_float(float *y, const void *src, int64_t n)
{
	const double *acc = src;

	_Pragma("omp simd") for (int64_t i = 0; i < n * QDW_LANES; i++) y[i] = (float)acc[i];
}

#define LOOPS(num, the_to_float)                                                                                       \
	{                                                                                                              \
		.size = sizeof(num),                                                                                   \
		.expand = {                                                                                            \
			[DT_I8] = num##_i8, [DT_U8] = num##_u8, [DT_I16] = num##_i16, [DT_U16] = num##_u16,            \
		},                                                                                                     \
		.taps = num##_taps, .to_float = (the_to_float),                                                        \
	}
const struct qdw_table QDW_TABLE = { .narrow = LOOPS(float, NULL), .wide = LOOPS(double, double_to_float) };
