// The loops of struct qmicro on AVX-512 VNNI, which multiplies the values of a word and adds them to a sum in one step,
// without saturation. The including file defines dot(sums, inputs, weights).
//
// A word of inputs is loaded into all lanes, and no more than two such loads a cycle are made,
// as many as multiplications: two panels that share each of them come to the bound of the latter.
#include <immintrin.h>
#define QMICRO_CODES qspan_avx2.codes
#include "qmicro_body.h"
#include "qsimple_avx512.h"

enum {
	ROWS = 8,
	PANELS = 2,
};
// A sum stays in its register: gcc would copy it to another one for every product.
#define KEEP(v) __asm__("" : "+v"(v))
#define ALWAYS static inline __attribute__((always_inline))

ALWAYS __m512i word_at(const char *p)
{
	int32_t v;
	memcpy(&v, p, sizeof v);
	return _mm512_set1_epi32(v);
}

// rows and panels are constants where this is called.
ALWAYS void multiply(__m512i a[ROWS][PANELS], int rows, int panels, const char *const *row, int64_t first, const struct qrun *runs,
    int n_runs, const char *w, int64_t step)
{
	const char *x[ROWS];

#pragma GCC unroll 8
	for (int r = 0; r < rows; r++)
		x[r] = row[r];
	for (const struct qrun *run = runs; run < runs + n_runs; run++) {
		int64_t at = first + run->offset;
		for (int64_t end = at + run->words * QWORD; at < end; at += QWORD, w += QWORD * QLANES) {
			__asm__("" : "+r"(at)); // one counter, not a pointer for every row
			__m512i weights[PANELS];
#pragma GCC unroll 2
			for (int p = 0; p < panels; p++)
				weights[p] = _mm512_load_si512(w + p * step);
#pragma GCC unroll 8
			for (int r = 0; r < rows; r++) {
				__m512i word = word_at(x[r] + at);
#pragma GCC unroll 2
				for (int p = 0; p < panels; p++) {
					a[r][p] = dot(a[r][p], word, weights[p]);
					KEEP(a[r][p]);
				}
			}
		}
	}
}

// Of each panel all rows start from the same sums.
ALWAYS void start(__m512i a[ROWS][PANELS], int rows, int panels, const int32_t *from)
{
#pragma GCC unroll 8
	for (int r = 0; r < rows; r++)
#pragma GCC unroll 2
		for (int p = 0; p < panels; p++)
			a[r][p] = _mm512_loadu_si512(from + p * QLANES);
}

ALWAYS void sums_of(int32_t *acc, int64_t step, int panels, const int32_t *from, const char *const *row, const struct qrun *runs, int n_runs,
    const char *w, int64_t w_step)
{
	__m512i a[ROWS][PANELS];
	start(a, ROWS, panels, from);
	multiply(a, ROWS, panels, row, 0, runs, n_runs, w, w_step);
#pragma GCC unroll 8
	for (int r = 0; r < ROWS; r++)
#pragma GCC unroll 2
		for (int p = 0; p < panels; p++)
			_mm512_storeu_si512(acc + p * step + r * QLANES, a[r][p]);
}

static void gemm(int32_t *acc, int64_t step, int panels, const char *const *row, const struct qrun *runs, int n_runs, const char *w,
    int64_t w_step)
{
	static const int32_t zeros[PANELS * QLANES];
	if (panels == 1)
		sums_of(acc, step, 1, zeros, row, runs, n_runs, w, w_step);
	else
		sums_of(acc, step, PANELS, zeros, row, runs, n_runs, w, w_step);
}

static void finish(void *y, const int32_t *acc, const struct qscaling *scaling, const float *scale, const float *fbias, int rows)
{
	if (!scaling->simple) {
		finish_any(y, acc, scaling, scale, fbias, rows);
		return;
	}
	const struct simple512 s = simple512_of(scaling, scale, fbias);
	for (int r = 0; r < rows; r++)
		_mm_storeu_si128((__m128i *)y + r, simple512_codes(_mm512_cvtepi32_ps(_mm512_loadu_si512(acc + r * QLANES)), &s));
}

static void finish_wide(void *y, const float *v, const struct qscaling *scaling, const float *scale, const float *fbias, int rows)
{
	if (!scaling->simple) {
		finish_wide_any(y, v, scaling, scale, fbias, rows);
		return;
	}
	const struct simple512 s = simple512_of(scaling, scale, fbias);
	for (int r = 0; r < rows; r++)
		_mm_storeu_si128((__m128i *)y + r, simple512_codes(_mm512_loadu_ps(v + r * QLANES), &s));
}

static void tile(void *y, const int32_t *from, const char *const *row, const struct qrun *runs, int n_runs, const char *w,
    const struct qscaling *s, const float *scale, const float *fbias)
{
	int32_t acc[ROWS * QLANES];
	sums_of(acc, 0, 1, from, row, runs, n_runs, w, 0);
	finish(y, acc, s, scale, fbias, ROWS);
}

ALWAYS void step(int rows, int panels, const struct qjob *job, const struct qpanel *panel, uint8_t *y, const char *const *row,
    const int64_t *at)
{
	__m512i a[ROWS][PANELS];
	start(a, rows, panels, panel->init);
	multiply(a, rows, panels, row, panel->first, job->runs, job->n_runs, panel->w, panel->step);
#pragma GCC unroll 2
	for (int p = 0; p < panels; p++) {
		const struct simple512 s = simple512_of(job->scaling, panel->scale + p * QLANES, panel->fbias + p * QLANES);
		const struct dest512 d = dest512_of(&panel->dest[p]);
#pragma GCC unroll 8
		for (int r = 0; r < rows; r++)
			simple512_store(y + at[r], &d, simple512_codes(_mm512_cvtepi32_ps(a[r][p]), &s));
	}
}

#define STEP(rows, panels)                                                                                             \
	static void step_##rows##_##panels(const struct qjob *job, const struct qpanel *panel, uint8_t *y,            \
	    const char *const *row, const int64_t *at)                                                                 \
	{                                                                                                              \
		step(rows, panels, job, panel, y, row, at);                                                            \
	}
#define STEPS(rows) STEP(rows, 1) STEP(rows, 2)
STEPS(1)
STEPS(2)
STEPS(3)
STEPS(4)
STEPS(5)
STEPS(6)
STEPS(7)
STEPS(8)

// All rows, in steps that are as good as alike.
static int64_t direct(const struct qjob *job, const struct qpanel *p, int panels, uint8_t *y, const char *const *row, const int64_t *at,
    int64_t n)
{
	static void (*const steps[PANELS][ROWS])(const struct qjob *, const struct qpanel *, uint8_t *, const char *const *, const int64_t *) = {
		{step_1_1, step_2_1, step_3_1, step_4_1, step_5_1, step_6_1, step_7_1, step_8_1},
		{step_1_2, step_2_2, step_3_2, step_4_2, step_5_2, step_6_2, step_7_2, step_8_2},
	};
	int64_t pieces = (n + ROWS - 1) / ROWS;
	for (int64_t i = 0; i < pieces; i++) {
		int64_t begin = n * i / pieces, end = n * (i + 1) / pieces;
		steps[panels - 1][end - begin - 1](job, p, y, row + begin, at + begin);
	}
	return n;
}

#define VNNI_COMMON                                                                                                    \
	.rows = ROWS, .panels = PANELS, .gemm = gemm, .tile = tile, .direct = direct, .add = add,   \
	.narrow = narrow, .finish = finish, .finish_wide = finish_wide
