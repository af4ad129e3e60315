// Layer normalisation of the float network: rows with their mean taken away, divided by their deviation. Every step is
// rounded as the operators that it is made of round it; sums are in double, in the same order on every processor.
#ifndef QTUI_ENGINE_KERNELS_ROWS_NORM_H
#define QTUI_ENGINE_KERNELS_ROWS_NORM_H

#include <stdint.h>

struct norm {
	int64_t rows, n;          // of so many elements
	float epsilon;            // added to the variance
	const float *gain, *shift; // [n] that follow; NULL: none
};
void norm_run(const struct norm *k, const float *x, float *y, int width);

// One row, by processor level.
typedef void norm_row_fn(const struct norm *k, const float *x, float *y);
norm_row_fn norm_row_plain, norm_row_avx2;

#endif
