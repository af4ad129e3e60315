// Twelve rows by sixteen channels; VPDPWSSD multiplies the pairs and adds to the sums in one step, without saturation.
#ifdef __x86_64__
#include <immintrin.h>
#define QMICRO_CODES qspan_avx2.codes
#include "qmicro_body.h"
#include "qmicro_simple.h"

enum { ROWS = 12 };

static inline __m512i pair_at(const int16_t *p)
{
	int32_t v;
	memcpy(&v, p, sizeof(v));
	return _mm512_set1_epi32(v);
}

static void gemm(int32_t *acc, const int32_t *from, int64_t from_step, const int16_t *const *row, const struct qrun *runs,
    int n_runs, const int16_t *w)
{
	__m512i a[ROWS];

#pragma GCC unroll 12
	for (int r = 0; r < ROWS; r++)
		a[r] = _mm512_loadu_si512(from + r * from_step);
	for (int i = 0; i < n_runs; i++) {
		int64_t at = runs[i].offset, end = at + 2 * runs[i].pairs;
		for (; at < end; at += 2, w += 2 * QLANES) {
			__m512i weights = _mm512_load_si512(w);
#pragma GCC unroll 12
			for (int r = 0; r < ROWS; r++)
				a[r] = _mm512_dpwssd_epi32(a[r], pair_at(row[r] + at), weights);
		}
	}
#pragma GCC unroll 12
	for (int r = 0; r < ROWS; r++)
		_mm512_storeu_si512(acc + r * QLANES, a[r]);
}

static void tile(void *y, const int32_t *from, const int16_t *const *row, const struct qrun *runs, int n_runs, const int16_t *w,
    const struct qscaling *s, const float *scale, const float *fbias)
{
	int32_t acc[ROWS * QLANES];
	gemm(acc, from, 0, row, runs, n_runs, w);
	finish(y, acc, s, scale, fbias, ROWS);
}

const struct qmicro qmicro_vnni = {
	.rows = ROWS, .gemm = gemm, .tile = tile, .add = add, .narrow = narrow, .finish = finish, .finish_wide = finish_wide,
	.widen = WIDEN_TABLE, .interleave3 = interleave3,
};
#endif
