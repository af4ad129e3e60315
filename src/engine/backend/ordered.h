// A matrix product whose order of summation is fixed: along k with fused multiply-adds, in blocks of 128 that are added up one after
// the other. It is the order of ONNX Runtime's CPU kernels, so that a file that is already quantized (Q/DQ) gives its codes here bit for
// bit: a sum that falls on the middle between two codes is rounded as there.
#ifndef QTUI_ENGINE_BACKEND_ORDERED_H
#define QTUI_ENGINE_BACKEND_ORDERED_H

#include "tiles.h"

enum { ORDERED_BLOCK = 128 };
// c = a * b; alpha 1, beta 0, neither operand transposed. A tiles_gemm_fn.
void ordered_gemm(const struct product *p);

// One block of k for rows i0.. of at most 4 and columns j0.. of at most 16: private to ordered*.c.
void ordered_block_avx2(const struct product *p, int64_t i0, int64_t rows, int64_t j0, int64_t k0, int64_t k1);

#endif
