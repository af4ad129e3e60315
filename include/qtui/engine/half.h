// Floats of 16 bits as IEEE 754 has them (float16): codes to floats and back. Every half is a float.
#ifndef QTUI_ENGINE_HALF_H
#define QTUI_ENGINE_HALF_H

#include <stdint.h>

float half_to_float(uint16_t h);
// The nearest half, ties to the even one; infinity from 65520 on. A NaN becomes the quiet one of its sign.
uint16_t half_of_float(float x);

#endif
