// A table look-up as two shuffles of 128 entries by the low seven bits of a code; the eighth chooses between them.
#ifdef __x86_64__
#include <immintrin.h>
#include "qlut.h"

int64_t qlut_vbmi(const uint8_t lut[256], const uint8_t *x, uint8_t *y, int64_t n)
{
	const __m512i a = _mm512_loadu_si512(lut), b = _mm512_loadu_si512(lut + 64), c = _mm512_loadu_si512(lut + 128),
		      d = _mm512_loadu_si512(lut + 192);
	int64_t i = 0;
	for (; i + 64 <= n; i += 64) {
		__m512i code = _mm512_loadu_si512(x + i);
		__m512i low = _mm512_permutex2var_epi8(a, code, b), high = _mm512_permutex2var_epi8(c, code, d);
		_mm512_storeu_si512(y + i, _mm512_mask_blend_epi8(_mm512_movepi8_mask(code), low, high));
	}
	return i;
}
#endif
