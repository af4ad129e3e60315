// Quantizing a run of elements that share one scale (private). quantizer_body.h is compiled once for every
// processor level; all levels give the same bits, because each step is one IEEE operation.
#ifndef QTUI_ENGINE_TENSOR_QUANTIZER_SPAN_H
#define QTUI_ENGINE_TENSOR_QUANTIZER_SPAN_H

#include <string.h>
#include "qtui/engine/quantizer.h"

struct qspan {
	enum rounding rounding;
	float scale;
	float inverse;    // 1 / scale where multiplying by it gives the bits of the division, else 0
	int32_t zero;
	int64_t qmin, qmax;
	bool narrow;      // all codes are within 2^22 of zero: the loops apply
};
struct qspan qspan_of(const struct quantizer *q, int channel);
int64_t qspan_code(const struct qspan *s, float x); // one value, any width of codes

// The steps of narrow codes: a distance from the zero point between the limits (0 of NaN), and the nearest
// integer to it, ties to even. Adding 1.5 * 2^23 leaves that integer of anything below 2^22 in the last bits:
// 22 of them, with the sign beyond if they are taken as an integer.
static inline float qspan_clamped(float t, float lo, float hi)
{
	float u = t != t ? 0.0f : t, v = u > lo ? u : lo;
	return v < hi ? v : hi;
}

static inline int32_t qspan_nearest(float t)
{
	float sum = t + 12582912.0f;
	int32_t bits;
	memcpy(&bits, &sum, sizeof bits);
	return bits - 0x4b400000;
}

// Runs of `run` stored elements share a scale. In LAYOUT_BLOCK with a scale per channel a run is one element,
// and the padding goes with the last channel.
struct qruns {
	int64_t total, run, channels;
	int64_t block, plane; // LAYOUT_BLOCK with a scale per channel: channels side by side, pixels of a channel; else block is 0
};
struct qruns qruns_of(const struct tensor *t, const struct quantizer *q);
int qruns_channel(const struct qruns *r, int64_t at); // of stored element `at`

// codes: floats to codes of a type (DT_F32: to dequantized floats, y may be x); values: codes of a type to floats.
typedef void qspan_codes_fn(void *y, const float *x, int64_t n, const struct qspan *s);
typedef void qspan_values_fn(float *y, const void *x, int64_t n, const struct qspan *s);
// The same where neighbours have scales of their own, ties to even: those of channels first .. first + n - 1. All spans are
// narrow, and limits and zero points within 2^30.
typedef void qrow_codes_fn(void *y, const float *x, int64_t n, const struct quantizer *q, int64_t first);
typedef void qrow_values_fn(float *y, const void *x, int64_t n, const struct quantizer *q, int64_t first);
struct qspan_table {
	qspan_codes_fn *codes[DT_COUNT];   // NULL: no loop for the type
	qspan_values_fn *values[DT_COUNT];
	qrow_codes_fn *row_codes[DT_COUNT];
	qrow_values_fn *row_values[DT_COUNT];
	void (*cast_fp16)(float *y, const float *x, int64_t n); // y may be x
	void (*cast_bf16)(float *y, const float *x, int64_t n);
};
extern const struct qspan_table qspan_plain, qspan_avx2, qspan_avx512;

#endif
