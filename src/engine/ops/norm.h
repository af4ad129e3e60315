#ifndef QTUI_ENGINE_OPS_NORM_H
#define QTUI_ENGINE_OPS_NORM_H

#include "../kernels/row_moments.h"
#include "ops.h"

void norm_apply(
    const float *x, float *y, int64_t n, float mean, float scale, float bias); // y = (x - mean) * scale + bias

#endif
