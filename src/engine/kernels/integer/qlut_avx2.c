// A table look-up as sixteen shuffles of 16 entries by the low four bits of a code.
// A shuffle gives 0 where the top bit of its index is set: of four rows a, b, c, d, which bits 4 and 5 choose from,
// it is a ^ (a ^ b where bit 4 is set) ^ (a ^ c where bit 5 is set) ^ (a ^ b ^ c ^ d where both are).
// So only bits 6 and 7 are left to choose by, which the units that shuffle do as well.
#ifdef __x86_64__
#include <immintrin.h>
#include "qlut.h"

enum { ROWS = 4 }; // that bits 4 and 5 choose from

static inline __m256i entries_at(const uint8_t *lut)
{
	return _mm256_broadcastsi128_si256(_mm_loadu_si128((const __m128i *)lut));
}

static void differences(__m256i d[ROWS], const uint8_t *lut)
{
	__m256i a = entries_at(lut), b = entries_at(lut + 16), c = entries_at(lut + 32), all = _mm256_xor_si256(b, entries_at(lut + 48));
	d[0] = a;
	d[1] = _mm256_xor_si256(a, b);
	d[2] = _mm256_xor_si256(a, c);
	d[3] = _mm256_xor_si256(d[2], all);
}

// index[r] has its top bit set where difference r does not count.
static inline __m256i quarter_at(const __m256i d[ROWS], const __m256i index[ROWS])
{
	return _mm256_xor_si256(_mm256_xor_si256(_mm256_shuffle_epi8(d[0], index[0]), _mm256_shuffle_epi8(d[1], index[1])),
	    _mm256_xor_si256(_mm256_shuffle_epi8(d[2], index[2]), _mm256_shuffle_epi8(d[3], index[3])));
}

int64_t qlut_avx2(const uint8_t lut[256], const uint8_t *x, uint8_t *y, int64_t n)
{
	const __m256i low = _mm256_set1_epi8(15), top = _mm256_set1_epi8(-128);
	__m256i d[4][ROWS];
	int64_t i = 0;
	for (int q = 0; q < 4; q++)
		differences(d[q], lut + 64 * q);
	for (; i + 32 <= n; i += 32) {
		__m256i code = _mm256_loadu_si256((const __m256i *)(x + i)), index[ROWS];
		// Bits 6, 5 and 4 as the top bits of their bytes.
		__m256i bit6 = _mm256_add_epi8(code, code), bit5 = _mm256_add_epi8(bit6, bit6), bit4 = _mm256_add_epi8(bit5, bit5);
		index[0] = _mm256_and_si256(code, low);
		index[1] = _mm256_or_si256(index[0], _mm256_andnot_si256(bit4, top));
		index[2] = _mm256_or_si256(index[0], _mm256_andnot_si256(bit5, top));
		index[3] = _mm256_or_si256(index[1], index[2]);
		__m256i lower = _mm256_blendv_epi8(quarter_at(d[0], index), quarter_at(d[1], index), bit6);
		__m256i upper = _mm256_blendv_epi8(quarter_at(d[2], index), quarter_at(d[3], index), bit6);
		_mm256_storeu_si256((__m256i *)(y + i), _mm256_blendv_epi8(lower, upper, code));
	}
	return i;
}
#endif
