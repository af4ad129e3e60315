// Resize by a filter (linear, cubic) on planes of pixels of `lanes` floats: one lane in the plain layout,
// layout_block() lanes in the blocked one. Two taps each way (bilinear) are added up as ONNX Runtime adds them:
// the products of both weights with a pixel, from the upper left to the lower right, since half-way weights put many
// results between two codes. Others go over the rows first and then over the columns, from the first tap to the last,
// and leave taps of weight 0 out. Both layouts and any number of threads give the same bits.
#ifndef QTUI_ENGINE_KERNELS_SPATIAL_INTERP_H
#define QTUI_ENGINE_KERNELS_SPATIAL_INTERP_H

#include <stdint.h>

struct interp_axis {
	int64_t in, out, taps;
	const int64_t *index; // [out][taps], within 0 .. in - 1
	const float *weight;  // [out][taps]
};
struct interp {
	struct interp_axis rows, columns;
	int64_t planes, lanes;
};
// `buffer` holds interp_buffer() floats.
int64_t interp_buffer(const struct interp *r, int width);
void interp_run(const struct interp *r, const float *x, float *y, float *buffer, int width);

// The loops of a processor level: one output row of the filter over rows, one over columns;
// one of both at once, of two taps each.
struct interp_table {
	void (*row)(const struct interp *r, const float *x, float *y, int64_t out);
	void (*column)(const struct interp *r, const float *x, float *y);
	void (*bilinear)(const struct interp *r, const float *x, float *y, int64_t out);
};
extern const struct interp_table interp_plain, interp_avx2;

#endif
