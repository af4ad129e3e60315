// Kernels that keep their task as it is, with plain copies of its constants: the ref and blas backends (private).
#ifndef QTUI_ENGINE_BACKEND_KEPT_H
#define QTUI_ENGINE_BACKEND_KEPT_H

#include "backend.h"

struct kept_conv {
	struct kernel base;
	struct conv_task task; // weight and bias are owned
};
struct kept_matmul {
	struct kernel base;
	struct matmul_task task; // weight and bias are owned
};

// `ops->free` must be the one below. STATUS_NOMEM when the constants cannot be copied.
MUST_CHECK enum status kept_conv_new(struct kernel **out, const struct kernel_ops *ops, const struct conv_task *t,
    struct error *err);
// For a struct that begins with a kept_matmul: `k` is zeroed heap memory, which is freed on failure.
MUST_CHECK enum status kept_matmul_init(struct kernel **out, struct kept_matmul *k, const struct kernel_ops *ops,
    const struct matmul_task *t, struct error *err);
void kept_conv_free(struct kernel *k);
void kept_matmul_free(struct kernel *k);

static inline const struct conv_task *kept_conv(const struct kernel *k)
{
	return &((const struct kept_conv *)k)->task;
}
static inline const struct matmul_task *kept_matmul(const struct kernel *k)
{
	return &((const struct kept_matmul *)k)->task;
}

// The epilogue on n outputs that have their bias; `residual` may be NULL when e->add is ADD_NONE.
void kept_epilogue(const struct epilogue *e, float *y, const float *residual, int64_t n);
// The weights that make input channel `c` (counted over all groups) reach output channel `oc`: kh * kw numbers.
const float *kept_weights(const struct conv_task *t, int64_t oc, int64_t c);

#endif
