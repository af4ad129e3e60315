// The loops of convolution and transposed convolution, for float and for int32 (integer operators, zero points
// subtracted; unsigned, because sums wrap). Every output element is a sum in one order (channels, then kernel
// positions), whatever the number of threads.
#ifndef QTUI_ENGINE_OPS_SPATIAL_CONVOLVE_H
#define QTUI_ENGINE_OPS_SPATIAL_CONVOLVE_H

#include "window.h"

struct convolve {
	int64_t n, c, oc, group;
	struct window win;
};
// y[n, oc, out...] += x[n, c, in...] * w[oc, c / group, kernel...]
void convolve_float(const struct convolve *t, const float *x, const float *w, float *y, int width);
void convolve_int32(const struct convolve *t, const uint32_t *x, const uint32_t *w, uint32_t *y, int width);
// y[n, oc, out...] += x[n, c, in...] * w[c, oc / group, kernel...], win.in being the side of x
void convolve_transposed(const struct convolve *t, const float *x, const float *w, float *y, int width);

#endif
