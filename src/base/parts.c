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
