#ifdef __x86_64__
#include <immintrin.h>
#include "ordered_conv.h"

// Sums are variables of their own: gcc keeps an array of them in memory.
#define EACH_ROW(what) what(0) what(1) what(2) what(3) what(4) what(5)
#define BEGIN(r) __m256 low##r = _mm256_setzero_ps(), high##r = _mm256_setzero_ps();
#define ADD(r)                                                                                                         \
	x = _mm256_broadcast_ss(a + (r));                                                                              \
	low##r = _mm256_fmadd_ps(x, b0, low##r);                                                                       \
	high##r = _mm256_fmadd_ps(x, b1, high##r);
#define STORE(r)                                                                                                       \
	_mm256_storeu_ps(c + (r) * ORDERED_COLUMNS, low##r);                                                           \
	_mm256_storeu_ps(c + (r) * ORDERED_COLUMNS + 8, high##r);

void ordered_tile_avx2(const float *a, const float *b, int64_t k, float *c)
{
	_Static_assert(ORDERED_ROWS == 6 && ORDERED_COLUMNS == 16, "as the sums are laid out");
	EACH_ROW(BEGIN)
	for (; k > 0; k--, a += ORDERED_ROWS, b += ORDERED_COLUMNS) {
		__m256 b0 = _mm256_loadu_ps(b), b1 = _mm256_loadu_ps(b + 8), x;
		EACH_ROW(ADD)
	}
	EACH_ROW(STORE)
}

static inline __m256 product(const float *a, const float *b)
{
	return _mm256_mul_ps(_mm256_broadcast_ss(a), _mm256_loadu_ps(b));
}

static inline __m256 half(const float *a, const float *b, int64_t k)
{
	__m256 sum = _mm256_setzero_ps();
	for (; k > 0; k -= 4, a += 4, b += 4 * ORDERED_COLUMNS) {
		__m256 part = product(a, b);
		for (int i = 1; i < 4 && i < k; i++)
			part = _mm256_add_ps(part, product(a + i, b + i * ORDERED_COLUMNS));
		sum = _mm256_add_ps(sum, part);
	}
	return sum;
}

void ordered_single_avx2(const float *a, const float *b, int64_t k, float *c)
{
	_mm256_storeu_ps(c, half(a, b, k));
	_mm256_storeu_ps(c + 8, half(a, b + 8, k));
}

void ordered_gather_avx2(float *to, const float *plane, const int32_t *at)
{
	for (int i = 0; i < ORDERED_COLUMNS; i += 8) {
		__m256i from = _mm256_loadu_si256((const __m256i *)(at + i));
		__m256 inside = _mm256_castsi256_ps(_mm256_cmpgt_epi32(from, _mm256_set1_epi32(-1)));
		_mm256_storeu_ps(to + i, _mm256_mask_i32gather_ps(_mm256_setzero_ps(), plane, from, inside, 4));
	}
}
#endif
