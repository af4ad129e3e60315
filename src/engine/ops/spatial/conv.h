// Convolution as the operators that contain one see it.
#ifndef QTUI_ENGINE_OPS_SPATIAL_CONV_H
#define QTUI_ENGINE_OPS_SPATIAL_CONV_H

#include "convolve.h"

// Sizes from the attributes and the shapes of input and weights (transposed: [C, OC / group, ...]).
MUST_CHECK enum status conv_resolve(struct convolve *t, const struct conv_attrs *a, const struct shape *x,
    const struct shape *w, bool transposed, struct error *err);
// y[n, oc, ...] = bias[oc], or 0.
void conv_fill_bias(const struct convolve *t, const float *bias, float *y);
MUST_CHECK enum status conv_check_bias(const struct convolve *t, const struct tensor *bias, struct error *err);

#endif
