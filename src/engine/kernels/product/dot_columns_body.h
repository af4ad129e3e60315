// The loop of dot_columns, compiled once for every processor level; the including file defines DOT_COLUMNS,
// the name of the function. Sums of rows side by side stay in registers, as many as hide the additions' time.
#include "../../tensor/vector.h"
#include "dot.h"

enum {
	MOST = 8,                    // vectors of rows, of one product
	TOGETHER = 4,                // products that read the matrix at once
	FEW = VBYTES == 64 ? 4 : 2   // vectors of rows of each of those: what registers hold
};

VINLINE void some_columns(
    float *const y[], int64_t at, const float *turned, int64_t apart, const float *const x[], int64_t n, const int many, const int vectors)
{
	vfloat sum[TOGETHER][MOST];
	turned += at;
	_Pragma("GCC unroll 4") for (int s = 0; s < many; s++)
		_Pragma("GCC unroll 8") for (int v = 0; v < vectors; v++)
			sum[s][v] = vload(y[s] + at + v * VLANES);
	for (int64_t k = 0; k < n; k++, turned += apart)
		_Pragma("GCC unroll 4") for (int s = 0; s < many; s++)
		{
			vfloat by = vall(x[s][k]);
			_Pragma("GCC unroll 8") for (int v = 0; v < vectors; v++)
				sum[s][v] += vload(turned + v * VLANES) * by;
		}
	_Pragma("GCC unroll 4") for (int s = 0; s < many; s++)
		_Pragma("GCC unroll 8") for (int v = 0; v < vectors; v++)
			vstore(y[s] + at + v * VLANES, sum[s][v]);
}

// The rows that do not fill a vector, fewer than VLANES.
VINLINE void last_rows(
    float *const y[], int64_t at, const float *turned, int64_t apart, const float *const x[], int64_t rows, int64_t n, const int many)
{
	float last[TOGETHER][VLANES] = {{0}}, *own[TOGETHER];
	for (int s = 0; s < many; s++) {
		own[s] = last[s];
		memcpy(last[s], y[s] + at, (size_t)rows * sizeof **y);
	}
	some_columns(own, 0, turned + at, apart, x, n, many, 1);
	for (int s = 0; s < many; s++)
		memcpy(y[s] + at, last[s], (size_t)rows * sizeof **y);
}

VINLINE void all_columns(float *const y[], const float *turned, int64_t apart, const float *const x[], int64_t rows, int64_t n,
    const int many, const int most)
{
	int64_t i = 0;
	_Pragma("GCC unroll 4") for (int vectors = most; vectors > 0; vectors /= 2)
		for (; i + vectors * VLANES <= rows; i += vectors * VLANES)
			some_columns(y, i, turned, apart, x, n, many, vectors);
	if (i < rows)
		last_rows(y, i, turned, apart, x, rows - i, n, many);
}

void DOT_COLUMNS(float *const y[], const float *turned, int64_t apart, const float *const x[], int many, int64_t rows, int64_t n)
{
	int s = 0;
	for (; s + TOGETHER <= many; s += TOGETHER)
		all_columns(y + s, turned, apart, x + s, rows, n, TOGETHER, FEW);
	for (; s < many; s++)
		all_columns(y + s, turned, apart, x + s, rows, n, 1, MOST);
}
