// Matrix products cut into tiles of fixed size, for a BLAS-like library that computes one tile on one thread (private).
// Threads share out the tiles, so that the bits of the result do not depend on how many there are.
#ifndef QTUI_ENGINE_BACKEND_TILES_H
#define QTUI_ENGINE_BACKEND_TILES_H

#include <stdbool.h>
#include "kernel_impl.h"

// A row-major matrix as stored; `row` elements from row to row.
struct mat {
	const float *at;
	int64_t row;
	bool trans; // stands for its transpose
};
// c += alpha * a * b for c[m][n], on the calling thread alone.
typedef void tiles_gemm_fn(struct mat a, struct mat b, float *c, int64_t c_row, int64_t m, int64_t n, int64_t k, float alpha);

MUST_CHECK enum status tiles_matmul(struct kernel **out, tiles_gemm_fn *gemm, const struct matmul_task *t, struct error *err);

#endif
