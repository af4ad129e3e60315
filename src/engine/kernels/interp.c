#include <assert.h>
#include <omp.h>
#include <string.h>
#include "../tensor/cpu.h"
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

// Output row i of all planes.
static void run_row(const struct interp *r, const float *x, float *y, float *buffer, int64_t i)
{
	const float *plane = x + i / r->rows.out * r->rows.in * r->columns.in * r->lanes;
	float *to = y + i * r->columns.out * r->lanes;
	if (r->rows.taps == 2 && r->columns.taps == 2) {
		table()->bilinear(r, plane, to, i % r->rows.out);
	} else {
		table()->row(r, plane, buffer, i % r->rows.out);
		table()->column(r, buffer, to);
	}
}

void interp_run(const struct interp *r, const float *x, float *y, float *buffer, int width)
{
	assert(r->lanes == 1 || r->lanes == 8 || r->lanes == 16);
#pragma omp parallel for num_threads(width) if (width > 1)
	for (int64_t i = 0; i < r->planes * r->rows.out; i++)
		run_row(r, x, y, buffer + omp_get_thread_num() * r->columns.in * r->lanes, i);
}
