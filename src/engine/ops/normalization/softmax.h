// Softmax for the operators that contain one.
#ifndef QTUI_ENGINE_OPS_NORMALIZATION_SOFTMAX_H
#define QTUI_ENGINE_OPS_NORMALIZATION_SOFTMAX_H

#include "../ops.h"

// An array [outer, n, inner], of which the middle dimension is normalized.
struct softmax_extent {
	int64_t outer, n, inner;
};
// Softmax, LogSoftmax or Hardmax (`id`) over the middle dimension; y may be x.
MUST_CHECK enum status softmax_along(
    enum op_id id, const float *x, float *y, const struct softmax_extent *e, int width, struct error *err);

#endif
