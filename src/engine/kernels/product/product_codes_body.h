// The loop of product_codes, compiled once for every processor level; the including file defines PRODUCT_ROWS,
// the name of the function. Two products of neighbours are one instruction's (vpmaddwd);
// sums of some rows and of the columns of a panel stay in registers.
#include "../../tensor/vector.h"
#include "product.h"

enum { VECTORS = PRODUCT_PANEL / VLANES, MOST = VECTORS == 2 ? 8 : 2 };

VINLINE vint pairs_of(const int16_t *p)
{
	vint v;
	memcpy(&v, p, sizeof v);
	return v;
}

VINLINE vint pair_everywhere(const int16_t *p)
{
	int32_t pair;
	memcpy(&pair, p, sizeof pair);
	return (vint){0} + pair;
}

VINLINE void tile(
    uint32_t *y, int64_t n, int64_t columns, const int16_t *a, int64_t pitch, const int16_t *panel, int64_t pairs, const int rows)
{
	vint sum[MOST][VECTORS] = {{{0}}};
	for (int64_t k = 0; k < pairs; k++, panel += 2 * PRODUCT_PANEL) {
		vint b[VECTORS];
		_Pragma("GCC unroll 4") for (int v = 0; v < VECTORS; v++)
			b[v] = pairs_of(panel + 2 * v * VLANES);
		_Pragma("GCC unroll 8") for (int r = 0; r < rows; r++)
		{
			vint by = pair_everywhere(a + r * pitch + 2 * k);
			_Pragma("GCC unroll 4") for (int v = 0; v < VECTORS; v++)
				sum[r][v] = (vint)((vuint)sum[r][v] + (vuint)vpairs_dot((vpairs)b[v], (vpairs)by));
		}
	}
	for (int r = 0; r < rows; r++) {
		uint32_t all[PRODUCT_PANEL], *to = y + r * n;
		memcpy(all, sum[r], sizeof all);
		for (int64_t i = 0; i < columns; i++)
			to[i] += all[i];
	}
}

void PRODUCT_ROWS(uint32_t *y, int64_t n, const int16_t *a, int64_t pitch, int64_t rows, const int16_t *panels, int64_t pairs)
{
	for (int64_t at = 0; at < n; at += PRODUCT_PANEL, panels += 2 * PRODUCT_PANEL * pairs) {
		int64_t r = 0, columns = n - at < PRODUCT_PANEL ? n - at : PRODUCT_PANEL;
		for (; r + MOST <= rows; r += MOST)
			tile(y + r * n + at, n, columns, a + r * pitch, pitch, panels, pairs, MOST);
		for (; r < rows; r++)
			tile(y + r * n + at, n, columns, a + r * pitch, pitch, panels, pairs, 1);
	}
}
