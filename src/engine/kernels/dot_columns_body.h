// The loop of dot_columns, compiled once for every processor level; the including file defines DOT_COLUMNS, the name of the function. Sums of
// rows side by side stay in registers, as many as hide the additions' time.
#include "../vector.h"
#include "dot.h"

VINLINE void some_columns(float *y, const float *turned, int64_t apart, const float *x, int64_t n, const int vectors)
{
	vfloat sum[8];

	_Pragma("GCC unroll 8") for (int v = 0; v < vectors; v++)
		sum[v] = vload(y + v * VLANES);
	for (int64_t k = 0; k < n; k++, turned += apart) {
		vfloat by = vall(x[k]);
		_Pragma("GCC unroll 8") for (int v = 0; v < vectors; v++)
			sum[v] += vload(turned + v * VLANES) * by;
	}
	_Pragma("GCC unroll 8") for (int v = 0; v < vectors; v++)
		vstore(y + v * VLANES, sum[v]);
}

void DOT_COLUMNS(float *y, const float *turned, int64_t apart, const float *x, int64_t rows, int64_t n)
{
	int64_t i = 0;

	for (; i + 8 * VLANES <= rows; i += 8 * VLANES)
		some_columns(y + i, turned + i, apart, x, n, 8);
	switch ((rows - i) / VLANES) { // what is left, side by side again
#define LEFT(vectors)                                                                                                  \
	case vectors:                                                                                                  \
		some_columns(y + i, turned + i, apart, x, n, vectors);                                                 \
		break;
		LEFT(1) LEFT(2) LEFT(3) LEFT(4) LEFT(5) LEFT(6) LEFT(7)
#undef LEFT
	}
	i = rows - rows % VLANES;
	if (i < rows) {
		float last[VLANES] = { 0 };
		memcpy(last, y + i, (size_t)(rows - i) * sizeof *y);
		some_columns(last, turned + i, apart, x, n, 1);
		memcpy(y + i, last, (size_t)(rows - i) * sizeof *y);
	}
}
