// The loops of struct qmicro, compiled once for every processor level. The including file defines QMICRO_CODES,
// the quantizing loops of its level, and adds what is written for it.
#include <stdint.h>
#include <string.h>
#include "qfast.h"

#define SIMD_FOR(i, n) _Pragma("omp simd") for (int i = 0; i < (n); i++)

static void add(double *sum, const int32_t *acc, int n)
{
	SIMD_FOR(i, n) sum[i] += (double)acc[i];
}

static void narrow(float *v, const double *sum, const double *bias, int parts, int rows)
{
	const int half = QLANES / 2;
	for (int r = 0; r < rows; r++, v += QLANES, sum += QLANES) {
		if (parts == 1)
			SIMD_FOR(i, QLANES) v[i] = (float)(sum[i] + bias[i]);
		else
			SIMD_FOR(i, half) v[i] = (float)(sum[i] + 256.0 * sum[i + half] + bias[i]);
	}
}

#define FINISH(name, sum, codes_fn)                                                                                    \
	static inline void name##_values(float *y, const sum *acc, const struct qscaling *s, const float *scale,      \
	    const float *fbias, int rows)                                                                              \
	{                                                                                                              \
		const float slope = s->slope, low = s->low, high = s->high;                                            \
		for (int r = 0; r < rows; r++, acc += QLANES, y += QLANES)                                             \
			SIMD_FOR(i, QLANES)                                                                            \
			{                                                                                              \
				float v = (float)acc[i] * scale[i] + fbias[i];                                         \
				v = v < 0.0f ? v * slope : v;                                                          \
				v = v > low ? v : low;                                                                 \
				y[i] = v < high ? v : high;                                                            \
			}                                                                                              \
	}                                                                                                              \
	static void name(void *y, const sum *acc, const struct qscaling *s, const float *scale, const float *fbias,   \
	    int rows)                                                                                                  \
	{                                                                                                              \
		float v[QROWS * QLANES];                                                                               \
		if (s->type == DT_F32) {                                                                        \
			name##_values(y, acc, s, scale, fbias, rows);                                                  \
		} else {                                                                                               \
			name##_values(v, acc, s, scale, fbias, rows);                                                  \
			codes_fn(y, v, (int64_t)rows * QLANES, &s->out);                                               \
		}                                                                                                      \
	}
FINISH(finish_any, int32_t, QMICRO_CODES[s->type])
FINISH(finish_wide_any, float, QMICRO_CODES[s->type])
