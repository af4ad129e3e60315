#ifdef __x86_64__
#include <immintrin.h>
#include "ordered.h"

// All ones in the first n of eight lanes.
static __m256i first_lanes(int64_t n)
{
	return _mm256_cmpgt_epi32(_mm256_set1_epi32((int)(n > 8 ? 8 : n)), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
}

void ordered_block_avx2(
    const struct product *p, int64_t i0, int64_t rows, int64_t j0, int64_t columns, int64_t k0, int64_t k1)
{
	const __m256i mask[2] = {first_lanes(columns), first_lanes(columns - 8)};
	__m256 acc[4][2];
	for (int r = 0; r < 4; r++)
		acc[r][0] = acc[r][1] = _mm256_setzero_ps();
	const float *a[4];
	for (int r = 0; r < 4; r++) // rows past the last repeat it; they are not stored
		a[r] = p->a.at + (i0 + (r < rows ? r : rows - 1)) * p->a.row;
	for (int64_t k = k0; k < k1; k++) {
		const float *b = p->b.at + k * p->b.row + j0;
		__m256 b0 = _mm256_maskload_ps(b, mask[0]), b1 = _mm256_maskload_ps(b + 8, mask[1]);
		for (int r = 0; r < 4; r++) {
			__m256 x = _mm256_broadcast_ss(a[r] + k);
			acc[r][0] = _mm256_fmadd_ps(x, b0, acc[r][0]);
			acc[r][1] = _mm256_fmadd_ps(x, b1, acc[r][1]);
		}
	}
	for (int r = 0; r < rows; r++) {
		float *c = p->c + (i0 + r) * p->c_row + j0;
		for (int h = 0; h < 2; h++) {
			__m256 sum = ordered_fresh(p, k0) ? acc[r][h] : _mm256_add_ps(_mm256_maskload_ps(c + 8 * h, mask[h]), acc[r][h]);
			_mm256_maskstore_ps(c + 8 * h, mask[h], sum);
		}
	}
}
#endif
