// The window that convolutions and poolings move over up to three spatial dimensions, with padding resolved. Fewer
// dimensions are filled up in front with size 1, so that every loop is over three.
#ifndef QTUI_ENGINE_OPS_SPATIAL_WINDOW_H
#define QTUI_ENGINE_OPS_SPATIAL_WINDOW_H

#include "../ops.h"

#define WINDOW_DIMS 3
struct window {
	int spatial; // dimensions that the operator has; the last ones below
	int64_t in[WINDOW_DIMS], out[WINDOW_DIMS], kernel[WINDOW_DIMS], stride[WINDOW_DIMS], dilation[WINDOW_DIMS];
	int64_t before[WINDOW_DIMS], after[WINDOW_DIMS]; // padding
};
struct window_spec { // attributes, as conv_attrs and pool_attrs have them
	const char *auto_pad;
	const struct ints *strides, *dilations, *pads, *kernel_shape;
	const struct ints *output_padding, *output_shape; // transposed convolution only, else NULL
	bool ceil_mode;
};
// From the input's shape [N, C, spatial...]; `kernel` holds the spatial sizes of the weights, or is NULL: attribute
// kernel_shape.
MUST_CHECK enum status window_resolve(
    struct window *w, const struct window_spec *spec, const struct shape *x, const int64_t *kernel, struct error *err);
// The same for a transposed convolution: `in` is the smaller side, `out` the larger.
MUST_CHECK enum status window_resolve_transposed(
    struct window *w, const struct window_spec *spec, const struct shape *x, const int64_t *kernel, struct error *err);
// The output shape [n, c, out...].
struct shape window_shape(const struct window *w, int64_t n, int64_t c);
int64_t window_in(const struct window *w); // products of the three sizes
int64_t window_out(const struct window *w);
int64_t window_kernel(const struct window *w);
// The steps first..end-1 (positions of the moving side, of `steps`) for which step * stride + offset is in 0..size-1.
struct span {
	int64_t first, end;
};
struct span window_span(int64_t steps, int64_t size, int64_t stride, int64_t offset);

struct window_spec window_of_conv(const struct conv_attrs *a);
struct window_spec window_of_pool(const struct pool_attrs *a);

#endif
