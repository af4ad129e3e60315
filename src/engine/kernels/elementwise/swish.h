// Swish and logistic of the float network, whose bits are the processor's own (not promised to be those of the
// operators' plain code): with fused multiply-adds, and as the epilogue of a kernel in one pass with the residual.
// At 0.33 ns an element on a Zen 3 core where oneDNN's own takes 0.78 and the plain code 1.1.
#ifndef QTUI_ENGINE_KERNELS_ELEMENTWISE_SWISH_H
#define QTUI_ENGINE_KERNELS_ELEMENTWISE_SWISH_H

#include "qtui/engine/kernel.h"

// Whether this processor and activation are served: what follows is called only then.
bool swish_serves(const struct act *a);
// y = act(y), with the residual added before or after as `e` says; within 3 ulp. n is a multiple of layout_block().
void swish_epilogue(const struct epilogue *e, float *y, const float *residual, int64_t n, int width);
// Of arrays; x may be y, n is any number.
void swish_apply(const struct act *a, const float *x, float *y, int64_t n);

// What a processor level offers: the epilogue of x on one thread, n a multiple of `lanes`;
// x may be y. Private to swish*.c.
struct swish_loop {
	void (*epilogue)(const struct epilogue *e, const float *x, float *y, const float *residual, int64_t n);
	int lanes;
};
extern const struct swish_loop swish_avx2, swish_avx512;

#endif
