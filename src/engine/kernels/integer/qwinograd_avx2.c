#ifdef __x86_64__
#include "qsimple.h"
#include "qwinograd_body.h"

static inline __m256 values_of(vsums sums)
{
	return _mm256_cvtepi32_ps((__m256i)sums);
}

static void collect_codes(uint8_t *y, int64_t down, int64_t right, const int32_t *m, int64_t step, const struct qpanel *p,
    const struct qscaling *scaling)
{
	const struct simple s = simple_of(scaling, p->scale, p->fbias);
	const struct qdest *d = p->dest;
	const int64_t at[QWG_OUT] = {0, right, 2 * right, 3 * right};
	vwords half[2][QWG_OUT][QWG_IN];
	collect_columns(half[0], m, step);
	collect_columns(half[1], m + QLANES / 2, step);
	for (int i = 0; i < QWG_OUT; i++, y += down) {
		uint8_t *const row[2] = {y + d->lane[0], d->lanes > 8 ? y + d->lane[8] : NULL};
		vsums a[QWG_OUT], b[QWG_OUT];
		collect_row(a, half[0][i], p->init);
		collect_row(b, half[1][i], p->init + QLANES / 2);
#pragma GCC unroll 2
		for (int j = 0; j < QWG_OUT; j += 2)
			simple_store_apart(
			    row, at + j, simple_codes(values_of(a[j]), values_of(b[j]), values_of(a[j + 1]), values_of(b[j + 1]), &s));
	}
}

const struct qwg_loops qwg_avx2 = {QWG_COMMON, .collect_codes = collect_codes};
#endif
