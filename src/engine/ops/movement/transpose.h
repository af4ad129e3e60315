// What a Transpose does, for those who move blocks themselves.
#ifndef QTUI_ENGINE_OPS_MOVEMENT_TRANSPOSE_H
#define QTUI_ENGINE_OPS_MOVEMENT_TRANSPOSE_H

#include "qtui/engine/op.h"

// Dimension i of the result is dimension perm[i] of the input, which has `rank`.
MUST_CHECK enum status transpose_permutation(int64_t perm[SHAPE_MAX_RANK], const struct node *n, int rank, struct error *err);

#endif
