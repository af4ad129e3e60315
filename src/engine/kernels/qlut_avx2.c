// A table look-up as sixteen shuffles of 16 entries by the low four bits of a code; each of the others then chooses among halves of what is left.
#ifdef __x86_64__
#include <immintrin.h>
#include "qlut.h"

static inline __m256i entries_at(const uint8_t *lut)
{
	return _mm256_broadcastsi128_si256(_mm_loadu_si128((const __m128i *)lut));
}

// Of n pairs each time the one that a bit says.
static inline __attribute__((always_inline)) void choose(__m256i *out, int n, __m256i bit)
{
#pragma GCC unroll 8
	for (int r = 0; r < n; r++)
		out[r] = _mm256_blendv_epi8(out[2 * r], out[2 * r + 1], bit);
}

int64_t qlut_avx2(const uint8_t lut[256], const uint8_t *x, uint8_t *y, int64_t n)
{
	int64_t i = 0;

	for (; i + 32 <= n; i += 32) {
		__m256i code = _mm256_loadu_si256((const __m256i *)(x + i)), low = _mm256_and_si256(code, _mm256_set1_epi8(15)), out[16];
#pragma GCC unroll 16
		for (int r = 0; r < 16; r++)
			out[r] = _mm256_shuffle_epi8(entries_at(lut + 16 * r), low);
		// By bits 4 to 7 as the top bits of their bytes.
		choose(out, 8, _mm256_slli_epi16(code, 3));
		choose(out, 4, _mm256_slli_epi16(code, 2));
		choose(out, 2, _mm256_slli_epi16(code, 1));
		out[0] = _mm256_blendv_epi8(out[0], out[1], code);
		_mm256_storeu_si256((__m256i *)(y + i), out[0]);
	}
	return i;
}
#endif
