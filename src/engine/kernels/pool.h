// Pooling loops by processor level (private): pool_body.h makes one table a level.
#ifndef QTUI_ENGINE_KERNELS_POOL_H
#define QTUI_ENGINE_KERNELS_POOL_H

#include <stdint.h>
#include "qtui/engine/tensor.h"

// A pixel is `lanes` elements side by side: one in plain layout, layout_block() in the blocked one. What one tap of the
// window does to a row of n output pixels: y[i] = f(y[i], x[i * step]).
typedef void pool_row_fn(void *y, const void *x, int64_t n, int64_t step, int64_t lanes);

struct pool_table {
	pool_row_fn *max[DT_COUNT]; // NULL for types that cannot be pooled
	pool_row_fn *max_nan, *sum; // floats
	// A row of sums to averages: y of pixel i by rows * columns[i], or by 1 where that is 0.
	void (*divide)(float *y, const float *columns, float rows, int64_t n, int64_t lanes);
	// y[lanes] = sum of n pixels, in an order that depends on n and lanes alone.
	void (*total)(float *y, const float *x, int64_t n, int64_t lanes);
};
extern const struct pool_table pool_plain, pool_avx2, pool_avx512;

#endif
