// Products of a matrix with one vector, in the same order of sums on every processor.
#ifndef QTUI_ENGINE_KERNELS_DOT_H
#define QTUI_ENGINE_KERNELS_DOT_H

#include <stdint.h>

// y[i] += row i of the matrix times x, for rows of n elements.
typedef void dot_rows_fn(float *y, const float *matrix, const float *x, int64_t rows, int64_t n);
dot_rows_fn dot_rows;

// By processor level.
dot_rows_fn dot_rows_plain, dot_rows_avx2;

#endif
