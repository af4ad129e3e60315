// What every prepared kernel is made of, here and in src/engine/backend (private). A kind of kernel is a struct
// whose first member is a struct kernel, and a constant table of functions that know the rest of it.
#ifndef QTUI_ENGINE_KERNELS_KERNEL_IMPL_H
#define QTUI_ENGINE_KERNELS_KERNEL_IMPL_H

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

// Of `n` positions i on one side of a kernel tap those for which 0 <= i * step + offset < limit: first <= i < end.
struct span {
	int64_t first, end;
};
static inline struct span conv_span(int64_t n, int64_t step, int64_t offset, int64_t limit)
{
	int64_t first = offset >= 0 ? 0 : (-offset + step - 1) / step;
	int64_t end = offset >= limit ? 0 : (limit - 1 - offset) / step + 1;
	return (struct span){first, end < n ? end : n};
}
// Each output pixel is made of the input pixel in its place.
static inline bool conv_is_pointwise(const struct conv_geometry *g)
{
	bool one_tap = g->kh == 1 && g->kw == 1, every_pixel = g->stride_h == 1 && g->stride_w == 1;
	return one_tap && every_pixel && g->oh == g->h && g->ow == g->w && g->pad_t == 0 && g->pad_l == 0;
}
static inline size_t round_up(size_t n, size_t step)
{
	return (n + step - 1) / step * step;
}
static inline int64_t least(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

#endif
