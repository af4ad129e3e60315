#include <assert.h>
#include "../../tensor/cpu.h"
#include "qtui/base/parts.h"
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

struct interp_call {
	const struct interp *r;
	const float *x;
	float *y, *buffer;
};

// Output row i of all planes.
static void run_row(void *arg, int64_t i, int thread)
{
	const struct interp_call *c = arg;
	const struct interp *r = c->r;
	const float *plane = c->x + i / r->rows.out * r->rows.in * r->columns.in * r->lanes;
	float *to = c->y + i * r->columns.out * r->lanes, *buffer = c->buffer + thread * r->columns.in * r->lanes;
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
	parts_share(r->planes * r->rows.out, width, run_row, &(struct interp_call){r, x, y, buffer});
}
