// Transposition of 8 x 8 tiles in registers, for tensor_reorder and Transpose.
#ifndef QTUI_ENGINE_TENSOR_TRANSPOSE_H
#define QTUI_ENGINE_TENSOR_TRANSPOSE_H

#include <stddef.h>
#include <stdint.h>

// `tiles` tiles of 8 rows of 8 elements: element c of row r goes to element r of row c. Strides and steps (from one
// tile to the next) are in bytes.
typedef void transpose_fn(uint8_t *out, size_t out_stride, size_t out_step, const uint8_t *in, size_t in_stride,
    size_t in_step, int64_t tiles);
// For elements of `size` bytes, 1 to 8; NULL where the processor or the size has none.
transpose_fn *transpose_find(size_t size);

transpose_fn transpose1_avx2, transpose2_avx2, transpose4_avx2;

#endif
