// What a backend is, and what they share (private).
#ifndef QTUI_ENGINE_BACKEND_BACKEND_H
#define QTUI_ENGINE_BACKEND_BACKEND_H

#include <omp.h>
#include "../kernels/kernel_impl.h"

// What it offers; STATUS_UNSUPPORTED sends the executor to the next backend.
struct backend {
	const char *name;
	enum status (*conv)(struct kernel **out, const struct conv_task *t, struct error *err);
	enum status (*matmul)(struct kernel **out, const struct matmul_task *t, struct error *err);
};
extern const struct backend onednn_backend, blas_backend, ref_backend;

// Elements of the weights, in the plain order of the task.
static inline int64_t conv_weight_count(const struct conv_geometry *g)
{
	return g->oc * (g->c / g->group) * g->kh * g->kw;
}
static inline int64_t matmul_weight_count(const struct matmul_task *t)
{
	return t->k * t->n + (t->batch - 1) * t->stride_b;
}
// Sets the OpenMP width of the calling thread, which libraries follow; returns what it was.
static inline int width_set(int width)
{
	int before = omp_get_max_threads();
	omp_set_num_threads(width);
	return before;
}
static inline int64_t ceil_div(int64_t n, int64_t step)
{
	return (n + step - 1) / step;
}

#endif
