// Depthwise integer convolution (private): eight channels at a time, in int32 from two taps of a row at once where that is exact, else
// tap by tap in double, exact to 2^53. qdepthwise_body.h is compiled once for every processor level.
#ifndef QTUI_ENGINE_KERNELS_QDEPTHWISE_H
#define QTUI_ENGINE_KERNELS_QDEPTHWISE_H

#include "qfast.h"

enum { QDW_LANES = 8, QDW_ROUND = 8 };

// An expanded row holds QDW_LANES numbers a place: pairs of int16, of pixels that two taps of a row meet, or doubles.
struct qdw_loops {
	size_t size;   // of a number
	int together;  // taps that a number serves
	// Place i of y gets pixel i * pace of a row of codes, and beside it the one `ahead` pixels further, `shift` taken away.
	void (*spread[DT_COUNT])(void *y, const void *row, int64_t n, int64_t pace, int64_t ahead, int32_t shift);
	// acc[n pixels] = bias + sums over taps of tap[t], `step` numbers from pixel to pixel, times w[t]. Reads and writes n rounded up
	// to QDW_ROUND pixels, of each tap from pixel `first` on.
	void (*taps)(void *acc, const char *const *tap, int64_t first, int64_t n_taps, const void *w, const void *bias, int64_t step,
	    int64_t n);
	// The sums as floats; NULL: they are int32.
	void (*to_float)(float *y, const void *acc, int64_t n);
};
struct qdw_table {
	struct qdw_loops narrow, wide;
};
extern const struct qdw_table qdw_plain, qdw_avx2;

#endif
