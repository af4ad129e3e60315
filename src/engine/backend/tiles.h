// Matrix products cut into tiles whose size depends on the product alone,
// for a BLAS-like library that computes one tile on one thread (private). Threads share out the tiles,
// so that the bits of the result do not depend on how many there are.
#ifndef QTUI_ENGINE_BACKEND_TILES_H
#define QTUI_ENGINE_BACKEND_TILES_H

#include <stdbool.h>
#include "backend.h"

// A row-major matrix as stored; `row` elements from row to row.
struct mat {
	const float *at;
	int64_t row;
	bool trans; // stands for its transpose
};
// c = alpha * a * b + beta * c for c[m][n], on the calling thread alone.
struct product {
	struct mat a, b;
	int64_t m, n, k;
	float alpha, beta;
	float *c;
	int64_t c_row;
};
typedef void tiles_gemm_fn(const struct product *p);

MUST_CHECK enum status tiles_matmul(struct kernel **out, tiles_gemm_fn *gemm, const struct matmul_task *t, struct error *err);

#endif
