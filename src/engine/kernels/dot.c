#include "cpu.h"
#define DOT_ROWS dot_rows_plain
#include "dot_body.h"

void dot_rows(float *y, const float *matrix, const float *x, int64_t rows, int64_t n)
{
	(cpu_level() >= CPU_AVX2 ? dot_rows_avx2 : dot_rows_plain)(y, matrix, x, rows, n);
}
