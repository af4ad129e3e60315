// The loops of qdepthwise.h; the including file defines QDW_TABLE, the name of the table that it exports.
#include <string.h>
#include "../vector.h"
#include "qdepthwise.h"

#define EXPAND(name, vec, type, load)                                                                                  \
	static void name(void *dst, const void *src, int64_t step, int64_t n, int32_t zero)                            \
	{                                                                                                              \
		const type *x = src;                                                                                   \
		char *y = dst;                                                                                         \
		for (int64_t p = 0; p < n; p++, x += step, y += sizeof(vec)) {                                         \
			vec v = __builtin_convertvector(load(x) - zero, vec);                                          \
			memcpy(y, &v, sizeof(v));                                                                      \
		}                                                                                                      \
	}

// `some` pixels at a time, with their sums in registers.
#define TAPS(name, vec, num, some)                                                                                     \
	static inline void name##_some(num *acc, const num *x, const int64_t *offset, int64_t n_taps, const num *w,    \
	    const num *bias, int64_t step)                                                                             \
	{                                                                                                              \
		vec a[some], v, weight;                                                                                \
		_Pragma("GCC unroll 8") for (int i = 0; i < some; i++) memcpy(&a[i], bias, sizeof(a[i]));              \
		for (int64_t t = 0; t < n_taps; t++) {                                                                 \
			const num *from = x + offset[t];                                                               \
			memcpy(&weight, w + t * QDW_LANES, sizeof(weight));                                            \
			_Pragma("GCC unroll 8") for (int i = 0; i < some; i++, from += step)                           \
			{                                                                                              \
				memcpy(&v, from, sizeof(v));                                                           \
				a[i] += v * weight;                                                                    \
			}                                                                                              \
		}                                                                                                      \
		_Pragma("GCC unroll 8") for (int i = 0; i < some; i++)                                                 \
		    memcpy(acc + i * QDW_LANES, &a[i], sizeof(a[i]));                                                  \
	}                                                                                                              \
	static void name(void *acc, const void *x, const int64_t *offset, int64_t n_taps, const void *w,               \
	    const void *bias, int64_t step, int64_t n)                                                                 \
	{                                                                                                              \
		for (int64_t p = 0; p < n; p += some)                                                                  \
			name##_some((num *)acc + p * QDW_LANES, (const num *)x + p * step, offset, n_taps, w, bias, step);\
	}

#define NUMBERS(num, vec, some)                                                                                        \
	EXPAND(num##_i8, vec, int8_t, vcodes_i8)                                                                       \
	EXPAND(num##_u8, vec, uint8_t, vcodes_u8)                                                                      \
	EXPAND(num##_i16, vec, int16_t, vcodes_i16)                                                                    \
	EXPAND(num##_u16, vec, uint16_t, vcodes_u16)                                                                   \
	TAPS(num##_taps, vec, num, some)

NUMBERS(float, vfloat, 8)
NUMBERS(double, vdouble, 4)

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
