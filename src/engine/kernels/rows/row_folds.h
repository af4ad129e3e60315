// Totals and ends of a row of floats; the same bits on every processor.
// A row of no elements has the total 0 and no ends.
#ifndef QTUI_ENGINE_KERNELS_ROWS_ROW_FOLDS_H
#define QTUI_ENGINE_KERNELS_ROWS_ROW_FOLDS_H

#include <stdint.h>

struct row_folds {
	double (*sum)(const float *x, int64_t n);
	double (*abs)(const float *x, int64_t n);    // sum of |x|
	double (*square)(const float *x, int64_t n); // sum of x * x
	float (*most)(const float *x, int64_t n);    // NaN where one is among them; n > 0
	float (*least)(const float *x, int64_t n);
};
const struct row_folds *row_folds_here(void);

extern const struct row_folds row_folds_plain, row_folds_avx2, row_folds_avx512;

#endif
