// What the operators on codes share: codes of a tensor stand for (code - zero) * scale, rounded half to even.
#ifndef QTUI_ENGINE_OPS_QLINEAR_H
#define QTUI_ENGINE_OPS_QLINEAR_H

#include "ops.h"
#include "qtui/engine/quantizer.h"

// A quantizer over all codes of `type`; n 1: one scale for the tensor, else one an element along `axis`. Borrows both arrays.
struct quantizer qlinear_quantizer(enum dtype type, const float *scale, const int32_t *zero, int n, int axis);
// The scale and zero point of an operand that has one of each; t NULL: no zero point, 0. `i` names the input in errors.
MUST_CHECK enum status qlinear_single(const struct tensor *t, int i, struct error *err);
float qlinear_scale(const struct tensor *t);
int32_t qlinear_zero(const struct tensor *t);

#endif
