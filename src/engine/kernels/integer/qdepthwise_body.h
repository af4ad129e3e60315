// The loops of qdepthwise.h: QDW_NARROW and QDW_WIDE fill a struct qdw_loops.
#include "qdepthwise_taps.h"

enum { LANES = 8 };

// In 16 bits from the start: the difference is known to fit.
#if defined(__AVX2__)
#define i8_widen(v) (vpairs) _mm256_cvtepi8_epi16((__m128i)(v))
#define u8_widen(v) (vpairs) _mm256_cvtepu8_epi16((__m128i)(v))
#else
#define i8_widen(v) __builtin_convertvector(v, vpairs)
#define u8_widen(v) __builtin_convertvector(v, vpairs)
#endif
#define i16_widen(v) (v)
#define u16_widen(v) (v)
typedef uint16_t vwords __attribute__((vector_size(32)));

#define SPREAD(name, type)                                                                                             \
	typedef type name##_pixel __attribute__((vector_size(LANES * sizeof(type))));                                  \
	typedef type name##_both __attribute__((vector_size(2 * LANES * sizeof(type))));                               \
	static void name##_pairs(void *dst, const void *const *row, int64_t step, int64_t n, int32_t shift)            \
	{                                                                                                              \
		const type *a = row[0], *b = row[1];                                                                   \
		int16_t *y = dst;                                                                                      \
		int64_t i = 0;                                                                                         \
		for (; step == LANES && i + 2 <= n; i += 2, a += 2 * LANES, b += 2 * LANES, y += 4 * LANES) {          \
			name##_both va, vb;                                                                            \
			memcpy(&va, a, sizeof va);                                                                     \
			memcpy(&vb, b, sizeof vb);                                                                     \
			name##_both first = __builtin_shufflevector(va, vb, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21,  \
			    6, 22, 7, 23);                                                                             \
			name##_both second = __builtin_shufflevector(va, vb, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, \
			    29, 14, 30, 15, 31);                                                                       \
			vwords one = (vwords)name##_widen(first) - (uint16_t)shift;                                    \
			vwords two = (vwords)name##_widen(second) - (uint16_t)shift;                                   \
			memcpy(y, &one, sizeof one);                                                                   \
			memcpy(y + 2 * LANES, &two, sizeof two);                                                       \
		}                                                                                                      \
		for (; i < n; i++, a += step, b += step, y += 2 * LANES) {                                             \
			name##_pixel va, vb;                                                                           \
			memcpy(&va, a, sizeof va);                                                                     \
			memcpy(&vb, b, sizeof vb);                                                                     \
			name##_both both = __builtin_shufflevector(va, vb, 0, 8, 1, 9, 2, 10, 3, 11, 4, 12, 5, 13, 6,  \
			    14, 7, 15);                                                                                \
			vwords words = (vwords)name##_widen(both) - (uint16_t)shift;                                   \
			memcpy(y, &words, sizeof words);                                                               \
		}                                                                                                      \
	}                                                                                                              \
	static void name##_doubles(void *dst, const void *const *row, int64_t step, int64_t n, int32_t shift)          \
	{                                                                                                              \
		const type *x = row[0];                                                                                \
		double *y = dst;                                                                                       \
		for (int64_t i = 0; i < n; i++, x += step, y += LANES)                                                 \
			_Pragma("omp simd") for (int l = 0; l < LANES; l++) y[l] = x[l] - shift;                       \
	}
SPREAD(i8, int8_t)
SPREAD(u8, uint8_t)
SPREAD(i16, int16_t)
SPREAD(u16, uint16_t)
#define SPREADS(form) {[DT_I8] = i8_##form, [DT_U8] = u8_##form, [DT_I16] = i16_##form, [DT_U16] = u16_##form}

struct pair {
	int16_t of[2];
};
#define ADD_PAIRS(sum, v, w) ((sum) + vpairs_dot(v, w))
#define ADD_PRODUCT(sum, v, w) ((sum) + (v) * (w))
TAPS(pair_taps, LANES, vpairs, vint, struct pair, int32_t, ADD_PAIRS)
TAPS(double_taps, LANES, vdouble, vdouble, double, double, ADD_PRODUCT)

static void double_to_float(float *y, const void *src, int64_t n)
{
	const double *acc = src;
	_Pragma("omp simd") for (int64_t i = 0; i < n * LANES; i++) y[i] = (float)acc[i];
}

#define QDW_NARROW .lanes = LANES, .size = sizeof(struct pair), .together = 2, .spread = SPREADS(pairs), .taps = pair_taps
#define QDW_WIDE                                                                                                        \
	.lanes = LANES, .size = sizeof(double), .together = 1, .spread = SPREADS(doubles), .taps = double_taps,        \
	.to_float = double_to_float
