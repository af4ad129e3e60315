// A table look-up as sixteen shuffles of 16 entries by the low four bits of a code; each of the others then chooses among halves of what is left.
#ifdef __x86_64__
#include <immintrin.h>
#include "qlut.h"

static inline __m256i entries_at(const uint8_t *lut)
{
	return _mm256_broadcastsi128_si256(_mm_loadu_si128((const __m128i *)lut));
}

int64_t qlut_avx2(const uint8_t lut[256], const uint8_t *x, uint8_t *y, int64_t n)
{
	int64_t i = 0;

	for (; i + 32 <= n; i += 32) {
		__m256i code = _mm256_loadu_si256((const __m256i *)(x + i)), low = _mm256_and_si256(code, _mm256_set1_epi8(15)), out[16];
		// Bits 4 to 7 as the top bits of their bytes.
		const __m256i bits[4] = { _mm256_slli_epi16(code, 3), _mm256_slli_epi16(code, 2), _mm256_slli_epi16(code, 1), code };
#pragma GCC unroll 16
		for (int r = 0; r < 16; r++)
			out[r] = _mm256_shuffle_epi8(entries_at(lut + 16 * r), low);
#pragma GCC unroll 4
		for (int b = 0; b < 4; b++)
#pragma GCC unroll 8
			for (int r = 0; r < 8 >> b; r++)
				out[r] = _mm256_blendv_epi8(out[2 * r], out[2 * r + 1], bits[b]);
		_mm256_storeu_si256((__m256i *)(y + i), out[0]);
	}
	return i;
}
#endif
