#ifndef QTUI_ENGINE_KERNELS_INTEGER_QLUT_H
#define QTUI_ENGINE_KERNELS_INTEGER_QLUT_H

#include "qtui/engine/kernel.h"

// Whole vectors only: returns how many elements it did. x may be y.
typedef int64_t qlut_fn(const uint8_t lut[256], const uint8_t *x, uint8_t *y, int64_t n);
qlut_fn qlut_avx2, qlut_vbmi;

#endif
