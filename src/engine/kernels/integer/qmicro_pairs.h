// Input codes to values of 16 bits, compiled once for every processor level;
// the including file may define QMICRO_LOT, how many at once.
#include <stdint.h>
#include <string.h>
#include "qfast.h"

#ifndef QMICRO_LOT
#define QMICRO_LOT 8
#endif
typedef uint16_t vlot __attribute__((vector_size(2 * QMICRO_LOT)));

#if defined(__AVX2__)
#define LOT_OF(name, type, load, widen)                                                                                \
	static inline vlot lot_##name(const type *x)                                                                   \
	{                                                                                                              \
		return (vlot)widen(load((const void *)x));                                                             \
	}
#define AS_THEY_ARE(v) (v)
#if QMICRO_LOT == 16
LOT_OF(i8, int8_t, _mm_loadu_si128, _mm256_cvtepi8_epi16)
LOT_OF(u8, uint8_t, _mm_loadu_si128, _mm256_cvtepu8_epi16)
LOT_OF(i16, int16_t, _mm256_loadu_si256, AS_THEY_ARE)
LOT_OF(u16, uint16_t, _mm256_loadu_si256, AS_THEY_ARE)
#else
LOT_OF(i8, int8_t, _mm_loadl_epi64, _mm_cvtepi8_epi16)
LOT_OF(u8, uint8_t, _mm_loadl_epi64, _mm_cvtepu8_epi16)
LOT_OF(i16, int16_t, _mm_loadu_si128, AS_THEY_ARE)
LOT_OF(u16, uint16_t, _mm_loadu_si128, AS_THEY_ARE)
#endif
#else
#define LOT_OF(name, type)                                                                                             \
	static inline vlot lot_##name(const type *x)                                                                   \
	{                                                                                                              \
		vlot v;                                                                                                \
		SIMD_FOR(i, QMICRO_LOT) v[i] = (uint16_t)x[i];                                                         \
		return v;                                                                                              \
	}
LOT_OF(i8, int8_t)
LOT_OF(u8, uint8_t)
LOT_OF(i16, int16_t)
LOT_OF(u16, uint16_t)
#endif

// In 16 bits from the start: the difference is known to fit.
#define WIDEN(name, type)                                                                                              \
	static void widen_##name(void *to, int64_t step, const void *src, int64_t from_step, int64_t n, int32_t shift) \
	{                                                                                                              \
		const type *x = src;                                                                                   \
		int16_t *y = to;                                                                                       \
		for (int64_t g = 0; g < n; g++, x += from_step, y += step) {                                           \
			vlot v = lot_##name(x) - (uint16_t)shift;                                                      \
			memcpy(y, &v, sizeof v);                                                                       \
		}                                                                                                      \
	}
WIDEN(i8, int8_t)
WIDEN(u8, uint8_t)
WIDEN(i16, int16_t)
WIDEN(u16, uint16_t)

#define QMICRO_PAIRS                                                                                                    \
	.size = 2, .lot = QMICRO_LOT, .interleave3 = interleave3,                                                      \
	.widen = {[DT_I8] = widen_i8, [DT_U8] = widen_u8, [DT_I16] = widen_i16, [DT_U16] = widen_u16}

typedef int16_t vshort __attribute__((vector_size(16)));

// Eight values of each of three arrays in turn: 0 of a, 0 of b, 0 of c, 1 of a ...
static void interleave3(void *to, const void *from_a, const void *from_b, const void *from_c, int64_t n)
{
	const int16_t *a = from_a, *b = from_b, *c = from_c;
	int16_t *y = to;
	int64_t i = 0;
	for (; i + 8 <= n; i += 8, y += 24) {
		vshort va, vb, vc, out[3];
		memcpy(&va, a + i, sizeof va);
		memcpy(&vb, b + i, sizeof vb);
		memcpy(&vc, c + i, sizeof vc);
		out[0] = __builtin_shufflevector(__builtin_shufflevector(va, vb, 0, 8, 0, 1, 9, 0, 2, 10), vc, 0, 1, 8, 3, 4, 9, 6, 7);
		out[1] = __builtin_shufflevector(__builtin_shufflevector(va, vb, 0, 3, 11, 0, 4, 12, 0, 5), vc, 10, 1, 2, 11, 4, 5, 12, 7);
		out[2] = __builtin_shufflevector(__builtin_shufflevector(va, vb, 13, 0, 6, 14, 0, 7, 15, 0), vc, 0, 13, 2, 3, 14, 5, 6, 15);
		memcpy(y, out, sizeof out);
	}
	for (; i < n; i++, y += 3) {
		y[0] = a[i];
		y[1] = b[i];
		y[2] = c[i];
	}
}
