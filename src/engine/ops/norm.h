#ifndef QTUI_ENGINE_OPS_NORM_H
#define QTUI_ENGINE_OPS_NORM_H

#include "ops.h"

struct moments {
	double mean, variance;
};
struct moments norm_moments(const float *x, int64_t n);
void norm_apply(
    const float *x, float *y, int64_t n, float mean, float scale, float bias); // y = (x - mean) * scale + bias

#endif
