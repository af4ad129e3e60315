// Tiles of input pixels as the values that inner loops multiply (private): [rows][cols][pitch],
// what lies outside of the image filled with the zero point, so that the inner loops know no borders.
#ifndef QTUI_ENGINE_KERNELS_INTEGER_QTILE_H
#define QTUI_ENGINE_KERNELS_INTEGER_QTILE_H

#include "qfast.h"

struct qimage {
	enum layout layout;
	enum dtype type;
	int64_t c, h, w;
	int64_t pitch;      // values of a pixel
	struct qentry entry;
};
// c, or in LAYOUT_BLOCK c rounded up to a lot.
int64_t qimage_pitch(const struct qimage *im, const struct qmicro *m);
// `rows` rows of `cols` pixels, the first of which is pixel (row, col)
// of image n of the batch; they may lie outside of it.
struct qarea {
	int64_t n, row, rows, col, cols;
};
// Fills the tile with an area of the input x.
void qtile_fill(void *tile, const struct qimage *im, const struct qmicro *m, const void *x, const struct qarea *area);
// Readable bytes past the end of a tile: a word may begin at its last value.
enum { QTILE_SLACK = QWORD };

#endif
