#include "../tensor/cpu.h"
#define NORM_ROW norm_row_plain
#include "norm_body.h"

void norm_run(const struct norm *k, const float *x, float *y, int width)
{
	norm_row_fn *row = cpu_level() >= CPU_AVX2 ? norm_row_avx2 : norm_row_plain;

#pragma omp parallel for num_threads(width) if (width > 1)
	for (int64_t i = 0; i < k->rows; i++)
		row(k, x + i * k->n, y + i * k->n);
}
