// The elements of an output as floats, whatever its type.
#ifndef QTUI_ANALYSIS_TASK_DECODE_FLOATS_H
#define QTUI_ANALYSIS_TASK_DECODE_FLOATS_H

#include "qtui/engine/tensor.h"

// t->data itself when it holds floats, else a copy in *heap, which the caller frees. `t` is in plain layout.
const float *output_floats(const struct tensor *t, float **heap);

#endif
