// The loops of struct qmicro but for the inner product, compiled once for every processor level.
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
	/* t + 1.5 * 2^23 has the rounded t in the low bits of its representation. */                                  \
	static inline void name##_simple(uint8_t *y, const sum *acc, const struct qscaling *s, const float *scale,    \
	    const float *fbias, int rows)                                                                              \
	{                                                                                                              \
		const float low = s->code_low, high = s->code_high, inverse = s->out.inverse;                          \
		const int32_t zero = s->out.zero - 0x4b400000;                                                         \
		for (int r = 0; r < rows; r++, acc += QLANES, y += QLANES)                                             \
			SIMD_FOR(i, QLANES)                                                                            \
			{                                                                                              \
				float v = ((float)acc[i] * scale[i] + fbias[i]) * inverse;                             \
				union {                                                                                \
					float f;                                                                       \
					int32_t i;                                                                     \
				} u;                                                                                   \
				v = v > low ? v : low;                                                                 \
				u.f = (v < high ? v : high) + 12582912.0f;                                             \
				y[i] = (uint8_t)(u.i + zero);                                                          \
			}                                                                                              \
	}                                                                                                              \
	static void name(void *y, const sum *acc, const struct qscaling *s, const float *scale, const float *fbias,   \
	    int rows)                                                                                                  \
	{                                                                                                              \
		float v[QROWS * QLANES];                                                                               \
		if (s->simple) {                                                                                       \
			name##_simple(y, acc, s, scale, fbias, rows);                                                  \
		} else if (s->type == DT_F32) {                                                                        \
			name##_values(y, acc, s, scale, fbias, rows);                                                  \
		} else {                                                                                               \
			name##_values(v, acc, s, scale, fbias, rows);                                                  \
			codes_fn(y, v, (int64_t)rows * QLANES, &s->out);                                               \
		}                                                                                                      \
	}
FINISH(finish, int32_t, QMICRO_CODES[s->type])
FINISH(finish_wide, float, QMICRO_CODES[s->type])

#define WIDEN(name, type)                                                                                              \
	static void name(int16_t *y, int64_t step, const void *src, int64_t from_step, int64_t n, int32_t shift)       \
	{                                                                                                              \
		const type *x = src;                                                                                   \
		for (int64_t g = 0; g < n; g++, x += from_step, y += step)                                             \
			SIMD_FOR(i, 8) y[i] = (int16_t)(x[i] - shift);                                                 \
	}
WIDEN(widen_i8, int8_t)
WIDEN(widen_u8, uint8_t)
WIDEN(widen_i16, int16_t)
WIDEN(widen_u16, uint16_t)

#define QMICRO(the_rows)                                                                                               \
	{                                                                                                              \
		.rows = (the_rows), .gemm = gemm, .add = add, .narrow = narrow, .finish = finish,                      \
		.finish_wide = finish_wide,                                                                            \
		.widen = {                                                                                             \
			[DT_I8] = widen_i8, [DT_U8] = widen_u8, [DT_I16] = widen_i16, [DT_U16] = widen_u16,            \
		},                                                                                                     \
	}
