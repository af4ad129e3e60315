// Resize and Upsample: resize.c reads sizes and coordinates from whichever inputs and attributes a version has,
// resize_taps.c makes the weights along one axis, resize_eval.c applies them.
#ifndef QTUI_ENGINE_OPS_SPATIAL_RESIZE_H
#define QTUI_ENGINE_OPS_SPATIAL_RESIZE_H

#include "../../kernels/spatial/interp.h"
#include "../ops.h"

enum resize_kind { RESIZE_NEAREST, RESIZE_LINEAR, RESIZE_CUBIC };
enum resize_transform {
	TRANSFORM_HALF_PIXEL,
	TRANSFORM_HALF_PIXEL_SYMMETRIC,
	TRANSFORM_PYTORCH,
	TRANSFORM_ALIGN_CORNERS,
	TRANSFORM_ASYMMETRIC,
	TRANSFORM_TF_HALF_PIXEL,
	TRANSFORM_CROP,
};
enum resize_rounding { NEAREST_PREFER_FLOOR, NEAREST_PREFER_CEIL, NEAREST_FLOOR, NEAREST_CEIL, NEAREST_BY_SCALE };
struct resize_axis {
	int64_t in, out;
	double scale;      // of the coordinates
	double start, end; // region of TRANSFORM_CROP
};
struct resize {
	enum resize_kind kind;
	enum resize_transform transform;
	enum resize_rounding rounding;
	bool exclude_outside, antialias;
	double cubic_a;
	float extrapolation;
	int rank;
	struct resize_axis axis[SHAPE_MAX_RANK];
};
MUST_CHECK enum status resize_resolve(
    struct resize *r, const struct node *n, const struct tensor *const *in, struct error *err);

// Output position o is the sum over k < n of weight[o * n + k] * x[index[o * n + k]]; `outside`[o]: the extrapolation
// value instead.
struct resize_taps {
	int64_t n;
	int64_t *index;
	float *weight;
	bool *outside;
	bool any_outside;
};
// Taps of all axes, or none.
MUST_CHECK enum status resize_all_taps(
    struct resize_taps t[SHAPE_MAX_RANK], bool *any_outside, const struct resize *r, struct error *err);
void resize_free_all(struct resize_taps t[SHAPE_MAX_RANK]);

// Whether an axis stays as it is. One of the same length does not where its scale is not 1.
bool resize_keeps(const struct resize *r, int axis);
// A filter over the last two of four axes, one lane; false for other resizes. *out points into t.
bool resize_planes(struct interp *out, const struct resize *r, const struct resize_taps *t);

#endif
