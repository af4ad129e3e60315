// Products of a matrix with vectors, in the same order of sums on every processor.
#ifndef QTUI_ENGINE_KERNELS_PRODUCT_DOT_H
#define QTUI_ENGINE_KERNELS_PRODUCT_DOT_H

#include <stdint.h>

// y[i] += row i of the matrix times x, for rows of n elements.
typedef void dot_rows_fn(float *y, const float *matrix, const float *x, int64_t rows, int64_t n);
dot_rows_fn dot_rows;
// y[s][i] += row i of the matrix times x[s], for `many` vectors x[s], with the matrix turned: element i of column
// k lies at k * apart + i. No sums are left to add up at the end of a row, which pays where rows are short
// and the matrix serves often, and four vectors read the matrix once. Reads up to DOT_PAD - 1 elements behind the rows.
// It is fastest with `turned` and `apart` at multiples of DOT_PAD: whole cache lines.
enum { DOT_PAD = 16 };
typedef void dot_columns_fn(float *const y[], const float *turned, int64_t apart, const float *const x[], int many, int64_t rows, int64_t n);
dot_columns_fn dot_columns;

// By processor level.
dot_rows_fn dot_rows_plain, dot_rows_avx2;
dot_columns_fn dot_columns_plain, dot_columns_avx2, dot_columns_avx512;

#endif
