// Portable inner product: one row at a time, sixteen channels side by side. Sums may wrap (qwinograd.h).
#define QMICRO_CODES qspan_plain.codes
#include "qmicro_body.h"
#include "qmicro_pairs.h"

enum { ROWS = 4 };

static void gemm_row(int32_t *acc, const char *row, const struct qrun *runs, int n_runs, const int16_t *w)
{
	for (int i = 0; i < n_runs; i++) {
		const int16_t *x = (const int16_t *)(row + runs[i].offset);
		for (int64_t k = 0; k < runs[i].words; k++, x += 2, w += 2 * QLANES) {
			int32_t x0 = x[0], x1 = x[1];
			SIMD_FOR(l, QLANES) acc[l] = (int32_t)((uint32_t)acc[l] + (uint32_t)(x0 * w[2 * l] + x1 * w[2 * l + 1]));
		}
	}
}

static void sums(int32_t *acc, const int32_t *from, const char *const *row, const struct qrun *runs, int n_runs, const char *w)
{
	for (int r = 0; r < ROWS; r++, acc += QLANES) {
		memcpy(acc, from, QLANES * sizeof *acc);
		gemm_row(acc, row[r], runs, n_runs, (const int16_t *)w);
	}
}

// One panel at a time.
static void gemm(int32_t *acc, int64_t step, int panels, const char *const *row, const struct qrun *runs, int n_runs, const char *w,
    int64_t w_step)
{
	static const int32_t zeros[QLANES];
	(void)step, (void)panels, (void)w_step;
	sums(acc, zeros, row, runs, n_runs, w);
}

static void tile(void *y, const int32_t *from, const char *const *row, const struct qrun *runs, int n_runs, const char *w,
    const struct qscaling *s, const float *scale, const float *fbias)
{
	int32_t acc[ROWS * QLANES];
	sums(acc, from, row, runs, n_runs, w);
	finish_any(y, acc, s, scale, fbias, ROWS);
}

const struct qmicro qmicro_plain = {
    .rows = ROWS,
    .panels = 1,
    .gemm = gemm,
    .tile = tile,
    .add = add,
    .narrow = narrow,
    .finish = finish_any,
    .finish_wide = finish_wide_any,
    QMICRO_PAIRS,
};
