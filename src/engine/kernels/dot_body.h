// The loops of dot.h, compiled once for every processor level; the including file defines DOT_ROWS, the name of the function. Eight
// sums a row side by side; several rows at a time, so that one does not wait for the other's additions, and two rows' sums are added up at once.
#include "../vector.h"
#include "dot.h"

enum { ROWS = 8 };

// The sums of eight numbers each, ((v0 + v4) + (v2 + v6)) + ((v1 + v5) + (v3 + v7)), of a in every element of the lower half and of b in
// every element of the upper.
VINLINE vfloat totals(vfloat a, vfloat b)
{
	vfloat t = __builtin_shufflevector(a, b, 0, 1, 2, 3, 8, 9, 10, 11) + __builtin_shufflevector(a, b, 4, 5, 6, 7, 12, 13, 14, 15);
	t += __builtin_shufflevector(t, t, 2, 3, 0, 1, 6, 7, 4, 5);
	return t + __builtin_shufflevector(t, t, 1, 0, 3, 2, 5, 4, 7, 6);
}

VINLINE float rest(const float *row, const float *x, int64_t from, int64_t n)
{
	float sum = 0;

	for (int64_t i = from; i < n; i++)
		sum += row[i] * x[i];
	return sum;
}

VINLINE void some_rows(float *y, const float *matrix, const float *x, int rows, int64_t n)
{
	vfloat sum[ROWS] = { { 0 } };
	int64_t k = 0;

	for (; k + 8 <= n; k += 8) {
		vfloat v = vload(x + k);
		_Pragma("GCC unroll 8") for (int r = 0; r < rows; r++)
			sum[r] += vload(matrix + r * n + k) * v;
	}
	_Pragma("GCC unroll 4") for (int r = 0; r < rows; r += 2) {
		vfloat t = totals(sum[r], sum[r + 1]);
		y[r] += t[0] + rest(matrix + r * n, x, k, n);
		if (r + 1 < rows)
			y[r + 1] += t[4] + rest(matrix + (r + 1) * n, x, k, n);
	}
}

void DOT_ROWS(float *y, const float *matrix, const float *x, int64_t rows, int64_t n)
{
	int64_t i = 0;

	for (; i + ROWS <= rows; i += ROWS)
		some_rows(y + i, matrix + i * n, x, ROWS, n);
	for (; i < rows; i++)
		some_rows(y + i, matrix + i * n, x, 1, n);
}
