// Resize by a filter (linear, cubic), rows first and then columns, on planes of pixels of `lanes` floats: one lane in the plain
// layout, layout_block() lanes in the blocked one. Sums go from the first tap to the last, and taps of weight 0 are left out, so
// that both layouts and any number of threads give the same bits.
#ifndef QTUI_ENGINE_KERNELS_INTERP_H
#define QTUI_ENGINE_KERNELS_INTERP_H

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

// The loops of a processor level: one output row of the filter over rows, one over columns.
struct interp_table {
	void (*row)(const struct interp *r, const float *x, float *y, int64_t out);
	void (*column)(const struct interp *r, const float *x, float *y);
};
extern const struct interp_table interp_plain, interp_avx2;

#endif
