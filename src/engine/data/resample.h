// Antialiased bilinear resampling of RGB bytes, equal to the bit to Pillow's Image.resize(size, BILINEAR): a triangle
// filter as wide as the shrink factor, coefficients in 22-bit fixed point, columns first, rounded to 8 bits, then rows.
#ifndef QTUI_ENGINE_DATA_RESAMPLE_H
#define QTUI_ENGINE_DATA_RESAMPLE_H

#include "image/image.h"

// Makes *out (the caller frees out->rgb) of w x h pixels.
MUST_CHECK enum status resample(struct image *out, const struct image *in, int w, int h, struct error *err);

#endif
