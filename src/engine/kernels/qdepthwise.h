// Depthwise integer convolution (private): eight channels at a time in float, which is exact for integers to 2^24, or where that
// does not do in double, exact to 2^53. qdepthwise_body.h is compiled once for every processor level.
#ifndef QTUI_ENGINE_KERNELS_QDEPTHWISE_H
#define QTUI_ENGINE_KERNELS_QDEPTHWISE_H

#include "qfast.h"

enum { QDW_LANES = 8, QDW_ROUND = 8 };

// For one type of numbers T (float or double). Pixels are groups of QDW_LANES numbers.
struct qdw_loops {
	size_t size; // of T
	// y[n pixels] = codes - zero; x has `step` codes from pixel to pixel.
	void (*expand[DT_COUNT])(void *y, const void *x, int64_t step, int64_t n, int32_t zero);
	// acc[n pixels] = bias + sum over taps of x[pixel * step + offset[tap]] * w[tap]; offsets and step in numbers. Reads and writes
	// n rounded up to QDW_ROUND pixels.
	void (*taps)(void *acc, const void *x, const int64_t *offset, int64_t n_taps, const void *w, const void *bias, int64_t step,
	    int64_t n);
	// The sums as floats; NULL when they are.
	void (*to_float)(float *y, const void *acc, int64_t n);
};
struct qdw_table {
	struct qdw_loops narrow, wide;
};
extern const struct qdw_table qdw_plain, qdw_avx2;

#endif
