// A table look-up as sixteen 16-entry shuffles. A shuffle gives 0 for an index with its top bit set: with 16 taken from the
// index after each row, and saturating arithmetic that keeps other rows' indices at or above 0x80, the rows are combined by OR.
#ifdef __x86_64__
#include <immintrin.h>
#include "qlut.h"

int64_t qlut_avx2(const uint8_t lut[256], const uint8_t *x, uint8_t *y, int64_t n)
{
	const __m256i above = _mm256_set1_epi8(0x70), row = _mm256_set1_epi8(16);
	int64_t i = 0;

	for (; i + 32 <= n; i += 32) {
		__m256i index = _mm256_loadu_si256((const __m256i *)(x + i)), out = _mm256_setzero_si256();
#pragma GCC unroll 16
		for (int r = 0; r < 16; r++) {
			__m256i entries = _mm256_broadcastsi128_si256(_mm_loadu_si128((const __m128i *)(lut + 16 * r)));
			__m256i chosen = _mm256_adds_epu8(index, above); // 0x70..0x7f for this row, else at least 0x80
			out = _mm256_or_si256(out, _mm256_shuffle_epi8(entries, chosen));
			index = _mm256_sub_epi8(index, row);
		}
		_mm256_storeu_si256((__m256i *)(y + i), out);
	}
	return i;
}
#endif
