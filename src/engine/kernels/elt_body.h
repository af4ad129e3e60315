// The element-wise loops, compiled once for every processor level: the including file defines ELT_TABLE, the name of the
// table that it exports. The loops are marked for vectorisation, which then does not depend on the optimisation level.
#include "elt.h"

#define BINARY_LOOPS(name, op)                                                                                         \
	static void name(const float *a, const float *b, float *y, int64_t n)                                          \
	{                                                                                                              \
		_Pragma("omp simd") for (int64_t i = 0; i < n; i++) y[i] = a[i] op b[i];                               \
	}

BINARY_LOOPS(binary_add, +)
BINARY_LOOPS(binary_sub, -)
BINARY_LOOPS(binary_mul, *)
BINARY_LOOPS(binary_div, /)

static void prelu(const float *a, const float *b, float *y, int64_t n)
{
	_Pragma("omp simd") for (int64_t i = 0; i < n; i++) y[i] = a[i] < 0 ? a[i] * b[i] : a[i];
}

static void scale(float *y, float gain, float shift, int64_t n)
{
	_Pragma("omp simd") for (int64_t i = 0; i < n; i++) y[i] = y[i] * gain + shift;
}

const struct elt_table ELT_TABLE = {
	.binary = {
		[ELT_ADD] = binary_add, [ELT_SUB] = binary_sub, [ELT_MUL] = binary_mul, [ELT_DIV] = binary_div,
		[ELT_PRELU] = prelu,
	},
	.scale = scale,
};
