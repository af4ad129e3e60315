// Taps of a convolution that only ever meet padding (a dilated kernel that is wider than
// its input has them) add nothing to a sum.
#ifndef QTUI_ENGINE_BACKEND_TAPS_H
#define QTUI_ENGINE_BACKEND_TAPS_H

#include "qtui/engine/kernel.h"

// Takes the outer rows and columns of such taps away from the task; returns the weights that are left
// (heap; the task's weights now), or NULL when there is nothing to take or no memory to do it.
float *taps_trim(struct conv_task *t);

#endif
