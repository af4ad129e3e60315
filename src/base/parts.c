#include "qtui/base/parts.h"

#include <omp.h>

static void alone(int64_t n, part_fn *fn, void *arg)
{
	for (int64_t i = 0; i < n; i++)
		fn(arg, i, 0);
}

void parts_share(int64_t n, int width, part_fn *fn, void *arg)
{
	if (width <= 1 || n <= 1) {
		alone(n, fn, arg);
		return;
	}
#pragma omp parallel for num_threads(width)
	for (int64_t i = 0; i < n; i++)
		fn(arg, i, omp_get_thread_num());
}

void parts_deal(int64_t n, int width, part_fn *fn, void *arg)
{
	if (width <= 1 || n <= 1) {
		alone(n, fn, arg);
		return;
	}
#pragma omp parallel for num_threads(width) schedule(dynamic)
	for (int64_t i = 0; i < n; i++)
		fn(arg, i, omp_get_thread_num());
}

struct cut {
	int64_t total, piece;
	piece_fn *fn;
	void *arg;
};

static void one_piece(void *arg, int64_t i, int thread)
{
	const struct cut *c = arg;
	int64_t at = i * c->piece;
	(void)thread;
	c->fn(c->arg, at, c->total - at < c->piece ? c->total - at : c->piece);
}

void parts_cut(int64_t total, int64_t piece, int width, piece_fn *fn, void *arg)
{
	parts_share((total + piece - 1) / piece, width, one_piece, &(struct cut){total, piece, fn, arg});
}
