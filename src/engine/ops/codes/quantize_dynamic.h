// The range of codes that are made when the node runs.
#ifndef QTUI_ENGINE_OPS_CODES_QUANTIZE_DYNAMIC_H
#define QTUI_ENGINE_OPS_CODES_QUANTIZE_DYNAMIC_H

#include <stdint.h>

// Scale and zero point of uint8 codes for the range of n values and 0; scale 1 when all are 0.
void quantize_dynamic_range(float *scale, int32_t *zero, const float *x, int64_t n);

#endif
