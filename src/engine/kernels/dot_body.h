// The loops of dot.h, compiled once for every processor level; the including file defines DOT_ROWS, the name of the function. Eight
// sums a row side by side; several rows at a time, so that one does not wait for the other's additions.
#include "../vector.h"
#include "dot.h"

enum { ROWS = 4 };

VINLINE float total(vfloat v)
{
	return ((v[0] + v[4]) + (v[2] + v[6])) + ((v[1] + v[5]) + (v[3] + v[7]));
}

VINLINE void some_rows(float *y, const float *matrix, const float *x, int rows, int64_t n)
{
	vfloat sum[ROWS] = { { 0 } };
	int64_t k = 0;

	for (; k + 8 <= n; k += 8) {
		vfloat v = vload(x + k);
		_Pragma("GCC unroll 4") for (int r = 0; r < rows; r++)
			sum[r] += vload(matrix + r * n + k) * v;
	}
	_Pragma("GCC unroll 4") for (int r = 0; r < rows; r++) {
		float rest = 0;
		for (int64_t i = k; i < n; i++)
			rest += matrix[r * n + i] * x[i];
		y[r] += total(sum[r]) + rest;
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
