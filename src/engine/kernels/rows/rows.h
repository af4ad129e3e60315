// What softmax does to a row, and to rows that lie side by side, besides the exponential.
// The sum of a row is in eight parts, in the same order on every processor.
#ifndef QTUI_ENGINE_KERNELS_ROWS_ROWS_H
#define QTUI_ENGINE_KERNELS_ROWS_ROWS_H

#include <stdint.h>

struct rows_loops {
	float (*most)(const float *x, int64_t n);                                  // n > 0
	float (*sum)(const float *x, int64_t n);
	void (*less)(float *y, const float *x, float m, int64_t n);                // y = x - m
	void (*over)(float *y, float s, int64_t n);                                // y /= s
	void (*most_each)(float *m, const float *x, int64_t n);                    // of n rows one element each: m = the larger
	void (*less_each)(float *y, const float *x, const float *m, int64_t n);
	void (*sum_each)(float *s, const float *x, int64_t n);
	void (*over_each)(float *y, const float *s, int64_t n);
};
const struct rows_loops *rows_here(void);

extern const struct rows_loops rows_plain, rows_avx2, rows_avx512;

#endif
