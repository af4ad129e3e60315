// What other element-wise operators take from binary.c.
#ifndef QTUI_ENGINE_OPS_BINARY_H
#define QTUI_ENGINE_OPS_BINARY_H

#include "ops.h"
#include "strided.h"

// The output's shape and b's after the alignment that operators had before opset 7.
MUST_CHECK enum status binary_shapes(
    struct shape *y, struct shape *b, const struct node *n, const struct tensor *const *in, struct error *err);
// y = f(a, b) over arrays 1 and 2 of `s` into array 0. Floats: Add, Sub, Mul, Div, Max, Min, Mod, Pow, Sum, Mean (which
// adds).
void binary_floats(enum op_id id, const struct strided *s, const float *a, const float *b, float *y, int width);
void binary_ints(
    const struct node *n, const struct strided *s, const struct tensor *a, const struct tensor *b, struct tensor *y);

#endif
