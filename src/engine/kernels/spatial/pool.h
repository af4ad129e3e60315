// Pooling loops by processor level (private): pool_body.h makes one table a level.
#ifndef QTUI_ENGINE_KERNELS_SPATIAL_POOL_H
#define QTUI_ENGINE_KERNELS_SPATIAL_POOL_H

#include <stdint.h>
#include "qtui/engine/tensor.h"

// A pixel is `lanes` elements side by side: one in plain layout, layout_block() in the blocked one. What one tap of the
// window does to a row of n output pixels: y[i] = f(y[i], x[i * step]).
typedef void pool_row_fn(void *y, const void *x, int64_t n, int64_t step, int64_t lanes);

enum { POOL_VECTOR = 8 }; // floats
struct pool_table {
	pool_row_fn *max[DT_COUNT]; // NULL for types that cannot be pooled
	pool_row_fn *max_nan, *sum; // floats
	// y[i] = the sum of x[tap[0] + i], x[tap[1] + i] ... in this order, by by[i] unless that is NULL;
	// i goes to POOL_VECTOR - 1 elements beyond n at the most.
	void (*window)(float *y, const float *x, const int64_t *tap, int64_t taps, const float *by, int64_t n);
	// A row of sums to averages: those of pixel i by rows * columns[i], or by 1 where that is 0. y may be sum.
	void (*divide)(float *y, const float *sum, const float *columns, float rows, int64_t n, int64_t lanes);
	// y[lanes] = sum of n pixels, in an order that depends on n and lanes alone.
	void (*total)(float *y, const float *x, int64_t n, int64_t lanes);
};
extern const struct pool_table pool_plain, pool_avx2, pool_avx512;

#endif
