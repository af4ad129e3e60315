// Matrix products in row-major order.
#ifndef QTUI_ENGINE_OPS_PRODUCT_MATMUL_H
#define QTUI_ENGINE_OPS_PRODUCT_MATMUL_H

#include "../../kernels/product/product.h"
#include "../ops.h"

// NumPy's matmul over batches: vectors become matrices and lose the dimension again, batches are broadcast.
struct matmul {
	struct matrices one;
	struct shape y;
	struct shape batch;                                     // of y
	int64_t a_step[SHAPE_MAX_RANK], b_step[SHAPE_MAX_RANK]; // elements between batches
};
MUST_CHECK enum status matmul_resolve(
    struct matmul *t, const struct shape *a, const struct shape *b, bool trans_a, bool trans_b, struct error *err);
int64_t matmul_batches(const struct matmul *t);
void matmul_offsets(const struct matmul *t, int64_t batch, int64_t *a, int64_t *b);
// Of integers, modulo 2^64, whose low bits are right for every type.
void matmul_ints(const struct matmul *t, const struct tensor *a, const struct tensor *b, struct tensor *y);
// Adds a row to every row of y, which has `count` elements.
void matmul_add_row(float *y, int64_t count, const float *row, int64_t columns);

#endif
