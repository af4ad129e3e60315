// Tiles of input pixels as int16 with the zero point taken away (private): [rows][cols][pitch], what lies outside of the image filled
// with the zero point, so that the inner loops know no borders.
#ifndef QTUI_ENGINE_KERNELS_QTILE_H
#define QTUI_ENGINE_KERNELS_QTILE_H

#include "qfast.h"

struct qimage {
	enum layout layout;
	enum dtype type;
	int64_t c, h, w;
	int64_t pitch;      // int16 of a pixel: c, or in LAYOUT_BLOCK c rounded up to 8
	struct qentry entry;
};
// Fills `rows` rows of `cols` pixels whose first is input pixel (row, col) of image n; they may lie outside.
void qtile_fill(int16_t *tile, const struct qimage *im, const struct qmicro *m, const void *x, int64_t n, int64_t row, int64_t rows,
    int64_t col, int64_t cols);
// Readable int16 past the end of a tile: a pair may begin at its last value.
enum { QTILE_SLACK = 2 };

#endif
