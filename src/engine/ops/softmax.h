// Softmax for the operators that contain one.
#ifndef QTUI_ENGINE_OPS_SOFTMAX_H
#define QTUI_ENGINE_OPS_SOFTMAX_H

#include "ops.h"

// Softmax, LogSoftmax or Hardmax over the middle dimension of [outer, n, inner]; y may be x.
MUST_CHECK enum status softmax_along(
    enum op_id id, const float *x, float *y, int64_t outer, int64_t n, int64_t inner, int width, struct error *err);

#endif
