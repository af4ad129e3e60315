// What reductions share.
#ifndef QTUI_ENGINE_OPS_REDUCTION_REDUCE_H
#define QTUI_ENGINE_OPS_REDUCTION_REDUCE_H

#include "../ops.h"

// Which axes a reduction removes. Where it removes none, each element is still squared, or whatever is done to a total.
MUST_CHECK enum status reduce_axes(
    bool gone[SHAPE_MAX_RANK], const struct node *n, const struct tensor *const *in, struct error *err);
// The shape of what is left of x: the axes that are gone have one element, or are left out.
void reduce_set_shape(struct shape *y, const struct shape *x, const bool gone[SHAPE_MAX_RANK], bool keepdims);

#endif
