// Functions of one float over arrays, for the element-wise operators, for others that contain them
// (Softmax, LSTM, FusedConv) and for the activations of kernels.
#ifndef QTUI_ENGINE_KERNELS_ELEMENTWISE_UNARY_H
#define QTUI_ENGINE_KERNELS_ELEMENTWISE_UNARY_H

#include "qtui/engine/op.h"

enum unary_fn {
#define FN(name) FN_##name,
#include "unary_fns.def"
#undef FN
	FN_COUNT
};
// x and y may be the same array. The result of an element depends on nothing but that element and `a`.
typedef void unary_loop(const struct act_attrs *a, const float *x, float *y, int64_t n);
void unary_apply(enum unary_fn fn, const struct act_attrs *a, const float *x, float *y, int64_t n);

// The loop for a processor level.
unary_loop *unary_base(enum unary_fn fn), *unary_avx2(enum unary_fn fn), *unary_avx512(enum unary_fn fn);

#endif
