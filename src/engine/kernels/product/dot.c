#include "../../tensor/cpu.h"
#define DOT_ROWS dot_rows_plain
#include "dot_body.h"
#define DOT_COLUMNS dot_columns_plain
#include "dot_columns_body.h"

void dot_rows(float *y, const float *matrix, const float *x, int64_t rows, int64_t n)
{
	(cpu_level() >= CPU_AVX2 ? dot_rows_avx2 : dot_rows_plain)(y, matrix, x, rows, n);
}

static dot_columns_fn *columns(void)
{
#if defined(__x86_64__)
	if (cpu_level() >= CPU_AVX512)
		return dot_columns_avx512;
#endif
	return cpu_level() >= CPU_AVX2 ? dot_columns_avx2 : dot_columns_plain;
}

void dot_columns(float *const y[], const float *turned, int64_t apart, const float *const x[], int many, int64_t rows, int64_t n)
{
	columns()(y, turned, apart, x, many, rows, n);
}
