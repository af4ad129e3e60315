// Products of two matrices wherever their elements lie: of floats, for the operators' own evaluations, and of codes,
// as the operators of quantized files have them. The same bits on every processor and for any number of threads.
#ifndef QTUI_ENGINE_KERNELS_PRODUCT_PRODUCT_H
#define QTUI_ENGINE_KERNELS_PRODUCT_PRODUCT_H

#include <stddef.h>
#include <stdint.h>

struct matrices { // [m, k] x [k, n]; strides in elements; y is dense
	int64_t m, n, k;
	int64_t a_row, a_col, b_row, b_col;
};

// y += a b. Every element is a sum over k in rising order, each product and each sum rounded.
void product_floats(const struct matrices *t, const float *a, const float *b, float *y, int width);

// y += a b modulo 2^32, of values from -255 to 255 (codes of 8 bits less their zero points),
// so that two products fit 32 bits. `scratch` has product_codes_scratch bytes.
void product_codes(const struct matrices *t, const int16_t *a, const int16_t *b, uint32_t *y, void *scratch, int width);
size_t product_codes_scratch(const struct matrices *t);

// By processor level.
enum { PRODUCT_PANEL = 32 }; // columns that are taken at a time
// Rows of floats times the first `columns` columns of a panel, which lie side by side with
// `b_row` from one k to the next. Reads all of the panel.
typedef void product_panel_fn(float *y, int64_t y_row, int64_t columns, const float *a, const struct matrices *t, int64_t rows, const float *b,
    int64_t b_row, int64_t k);
product_panel_fn product_panel_plain, product_panel_avx2, product_panel_avx512;
// Rows of pairs of values, `pitch` values apart, times all panels of b.
typedef void product_rows_fn(uint32_t *y, int64_t n, const int16_t *a, int64_t pitch, int64_t rows, const int16_t *panels, int64_t pairs);
product_rows_fn product_rows_plain, product_rows_avx2, product_rows_avx512;

#endif
