// Six rows by sixteen channels: twelve sums, two vectors of weights and two to work with make sixteen registers.
#include <immintrin.h>
#define QMICRO_CODES qspan_avx2.codes
#include "qmicro_body.h"

enum { ROWS = 6 };

// Broadcasts the pair of values at p.
static inline __m256i pair_at(const int16_t *p)
{
	int32_t v;
	memcpy(&v, p, sizeof(v));
	return _mm256_set1_epi32(v);
}

static void gemm(int32_t *acc, const int32_t *from, int64_t from_step, const int16_t *const *row, const struct qrun *runs,
    int n_runs, const int16_t *w)
{
	__m256i a[ROWS][2];

#pragma GCC unroll 6
	for (int r = 0; r < ROWS; r++) {
		a[r][0] = _mm256_loadu_si256((const __m256i *)(from + r * from_step));
		a[r][1] = _mm256_loadu_si256((const __m256i *)(from + r * from_step + 8));
	}
	for (int i = 0; i < n_runs; i++) {
		const int16_t *p0 = row[0] + runs[i].offset, *p1 = row[1] + runs[i].offset, *p2 = row[2] + runs[i].offset;
		const int16_t *p3 = row[3] + runs[i].offset, *p4 = row[4] + runs[i].offset, *p5 = row[5] + runs[i].offset;
		int64_t n = runs[i].pairs;
		for (int64_t k = 0; k < n; k++, w += 2 * QLANES) {
			__m256i w0 = _mm256_load_si256((const __m256i *)w), w1 = _mm256_load_si256((const __m256i *)(w + QLANES));
#define STEP(r)                                                                                                        \
	do {                                                                                                           \
		__m256i x = pair_at(p##r + 2 * k);                                                                     \
		a[r][0] = _mm256_add_epi32(a[r][0], _mm256_madd_epi16(x, w0));                                         \
		a[r][1] = _mm256_add_epi32(a[r][1], _mm256_madd_epi16(x, w1));                                         \
	} while (0)
			STEP(0);
			STEP(1);
			STEP(2);
			STEP(3);
			STEP(4);
			STEP(5);
		}
	}
#pragma GCC unroll 6
	for (int r = 0; r < ROWS; r++) {
		_mm256_storeu_si256((__m256i *)(acc + r * QLANES), a[r][0]);
		_mm256_storeu_si256((__m256i *)(acc + r * QLANES + 8), a[r][1]);
	}
}

const struct qmicro qmicro_avx2 = QMICRO(ROWS);
