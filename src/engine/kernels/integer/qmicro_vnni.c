// Values of 16 bits on AVX-512 VNNI.
#ifdef __x86_64__
#include <immintrin.h>

static inline __m512i dot(__m512i sums, __m512i inputs, __m512i weights)
{
	return _mm512_dpwssd_epi32(sums, inputs, weights);
}

#define QMICRO_LOT 16
#include "qmicro_pairs.h"
#include "qmicro_vnni_body.h"

const struct qmicro qmicro_vnni = {VNNI_COMMON, QMICRO_PAIRS};
#endif
