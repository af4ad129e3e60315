// What every prepared kernel is made of (private to src/engine/backend and src/engine/kernels). A kind of kernel is a
// struct whose first member is a struct kernel, and a constant table of functions that know the rest of it.
#ifndef QTUI_ENGINE_BACKEND_KERNEL_IMPL_H
#define QTUI_ENGINE_BACKEND_KERNEL_IMPL_H

#include "qtui/engine/kernel.h"

struct kernel_ops {
	// Must not write to the kernel: several threads may be inside at once, each with its own io.
	void (*run)(const struct kernel *k, const struct kernel_io *io);
	size_t (*scratch)(const struct kernel *k, int width); // bytes that run wants in io->scratch; NULL: none
	void (*free)(struct kernel *k);                       // frees what hangs on the kernel, and the kernel
};
struct kernel {
	const struct kernel_ops *ops;
	size_t bytes; // packed constants held
};

// What a backend offers; a NULL slot, like STATUS_UNSUPPORTED from a filled one, sends the executor to the next backend.
struct backend {
	const char *name;
	enum status (*conv)(struct kernel **out, const struct conv_task *t, struct error *err);
	enum status (*matmul)(struct kernel **out, const struct matmul_task *t, struct error *err);
};
extern const struct backend onednn_backend, blas_backend, ref_backend;

// Output size of one axis is taken from the geometry; these are its plain element counts.
static inline int64_t conv_in_count(const struct conv_geometry *g)
{
	return g->n * g->c * g->h * g->w;
}
static inline int64_t conv_out_count(const struct conv_geometry *g)
{
	return g->n * g->oc * g->oh * g->ow;
}
static inline size_t round_up(size_t n, size_t step)
{
	return (n + step - 1) / step * step;
}

#endif
