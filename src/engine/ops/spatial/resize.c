// Resize, Upsample: which sizes, scales and coordinates a node asks for.
#include "resize.h"

#include <math.h>
#include <string.h>
#include "../element.h"
#include "../rule.h"

struct choice {
	const char *name;
	int value;
};
static const struct choice kinds[] = {
    {"nearest", RESIZE_NEAREST},
    {"linear", RESIZE_LINEAR},
    {"bilinear", RESIZE_LINEAR},
    {"cubic", RESIZE_CUBIC},
    {NULL, 0},
};
static const struct choice transforms[] = {
    {"half_pixel", TRANSFORM_HALF_PIXEL},
    {"half_pixel_symmetric", TRANSFORM_HALF_PIXEL_SYMMETRIC},
    {"pytorch_half_pixel", TRANSFORM_PYTORCH},
    {"align_corners", TRANSFORM_ALIGN_CORNERS},
    {"asymmetric", TRANSFORM_ASYMMETRIC},
    {"tf_half_pixel_for_nn", TRANSFORM_TF_HALF_PIXEL},
    {"tf_crop_and_resize", TRANSFORM_CROP},
    {NULL, 0},
};
static const struct choice roundings[] = {
    {"round_prefer_floor", NEAREST_PREFER_FLOOR},
    {"round_prefer_ceil", NEAREST_PREFER_CEIL},
    {"floor", NEAREST_FLOOR},
    {"ceil", NEAREST_CEIL},
    {NULL, 0},
};

static enum status choose(int *out, const struct choice *c, const char *name, const char *what, struct error *err)
{
	for (; c->name; c++) {
		if (strcmp(c->name, name))
			continue;
		*out = c->value;
		return STATUS_OK;
	}
	return error_set(err, STATUS_UNSUPPORTED, "%s `%s` is not supported", what, name);
}

static enum status read_modes(struct resize *r, const struct resize_attrs *a, struct error *err)
{
	int kind = 0, transform = 0, rounding = 0;
	enum status s = choose(&kind, kinds, a->mode, "mode", err);
	if (s == STATUS_OK)
		s = choose(&transform, transforms, a->transform, "coordinate_transformation_mode", err);
	if (s == STATUS_OK)
		s = choose(&rounding, roundings, a->nearest_mode, "nearest_mode", err);
	r->kind = (enum resize_kind)kind;
	r->transform = (enum resize_transform)transform;
	r->rounding = (enum resize_rounding)rounding;
	r->exclude_outside = a->exclude_outside != 0;
	r->antialias = a->antialias != 0 && kind != RESIZE_NEAREST;
	r->cubic_a = (double)a->cubic_a;
	r->extrapolation = a->extrapolation;
	return s;
}

static const struct tensor *given(const struct node *n, const struct tensor *const *in, int i)
{
	return i < n->n_in && in[i] && shape_count(&in[i]->shape) > 0 ? in[i] : NULL;
}

// The axes that scales, sizes and region speak of: all, unless attribute axes names some.
static enum status read_axes(
    int64_t axes[SHAPE_MAX_RANK], int *count, const struct resize *r, const struct ints *list, struct error *err)
{
	bool seen[SHAPE_MAX_RANK];
	enum status s = rule_axes_list(axes, count, NULL, list, err);
	if (s == STATUS_OK && *count >= 0)
		s = rule_axes(seen, axes, *count, r->rank, err);
	for (int i = 0; *count < 0 && i < r->rank; i++)
		axes[i] = i;
	for (int i = 0; i < *count; i++)
		axes[i] += axes[i] < 0 ? r->rank : 0;
	*count = *count < 0 ? r->rank : *count;
	return s;
}

// The product is one of floats, as in ONNX's own shape inference: 10 times 2.3f is 23, though 2.3f is below 2.3.
static enum status set_scale(struct resize_axis *x, int axis, double scale, struct error *err)
{
	double out = floor((double)((float)x->in * (float)scale));
	if (!(scale > 0) || !(out < (double)RULE_MAX_DIM))
		return error_set(err, STATUS_FORMAT, "the scale of axis %d is %g", axis, scale);
	x->scale = scale;
	x->out = (int64_t)out;
	return STATUS_OK;
}

static enum status scales_from_tensor(
    struct resize *r, const struct tensor *t, const int64_t *axes, int count, struct error *err)
{
	enum status s = STATUS_OK;
	if (tensor_count(t) != count)
		return error_set(
		    err, STATUS_FORMAT, "scales has %lld values, needs %d", (long long)tensor_count(t), count);
	if (!t->data)
		return rule_pending(err);
	for (int i = 0; i < count && s == STATUS_OK; i++)
		s = set_scale(&r->axis[axes[i]], (int)axes[i], element_double(t, i), err);
	return s;
}

// One scale for all axes, the smallest ("not_larger") or the largest ("not_smaller"), sizes rounded half up.
static enum status keep_aspect(struct resize *r, const char *policy, const int64_t *axes, int count, struct error *err)
{
	double best = 0;
	if (strcmp(policy, "not_larger") && strcmp(policy, "not_smaller"))
		return error_set(err, STATUS_UNSUPPORTED, "keep_aspect_ratio_policy `%s` is not supported", policy);
	for (int i = 0; i < count; i++) {
		double scale = r->axis[axes[i]].scale;
		if (i == 0 || (strcmp(policy, "not_larger") ? scale > best : scale < best))
			best = scale;
	}
	for (int i = 0; i < count; i++) {
		struct resize_axis *x = &r->axis[axes[i]];
		double out = floor(best * (double)x->in + 0.5);
		if (!(out < (double)RULE_MAX_DIM))
			return error_set(err, STATUS_FORMAT, "axis %lld would be too large", (long long)axes[i]);
		x->scale = best;
		x->out = (int64_t)out;
	}
	return STATUS_OK;
}

static enum status sizes_from_tensor(
    struct resize *r, const struct tensor *t, const char *policy, const int64_t *axes, int count, struct error *err)
{
	if (tensor_count(t) != count)
		return error_set(
		    err, STATUS_FORMAT, "sizes has %lld values, needs %d", (long long)tensor_count(t), count);
	if (!t->data)
		return rule_pending(err);
	for (int i = 0; i < count; i++) {
		struct resize_axis *x = &r->axis[axes[i]];
		x->out = element_int(t, i);
		if (!rule_within(x->out, 0, RULE_MAX_DIM) || (x->in == 0 && x->out > 0))
			return error_set(
			    err, STATUS_FORMAT, "the size of axis %lld is %lld", (long long)axes[i], (long long)x->out);
		x->scale = x->in ? (double)x->out / (double)x->in : 1;
	}
	return strcmp(policy, "stretch") ? keep_aspect(r, policy, axes, count, err) : STATUS_OK;
}

static enum status read_region(
    struct resize *r, const struct tensor *roi, const int64_t *axes, int count, struct error *err)
{
	if (r->transform != TRANSFORM_CROP)
		return STATUS_OK;
	if (!roi || tensor_count(roi) != 2 * count)
		return error_set(err, STATUS_FORMAT, "roi must have %d values", 2 * count);
	if (!roi->data)
		return rule_pending(err);
	for (int i = 0; i < count; i++) {
		r->axis[axes[i]].start = element_double(roi, i);
		r->axis[axes[i]].end = element_double(roi, i + count);
	}
	return STATUS_OK;
}

static enum status upsample_scales(struct resize *r, const struct resize_attrs *a, int since, struct error *err)
{
	enum status s = STATUS_OK;
	if (since < 7) {
		if (r->rank != 4)
			return error_set(err, STATUS_FORMAT, "the input has rank %d, needs 4", r->rank);
		s = set_scale(&r->axis[2], 2, (double)a->height_scale, err);
		return s == STATUS_OK ? set_scale(&r->axis[3], 3, (double)a->width_scale, err) : s;
	}
	if (a->scales.n != r->rank || !a->scales.at)
		return error_set(err, STATUS_FORMAT, "attribute scales must have %d values", r->rank);
	for (int i = 0; i < r->rank && s == STATUS_OK; i++)
		s = set_scale(&r->axis[i], i, (double)a->scales.at[i], err);
	return s;
}

enum status resize_resolve(struct resize *r, const struct node *n, const struct tensor *const *in, struct error *err)
{
	const struct resize_attrs *a = n->attrs;
	bool old = n->op->id == OP_Upsample || n->op->since < 11;
	const struct tensor *scales = given(n, in, old ? 1 : 2), *sizes = old ? NULL : given(n, in, 3);
	int64_t axes[SHAPE_MAX_RANK];
	int count;
	enum status s = read_modes(r, a, err);
	r->rank = in[0]->shape.rank;
	for (int i = 0; i < r->rank; i++)
		r->axis[i] =
		    (struct resize_axis){.in = in[0]->shape.dim[i], .out = in[0]->shape.dim[i], .scale = 1, .end = 1};
	if (old)
		r->rounding = NEAREST_BY_SCALE;
	if (s == STATUS_OK)
		s = read_axes(axes, &count, r, &a->axes, err);
	if (s == STATUS_OK && !old)
		s = read_region(r, given(n, in, 1), axes, count, err);
	if (s != STATUS_OK)
		return s;
	if (sizes)
		return sizes_from_tensor(r, sizes, a->keep_aspect, axes, count, err);
	if (scales)
		return scales_from_tensor(r, scales, axes, count, err);
	if (n->op->id == OP_Upsample && n->op->since < 9)
		return upsample_scales(r, a, n->op->since, err);
	return error_set(err, STATUS_FORMAT, "needs scales or sizes");
}

enum status resize_shape(const struct node *n, const struct tensor *const *in, struct tensor *out, struct error *err)
{
	struct resize r;
	struct shape y = {.rank = in[0]->shape.rank};
	enum status s = resize_resolve(&r, n, in, err);
	if (s != STATUS_OK)
		return s;
	for (int i = 0; i < y.rank; i++)
		y.dim[i] = r.axis[i].out;
	rule_set(&out[0], in[0]->type, &y);
	return STATUS_OK;
}
