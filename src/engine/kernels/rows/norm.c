#include "../../tensor/cpu.h"
#include "qtui/base/parts.h"
#define NORM_ROW norm_row_plain
#include "norm_body.h"

struct norm_call {
	norm_row_fn *row;
	const struct norm *k;
	const float *x;
	float *y;
};

static void norm_one(void *arg, int64_t i, int thread)
{
	const struct norm_call *c = arg;
	(void)thread;
	c->row(c->k, c->x + i * c->k->n, c->y + i * c->k->n);
}

void norm_run(const struct norm *k, const float *x, float *y, int width)
{
	struct norm_call c = {cpu_level() >= CPU_AVX2 ? norm_row_avx2 : norm_row_plain, k, x, y};
	parts_share(k->rows, width, norm_one, &c);
}
