// Six rows by sixteen channels: twelve sums, two vectors of weights and two to work with make sixteen registers.
#ifdef __x86_64__
#include <immintrin.h>
#define QMICRO_CODES qspan_avx2.codes
#include "qmicro_body.h"
#include "qmicro_pairs.h"
#include "qsimple.h"

enum { ROWS = 6 };

struct sums {
	__m256i a[ROWS][2];
};

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

// Broadcasts the pair of values at p.
static inline __m256i pair_at(const char *p)
{
	int32_t v;
	memcpy(&v, p, sizeof v);
	return _mm256_set1_epi32(v);
}

#define STEP(r)                                                                                                        \
	do {                                                                                                           \
		__m256i x = pair_at(p##r + QWORD * k);                                                                   \
		s.a[r][0] = _mm256_add_epi32(s.a[r][0], _mm256_madd_epi16(x, w0));                                     \
		s.a[r][1] = _mm256_add_epi32(s.a[r][1], _mm256_madd_epi16(x, w1));                                     \
	} while (0)

static inline __attribute__((always_inline)) struct sums multiply(const int32_t *from, const char *const *row,
    int64_t first, const struct qrun *runs, int n_runs, const char *w)
{
	struct sums s;

#pragma GCC unroll 6
	for (int r = 0; r < ROWS; r++) {
		s.a[r][0] = _mm256_loadu_si256((const __m256i *)(from));
		s.a[r][1] = _mm256_loadu_si256((const __m256i *)(from + 8));
	}
	for (int i = 0; i < n_runs; i++) {
		int64_t at = first + runs[i].offset;
		const char *p0 = row[0] + at, *p1 = row[1] + at, *p2 = row[2] + at, *p3 = row[3] + at, *p4 = row[4] + at, *p5 = row[5] + at;
		for (int64_t k = 0; k < runs[i].words; k++, w += QWORD * QLANES) {
			__m256i w0 = _mm256_load_si256((const __m256i *)w), w1 = _mm256_load_si256((const __m256i *)(w + QWORD * QLANES / 2));
			STEP(0);
			STEP(1);
			STEP(2);
			STEP(3);
			STEP(4);
			STEP(5);
		}
	}
	return s;
}

static void sums_at(int32_t *acc, const int32_t *from, const char *const *row, const struct qrun *runs, int n_runs, const char *w)
{
	struct sums s = multiply(from, row, 0, runs, n_runs, w);
#pragma GCC unroll 6
	for (int r = 0; r < ROWS; r++) {
		_mm256_storeu_si256((__m256i *)(acc + r * QLANES), s.a[r][0]);
		_mm256_storeu_si256((__m256i *)(acc + r * QLANES + 8), s.a[r][1]);
	}
}

// One panel at a time.
static void gemm(int32_t *acc, int64_t step, int panels, const char *const *row, const struct qrun *runs, int n_runs, const char *w,
    int64_t w_step)
{
	static const int32_t zeros[QLANES];
	(void)step, (void)panels, (void)w_step;
	sums_at(acc, zeros, row, runs, n_runs, w);
}

static void tile_simple(uint8_t *y, const int32_t *from, const char *const *row, const struct qrun *runs, int n_runs,
    const char *w, const struct qscaling *scaling, const float *scale, const float *fbias)
{
	struct sums sums = multiply(from, row, 0, runs, n_runs, w);
	const struct simple s = simple_of(scaling, scale, fbias);
#pragma GCC unroll 3
	for (int r = 0; r < ROWS; r += 2)
		simple_store(y + r * QLANES, _mm256_cvtepi32_ps(sums.a[r][0]), _mm256_cvtepi32_ps(sums.a[r][1]),
		    _mm256_cvtepi32_ps(sums.a[r + 1][0]), _mm256_cvtepi32_ps(sums.a[r + 1][1]), &s);
}

// One panel at a time.
static int64_t direct(const struct qjob *job, const struct qpanel *p, int panels, uint8_t *y, const char *const *row, const int64_t *at,
    int64_t n)
{
	const struct simple s = simple_of(job->scaling, p->scale, p->fbias);
	uint8_t *const to[2] = {y + p->dest->lane[0], p->dest->lanes > 8 ? y + p->dest->lane[8] : NULL};
	int64_t i = 0;
	(void)panels;
	for (; i + ROWS <= n; i += ROWS) {
		struct sums sums = multiply(p->init, row + i, p->first, job->runs, job->n_runs, p->w);
#pragma GCC unroll 3
		for (int r = 0; r < ROWS; r += 2)
			simple_store_apart(to, at + i + r, simple_codes(_mm256_cvtepi32_ps(sums.a[r][0]), _mm256_cvtepi32_ps(sums.a[r][1]),
			    _mm256_cvtepi32_ps(sums.a[r + 1][0]), _mm256_cvtepi32_ps(sums.a[r + 1][1]), &s));
	}
	return i;
}

static void tile(void *y, const int32_t *from, const char *const *row, const struct qrun *runs, int n_runs, const char *w,
    const struct qscaling *s, const float *scale, const float *fbias)
{
	int32_t acc[ROWS * QLANES];
	if (s->simple) {
		tile_simple(y, from, row, runs, n_runs, w, s, scale, fbias);
		return;
	}
	sums_at(acc, from, row, runs, n_runs, w);
	finish_any(y, acc, s, scale, fbias, ROWS);
}

const struct qmicro qmicro_avx2 = {
	.rows = ROWS, .panels = 1, .gemm = gemm, .tile = tile, .direct = direct, .add = add, .narrow = narrow, .finish = finish,
	.finish_wide = finish_wide, QMICRO_PAIRS,
};
#endif
