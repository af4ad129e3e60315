// Mean and variance of rows, and rows normalised by them, in double; sums in the same order on every processor.
#ifndef QTUI_ENGINE_KERNELS_ROWS_ROW_MOMENTS_H
#define QTUI_ENGINE_KERNELS_ROWS_ROW_MOMENTS_H

#include <stdint.h>

struct row_moments {
	double mean, variance; // 0 of no elements
};
struct row_moments row_moments_of(const float *x, int64_t n);
// y[i] = (x[i] - mean) * inverse * scale[i] + shift[i]; scale and shift may be NULL: 1 and 0.
void row_moments_apply(const float *x, float *y, int64_t n, double mean, double inverse, const float *scale, const float *shift);

// By processor level.
struct row_moments_loops {
	struct row_moments (*of)(const float *x, int64_t n);
	void (*apply)(const float *x, float *y, int64_t n, double mean, double inverse, const float *scale, const float *shift);
};
extern const struct row_moments_loops row_moments_plain, row_moments_avx2, row_moments_avx512;

#endif
