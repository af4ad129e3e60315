#include <assert.h>
#include <omp.h>
#include <string.h>
#include "cpu.h"
#define INTERP_TABLE interp_plain
#include "interp_body.h"

static const struct interp_table *table(void)
{
	return cpu_level() >= CPU_AVX2 ? &interp_avx2 : &interp_plain;
}

int64_t interp_buffer(const struct interp *r, int width)
{
	return r->columns.in * r->lanes * width;
}

void interp_run(const struct interp *r, const float *x, float *y, float *buffer, int width)
{
	int64_t in_row = r->columns.in * r->lanes, out_row = r->columns.out * r->lanes, in_plane = r->rows.in * in_row;
	assert(r->lanes == 1 || r->lanes == 8 || r->lanes == 16);
#pragma omp parallel for num_threads(width) if (width > 1)
	for (int64_t i = 0; i < r->planes * r->rows.out; i++) {
		float *row = buffer + omp_get_thread_num() * in_row;
		table()->row(r, x + i / r->rows.out * in_plane, row, i % r->rows.out);
		table()->column(r, row, y + i * out_row);
	}
}
