// The loops of qdepthwise.h: QDW_NARROW and QDW_WIDE fill a struct qdw_loops.
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
#define u16_widen(v) (v)
typedef uint16_t vwords __attribute__((vector_size(32)));

#define SPREAD(name, type)                                                                                             \
	typedef type name##_pixel __attribute__((vector_size(QDW_LANES * sizeof(type))));                              \
	typedef type name##_both __attribute__((vector_size(2 * QDW_LANES * sizeof(type))));                           \
	static void name##_pairs(void *dst, const void *above, const void *below, int64_t step, int64_t n, int32_t shift) \
	{                                                                                                              \
		const type *a = above, *b = below;                                                                     \
		int16_t *y = dst;                                                                                      \
		int64_t i = 0;                                                                                         \
		for (; step == QDW_LANES && i + 2 <= n; i += 2, a += 2 * QDW_LANES, b += 2 * QDW_LANES, y += 4 * QDW_LANES) { \
			name##_both va, vb;                                                                            \
			memcpy(&va, a, sizeof(va));                                                                    \
			memcpy(&vb, b, sizeof(vb));                                                                    \
			name##_both first = __builtin_shufflevector(va, vb, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21,  \
			    6, 22, 7, 23);                                                                             \
			name##_both second = __builtin_shufflevector(va, vb, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, \
			    29, 14, 30, 15, 31);                                                                       \
			vwords one = (vwords)name##_widen(first) - (uint16_t)shift;                                    \
			vwords two = (vwords)name##_widen(second) - (uint16_t)shift;                                   \
			memcpy(y, &one, sizeof(one));                                                                  \
			memcpy(y + 2 * QDW_LANES, &two, sizeof(two));                                                  \
		}                                                                                                      \
		for (; i < n; i++, a += step, b += step, y += 2 * QDW_LANES) {                                         \
			name##_pixel va, vb;                                                                           \
			memcpy(&va, a, sizeof(va));                                                                    \
			memcpy(&vb, b, sizeof(vb));                                                                    \
			name##_both both = __builtin_shufflevector(va, vb, 0, 8, 1, 9, 2, 10, 3, 11, 4, 12, 5, 13, 6,  \
			    14, 7, 15);                                                                                \
			vwords words = (vwords)name##_widen(both) - (uint16_t)shift;                                   \
			memcpy(y, &words, sizeof(words));                                                              \
		}                                                                                                      \
	}                                                                                                              \
	static void name##_doubles(void *dst, const void *src, const void *below, int64_t step, int64_t n, int32_t shift) \
	{                                                                                                              \
		const type *x = src;                                                                                   \
		double *y = dst;                                                                                       \
		(void)below;                                                                                           \
		for (int64_t i = 0; i < n; i++, x += step, y += QDW_LANES)                                             \
			_Pragma("omp simd") for (int l = 0; l < QDW_LANES; l++) y[l] = x[l] - shift;                   \
	}
SPREAD(i8, int8_t)
SPREAD(u8, uint8_t)
SPREAD(i16, int16_t)
SPREAD(u16, uint16_t)
#define SPREADS(form) { [DT_I8] = i8_##form, [DT_U8] = u8_##form, [DT_I16] = i16_##form, [DT_U16] = u16_##form }

// NAME_round: QDW_ROUND pixels from `at` bytes past the first, of as many channels as a vector of numbers holds, from lane `lane` on.
// rows and shared are constants where it is called.
#define TAPS(name, vec, sums, num, sum, multiply)                                                                      \
	VINLINE void name##_round(sums a[QDW_ROWS][QDW_ROUND], const struct qdw_band *band, int64_t at, int lane, int rows, bool shared) \
	{                                                                                                              \
		const int64_t n_taps = band->n_taps, step = band->step;                                                \
		const char *const *tap = band->tap, *const *other = shared || rows == 1 ? tap : tap + n_taps;          \
		const num *w = (const num *)band->weight + lane;                                                       \
		vec w0, w1, v;                                                                                         \
		_Pragma("GCC unroll 4") for (int i = 0; i < QDW_ROUND; i++)                                            \
		{                                                                                                      \
			memcpy(&a[0][i], (const sum *)band->bias + lane, sizeof(sums));                                \
			a[1][i] = a[0][i];                                                                             \
		}                                                                                                      \
		for (int64_t t = 0; t < n_taps; t++, w += (band->shared ? QDW_ROWS : 1) * QDW_LANES) {                 \
			const char *x = tap[t] + at, *x1 = other[t] + at;                                              \
			memcpy(&w0, w, sizeof(w0));                                                                    \
			memcpy(&w1, w + (shared ? QDW_LANES : 0), sizeof(w1));                                         \
			_Pragma("GCC unroll 4") for (int i = 0; i < QDW_ROUND; i++)                                    \
			{                                                                                              \
				memcpy(&v, x + i * step, sizeof(v));                                                   \
				VKEEP(v);                                                                              \
				a[0][i] += multiply(v, w0);                                                            \
				if (rows == 1)                                                                         \
					continue;                                                                      \
				if (!shared)                                                                           \
					memcpy(&v, x1 + i * step, sizeof(v));                                          \
				a[1][i] += multiply(v, w1);                                                            \
			}                                                                                              \
		}                                                                                                      \
	}                                                                                                              \
	VINLINE void name##_rows(sum *acc, int64_t room, const struct qdw_band *band, int64_t first, int64_t n, int rows, bool shared) \
	{                                                                                                              \
		const int lanes = (int)(sizeof(vec) / sizeof(num));                                                    \
		for (int64_t p = 0; p < n; p += QDW_ROUND)                                                             \
			for (int l = 0; l < QDW_LANES; l += lanes) {                                                   \
				sums a[QDW_ROWS][QDW_ROUND];                                                           \
				name##_round(a, band, (first + p) * band->step + l * (int)sizeof(num), l, rows, shared); \
				_Pragma("GCC unroll 2") for (int r = 0; r < rows; r++)                                 \
					_Pragma("GCC unroll 4") for (int i = 0; i < QDW_ROUND; i++)                    \
					    memcpy(acc + (r * room + p + i) * QDW_LANES + l, &a[r][i], sizeof(sums));  \
			}                                                                                              \
	}                                                                                                              \
	static void name(void *acc, int64_t room, const struct qdw_band *band, int64_t first, int64_t n)               \
	{                                                                                                              \
		if (band->rows == 1)                                                                                   \
			name##_rows(acc, room, band, first, n, 1, false);                                              \
		else if (band->shared)                                                                                 \
			name##_rows(acc, room, band, first, n, QDW_ROWS, true);                                        \
		else                                                                                                   \
			name##_rows(acc, room, band, first, n, QDW_ROWS, false);                                       \
	}

struct pair {
	int16_t of[2];
};
#define TIMES(a, b) ((a) * (b))
TAPS(pair_taps, vpairs, vint, struct pair, int32_t, vpairs_dot)
TAPS(double_taps, vdouble, vdouble, double, double, TIMES)

static void double_to_float(float *y, const void *src, int64_t n)
{
	const double *acc = src;

	_Pragma("omp simd") for (int64_t i = 0; i < n * QDW_LANES; i++) y[i] = (float)acc[i];
}

#define QDW_NARROW .size = sizeof(struct pair), .together = 2, .spread = SPREADS(pairs), .taps = pair_taps
#define QDW_WIDE .size = sizeof(double), .together = 1, .spread = SPREADS(doubles), .taps = double_taps, .to_float = double_to_float
