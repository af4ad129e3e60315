// The loops of dot.h, compiled once for every processor level;
// the including file defines DOT_ROWS, the name of the function. Eight sums a row side by side;
// eight rows at a time, so that one does not wait for the other's additions, and their sums are added up at once.
#include "../../tensor/vector.h"
#include "dot.h"

enum { ROWS = 8 };

// The sums of eight vectors, each ((v0 + v4) + (v2 + v6)) + ((v1 + v5) + (v3 + v7)).
VINLINE vfloat totals(const vfloat v[ROWS])
{
	vfloat four[ROWS / 2], two[ROWS / 4]; // numbers left of a row: of rows i and i + 4; of these and the next two
	for (int i = 0; i < ROWS / 2; i++)
		four[i] = __builtin_shufflevector(v[i], v[i + 4], 0, 1, 2, 3, 8, 9, 10, 11) +
		    __builtin_shufflevector(v[i], v[i + 4], 4, 5, 6, 7, 12, 13, 14, 15);
	for (int i = 0; i < ROWS / 4; i++)
		two[i] = __builtin_shufflevector(four[2 * i], four[2 * i + 1], 0, 1, 8, 9, 4, 5, 12, 13) +
		    __builtin_shufflevector(four[2 * i], four[2 * i + 1], 2, 3, 10, 11, 6, 7, 14, 15);
	return __builtin_shufflevector(two[0], two[1], 0, 2, 8, 10, 4, 6, 12, 14) +
	    __builtin_shufflevector(two[0], two[1], 1, 3, 9, 11, 5, 7, 13, 15);
}

VINLINE float rest(const float *row, const float *x, int64_t from, int64_t n)
{
	float sum = 0;
	for (int64_t i = from; i < n; i++)
		sum += row[i] * x[i];
	return sum;
}

// Some of eight rows, the first `rows`.
VINLINE void some_rows(float *y, const float *matrix, const float *x, int rows, int64_t n)
{
	vfloat sum[ROWS] = {{0}}, more = {0};
	int64_t k = 0;
	for (; k + 8 <= n; k += 8) {
		vfloat v = vload(x + k);
		_Pragma("GCC unroll 8") for (int r = 0; r < rows; r++)
			sum[r] += vload(matrix + r * n + k) * v;
	}
	for (int r = 0; r < rows && k < n; r++)
		more[r] = rest(matrix + r * n, x, k, n);
	more += totals(sum);
	if (rows == ROWS)
		vstore(y, vload(y) + more);
	else
		for (int r = 0; r < rows; r++)
			y[r] += more[r];
}

void DOT_ROWS(float *y, const float *matrix, const float *x, int64_t rows, int64_t n)
{
	int64_t i = 0;
	for (; i + ROWS <= rows; i += ROWS)
		some_rows(y + i, matrix + i * n, x, ROWS, n);
	for (; i < rows; i++)
		some_rows(y + i, matrix + i * n, x, 1, n);
}
