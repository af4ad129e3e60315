// The loop of product_floats, compiled once for every processor level; the including file defines PRODUCT_PANEL_FN,
// the name of the function. Sums of some rows and of the columns of a panel stay in registers.
#include "../../tensor/vector.h"
#include "product.h"

enum { VECTORS = PRODUCT_PANEL / VLANES, MOST = VECTORS == 2 ? 8 : 2 };

VINLINE void tile(
    float *y, int64_t y_row, const float *a, const struct matrices *t, const float *b, int64_t b_row, int64_t k, const int rows)
{
	vfloat sum[MOST][VECTORS];
	_Pragma("GCC unroll 8") for (int r = 0; r < rows; r++)
		_Pragma("GCC unroll 4") for (int v = 0; v < VECTORS; v++)
			sum[r][v] = vload(y + r * y_row + v * VLANES);
	for (int64_t i = 0; i < k; i++, a += t->a_col, b += b_row) {
		vfloat column[VECTORS];
		_Pragma("GCC unroll 4") for (int v = 0; v < VECTORS; v++)
			column[v] = vload(b + v * VLANES);
		_Pragma("GCC unroll 8") for (int r = 0; r < rows; r++)
		{
			vfloat by = vall(a[r * t->a_row]);
			_Pragma("GCC unroll 4") for (int v = 0; v < VECTORS; v++)
				sum[r][v] += column[v] * by;
		}
	}
	_Pragma("GCC unroll 8") for (int r = 0; r < rows; r++)
		_Pragma("GCC unroll 4") for (int v = 0; v < VECTORS; v++)
			vstore(y + r * y_row + v * VLANES, sum[r][v]);
}

// A panel of fewer columns than its vectors hold.
VINLINE void narrow(float *y, int64_t y_row, int64_t columns, const float *a, const struct matrices *t, const float *b, int64_t b_row,
    int64_t k, const int rows)
{
	float some[MOST][PRODUCT_PANEL] = {{0}};
	for (int r = 0; r < rows; r++)
		memcpy(some[r], y + r * y_row, (size_t)columns * sizeof *y);
	tile(some[0], PRODUCT_PANEL, a, t, b, b_row, k, rows);
	for (int r = 0; r < rows; r++)
		memcpy(y + r * y_row, some[r], (size_t)columns * sizeof *y);
}

VINLINE void any(float *y, int64_t y_row, int64_t columns, const float *a, const struct matrices *t, const float *b, int64_t b_row, int64_t k,
    const int rows)
{
	if (columns == PRODUCT_PANEL)
		tile(y, y_row, a, t, b, b_row, k, rows);
	else
		narrow(y, y_row, columns, a, t, b, b_row, k, rows);
}

void PRODUCT_PANEL_FN(float *y, int64_t y_row, int64_t columns, const float *a, const struct matrices *t, int64_t rows, const float *b,
    int64_t b_row, int64_t k)
{
	int64_t r = 0;
	for (; r + MOST <= rows; r += MOST)
		any(y + r * y_row, y_row, columns, a + r * t->a_row, t, b, b_row, k, MOST);
	for (; r < rows; r++)
		any(y + r * y_row, y_row, columns, a + r * t->a_row, t, b, b_row, k, 1);
}
