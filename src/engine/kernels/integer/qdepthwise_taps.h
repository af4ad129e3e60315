// Sums of taps (private): the loops of qdepthwise.h that do not depend on what a number is.
#ifndef QTUI_ENGINE_KERNELS_INTEGER_QDEPTHWISE_TAPS_H
#define QTUI_ENGINE_KERNELS_INTEGER_QDEPTHWISE_TAPS_H

#include <string.h>
#include "../../tensor/vector.h"
#include "qdepthwise.h"

// NAME_round: QDW_ROUND pixels from `at` bytes past the first, of as many channels as a vector of numbers holds,
// from lane `lane` on. rows and shared are constants where it is called.
#define TAPS(name, lanes, vec, sums, num, sum, multiply_add)                                                           \
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
		for (int64_t t = 0; t < n_taps; t++, w += (band->shared ? QDW_ROWS : 1) * (lanes)) {                   \
			const char *x = tap[t] + at, *x1 = other[t] + at;                                              \
			memcpy(&w0, w, sizeof w0);                                                                     \
			memcpy(&w1, w + (shared ? (lanes) : 0), sizeof w1);                                            \
			_Pragma("GCC unroll 4") for (int i = 0; i < QDW_ROUND; i++)                                    \
			{                                                                                              \
				memcpy(&v, x + i * step, sizeof v);                                                    \
				VKEEP(v);                                                                              \
				a[0][i] = multiply_add(a[0][i], v, w0);                                                \
				if (rows == 1)                                                                         \
					continue;                                                                      \
				if (!shared)                                                                           \
					memcpy(&v, x1 + i * step, sizeof v);                                           \
				a[1][i] = multiply_add(a[1][i], v, w1);                                                \
			}                                                                                              \
		}                                                                                                      \
	}                                                                                                              \
	VINLINE void name##_rows(sum *acc, int64_t room, const struct qdw_band *band, int64_t first, int64_t n, int rows, bool shared) \
	{                                                                                                              \
		const int each = (int)(sizeof(vec) / sizeof(num));                                                     \
		for (int64_t p = 0; p < n; p += QDW_ROUND)                                                             \
			for (int l = 0; l < (lanes); l += each) {                                                      \
				sums a[QDW_ROWS][QDW_ROUND];                                                           \
				name##_round(a, band, (first + p) * band->step + l * (int)sizeof(num), l, rows, shared); \
				_Pragma("GCC unroll 2") for (int r = 0; r < rows; r++)                                 \
					_Pragma("GCC unroll 4") for (int i = 0; i < QDW_ROUND; i++)                    \
					    memcpy(acc + (r * room + p + i) * (lanes) + l, &a[r][i], sizeof(sums));    \
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

#endif
