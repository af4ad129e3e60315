// The loops of qdepthwise.h; the including file defines QDW_TABLE, the name of the table that it exports.
#include <string.h>
#include "../vector.h"
#include "qdepthwise.h"

// In 16 bits from the start: the difference is known to fit.
#if defined(__AVX2__)
#define i8_widen(v) (vpairs) _mm256_cvtepi8_epi16((__m128i)(v))
#define u8_widen(v) (vpairs) _mm256_cvtepu8_epi16((__m128i)(v))
#else
#define i8_widen(v) __builtin_convertvector(v, vpairs)
#define u8_widen(v) __builtin_convertvector(v, vpairs)
#endif
#define i16_widen(v) (v)
#define u16_widen(v) (vpairs)(v)

#define SPREAD(name, type)                                                                                             \
	typedef type name##_pixel __attribute__((vector_size(QDW_LANES * sizeof(type))));                              \
	typedef type name##_both __attribute__((vector_size(2 * QDW_LANES * sizeof(type))));                           \
	static void name##_pairs(void *dst, const void *src, int64_t n, int64_t pace, int64_t ahead, int32_t shift)    \
	{                                                                                                              \
		const type *row = src;                                                                                 \
		int16_t *y = dst;                                                                                      \
		for (int64_t i = 0; i < n; i++, row += pace * QDW_LANES, y += 2 * QDW_LANES) {                         \
			name##_pixel a, b;                                                                             \
			memcpy(&a, row, sizeof(a));                                                                    \
			memcpy(&b, row + ahead * QDW_LANES, sizeof(b));                                                \
			name##_both both = __builtin_shufflevector(a, b, 0, 8, 1, 9, 2, 10, 3, 11, 4, 12, 5, 13, 6,    \
			    14, 7, 15);                                                                                \
			vpairs pairs = name##_widen(both) - (int16_t)(uint16_t)shift;                                  \
			memcpy(y, &pairs, sizeof(pairs));                                                              \
		}                                                                                                      \
	}                                                                                                              \
	static void name##_doubles(void *dst, const void *src, int64_t n, int64_t pace, int64_t ahead, int32_t shift)  \
	{                                                                                                              \
		const type *row = src;                                                                                 \
		double *y = dst;                                                                                       \
		(void)ahead;                                                                                           \
		for (int64_t i = 0; i < n; i++, row += pace * QDW_LANES, y += QDW_LANES)                               \
			_Pragma("omp simd") for (int l = 0; l < QDW_LANES; l++) y[l] = row[l] - shift;                 \
	}
SPREAD(i8, int8_t)
SPREAD(u8, uint8_t)
SPREAD(i16, int16_t)
SPREAD(u16, uint16_t)
#define SPREADS(form) { [DT_I8] = i8_##form, [DT_U8] = u8_##form, [DT_I16] = i16_##form, [DT_U16] = u16_##form }

// QDW_ROUND pixels, and as many of their channels as a vector of numbers holds, with their sums in registers.
#define TAPS(name, vec, sums, num, sum, multiply)                                                                      \
	static inline void name##_some(sum *acc, const char *const *tap, int64_t at, int64_t n_taps, const num *w,     \
	    const sum *bias, int64_t step)                                                                             \
	{                                                                                                              \
		sums a[QDW_ROUND];                                                                                     \
		vec v, weight;                                                                                         \
		_Pragma("GCC unroll 8") for (int i = 0; i < QDW_ROUND; i++) memcpy(&a[i], bias, sizeof(a[i]));         \
		for (int64_t t = 0; t < n_taps; t++) {                                                                 \
			const num *from = (const num *)(const void *)tap[t] + at;                                      \
			memcpy(&weight, w + t * QDW_LANES, sizeof(weight));                                            \
			_Pragma("GCC unroll 8") for (int i = 0; i < QDW_ROUND; i++, from += step)                      \
			{                                                                                              \
				memcpy(&v, from, sizeof(v));                                                           \
				a[i] += multiply(v, weight);                                                           \
			}                                                                                              \
		}                                                                                                      \
		_Pragma("GCC unroll 8") for (int i = 0; i < QDW_ROUND; i++)                                            \
		    memcpy(acc + i * QDW_LANES, &a[i], sizeof(a[i]));                                                  \
	}                                                                                                              \
	static void name(void *acc, const char *const *tap, int64_t first, int64_t n_taps, const void *w,              \
	    const void *bias, int64_t step, int64_t n)                                                                 \
	{                                                                                                              \
		const int lanes = (int)(sizeof(vec) / sizeof(num));                                                    \
		for (int64_t p = 0; p < n; p += QDW_ROUND)                                                             \
			for (int l = 0; l < QDW_LANES; l += lanes)                                                     \
				name##_some((sum *)acc + p * QDW_LANES + l, tap, (first + p) * step + l, n_taps,       \
				    (const num *)w + l, (const sum *)bias + l, step);                                  \
	}

struct pair {
	int16_t tap[2];
};
#define TIMES(a, b) ((a) * (b))
TAPS(pair_taps, vpairs, vint, struct pair, int32_t, vpairs_dot)
TAPS(double_taps, vdouble, vdouble, double, double, TIMES)

static void double_to_float(float *y, const void *src, int64_t n)
{
	const double *acc = src;

	_Pragma("omp simd") for (int64_t i = 0; i < n * QDW_LANES; i++) y[i] = (float)acc[i];
}

const struct qdw_table QDW_TABLE = {
	.narrow = { .size = sizeof(struct pair), .together = 2, .spread = SPREADS(pairs), .taps = pair_taps },
	.wide = { .size = sizeof(double), .together = 1, .spread = SPREADS(doubles), .taps = double_taps, .to_float = double_to_float },
};
