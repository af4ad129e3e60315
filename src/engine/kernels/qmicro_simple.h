// Sums in memory to 8-bit codes in AVX2. Included by the files of both vector levels.
#include "qsimple.h"

static inline void simple_store(uint8_t *y, __m256 a0, __m256 a1, __m256 b0, __m256 b1, const struct simple *s)
{
	__m256i codes = simple_codes(a0, a1, b0, b1, s);
	_mm256_storeu_si256((__m256i *)y, _mm256_permutevar8x32_epi32(codes, s->order));
}

static void finish(void *y, const int32_t *acc, const struct qscaling *scaling, const float *scale, const float *fbias, int rows)
{
	if (!scaling->simple) {
		finish_any(y, acc, scaling, scale, fbias, rows);
		return;
	}
	const struct simple s = simple_of(scaling, scale, fbias);
	for (int r = 0; r < rows; r += 2, acc += 2 * QLANES)
		simple_store((uint8_t *)y + r * QLANES, simple_load(acc), simple_load(acc + 8), simple_load(acc + 16),
		    simple_load(acc + 24), &s);
}

static void finish_wide(void *y, const float *v, const struct qscaling *scaling, const float *scale, const float *fbias, int rows)
{
	if (!scaling->simple) {
		finish_wide_any(y, v, scaling, scale, fbias, rows);
		return;
	}
	const struct simple s = simple_of(scaling, scale, fbias);
	for (int r = 0; r < rows; r += 2, v += 2 * QLANES)
		simple_store((uint8_t *)y + r * QLANES, _mm256_loadu_ps(v), _mm256_loadu_ps(v + 8), _mm256_loadu_ps(v + 16),
		    _mm256_loadu_ps(v + 24), &s);
}
