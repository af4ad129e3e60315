// What the normalisations share.
#ifndef QTUI_ENGINE_OPS_NORMALIZATION_NORM_H
#define QTUI_ENGINE_OPS_NORMALIZATION_NORM_H

#include "../../kernels/rows/row_moments.h"
#include "../ops.h"

// y = (x - mean) * scale + bias, of n elements; y may be x.
void norm_apply(const float *x, float *y, int64_t n, float mean, float scale, float bias);

#endif
