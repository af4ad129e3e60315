// Products of two matrices of codes of 8 bits less their zero points; exact modulo 2^32, the same on every processor.
#ifndef QTUI_ENGINE_KERNELS_CODE_PRODUCT_H
#define QTUI_ENGINE_KERNELS_CODE_PRODUCT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct code_product { // [m, k] x [k, n]; strides in elements
	int64_t m, n, k;
	int64_t a_row, a_col, b_row, b_col;
};
// Bytes that code_product_run wants in scratch.
size_t code_product_scratch(const struct code_product *t);
// y[m][n], dense, += a b, of values from -255 to 255: two products fit 32 bits. `width` threads.
void code_product_run(const struct code_product *t, const int16_t *a, const int16_t *b, uint32_t *y, void *scratch, int width);

// By processor level: `rows` rows of pairs of values, `pitch` values apart, times the panels of b.
enum { CODE_PANEL = 32 }; // columns
typedef void code_rows_fn(uint32_t *y, int64_t n, const int16_t *a, int64_t pitch, int64_t rows, const int16_t *panels, int64_t pairs);
code_rows_fn code_rows_plain, code_rows_avx2, code_rows_avx512;

#endif
