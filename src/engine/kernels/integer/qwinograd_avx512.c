#ifdef __x86_64__
#define QWG_BYTES 64
#include "qsimple_avx512.h"
#include "qwinograd_body.h"

static void collect_codes(uint8_t *y, int64_t down, int64_t right, const int32_t *m, int64_t step, const struct qpanel *p,
    const struct qscaling *scaling)
{
	const struct simple512 s = simple512_of(scaling, p->scale, p->fbias);
	const struct dest512 d = dest512_of(p->dest);
	vwords half[QWG_OUT][QWG_IN];
	collect_columns(half, m, step);
	for (int i = 0; i < QWG_OUT; i++, y += down) {
		vsums sums[QWG_OUT];
		collect_row(sums, half[i], p->init);
#pragma GCC unroll 4
		for (int j = 0; j < QWG_OUT; j++)
			simple512_store(y + j * right, &d, simple512_codes(_mm512_cvtepi32_ps((__m512i)sums[j]), &s));
	}
}

const struct qwg_loops qwg_avx512 = {QWG_COMMON, .collect_codes = collect_codes};
#endif
