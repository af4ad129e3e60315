// Matrix products whose order of summation is fixed: along k with fused multiply-adds, in blocks that are added
// up one after the other. It is the order of ONNX Runtime's CPU kernels, so that a file that is already quantized
// gives its codes here bit for bit: a sum that falls on the middle between two codes is rounded as there.
#ifndef QTUI_ENGINE_BACKEND_ORDERED_H
#define QTUI_ENGINE_BACKEND_ORDERED_H

#include "tiles.h"

enum { ORDERED_PACKED_BLOCK = 256 }; // for a constant second matrix
// The length of a block for a second matrix of n columns that is not constant:
// blocks grow along k as the matrix gets narrow.
int64_t ordered_step(int64_t n, int64_t k);
// c = a * b, or c += a * b where beta is not 0; alpha 1, neither operand transposed.
// *p may be a strip of a product with more columns.
void ordered_gemm(const struct product *p, int64_t columns);
void ordered_gemm_blocks(const struct product *p, int64_t step);

// STATUS_UNSUPPORTED where the order is not known: transposed operands (but for a constant b),
// alpha, products with a vector.
MUST_CHECK enum status ordered_matmul(struct kernel **out, const struct matmul_task *t, struct error *err);

// Private to ordered*.c. One block of k for at most 4 rows from i0 and at most 16 columns from j0.
void ordered_block_avx2(
    const struct product *p, int64_t i0, int64_t rows, int64_t j0, int64_t columns, int64_t k0, int64_t k1);
// Does the block that begins at k0 overwrite what is in c?
static inline bool ordered_fresh(const struct product *p, int64_t k0)
{
	return k0 == 0 && p->beta == 0;
}

#endif
