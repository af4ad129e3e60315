// The taps of Resize along one axis: which elements of the input make an element of the output, and with which weights.
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "resize.h"

// In float, as ONNX Runtime computes it: what lies half-way between two elements is decided by the last bit.
static float coordinate(const struct resize *r, const struct resize_axis *x, int64_t o)
{
	float in = (float)x->in, out = (float)x->out, at = (float)o, scale = (float)x->scale;
	float start = (float)x->start, end = (float)x->end;
	switch (r->transform) {
	case TRANSFORM_HALF_PIXEL_SYMMETRIC:
		return (float)((double)(in / 2 * (1 - out / (scale * in))) + ((double)at + 0.5) / (double)scale - 0.5);
	case TRANSFORM_PYTORCH:
		return x->out > 1 ? (at + 0.5f) / scale - 0.5f : 0;
	case TRANSFORM_ALIGN_CORNERS:
		return x->out > 1 ? at * (in - 1) / (out - 1) : 0;
	case TRANSFORM_ASYMMETRIC:
		return at / scale;
	case TRANSFORM_TF_HALF_PIXEL:
		return (at + 0.5f) / scale;
	case TRANSFORM_CROP:
		return x->out > 1 ? start * (in - 1) + at * (end - start) * (in - 1) / (out - 1)
		                  : 0.5f * (start + end) * (in - 1);
	default:
		return (at + 0.5f) / scale - 0.5f;
	}
}

static double round_to(const struct resize *r, const struct resize_axis *x, double v)
{
	switch (r->rounding) {
	case NEAREST_BY_SCALE: // before opset 11: up when it shrinks
		return x->scale < 1 ? ceil(v) : floor(v);
	case NEAREST_PREFER_CEIL:
		return floor(v + 0.5);
	case NEAREST_FLOOR:
		return floor(v);
	case NEAREST_CEIL:
		return ceil(v);
	default:
		return ceil(v - 0.5);
	}
}

static int64_t clamp(double v, int64_t n)
{
	return !(v > 0) ? 0 : v > (double)(n - 1) ? n - 1 : (int64_t)v;
}

// Cubic convolution with parameter a; the triangle of linear interpolation.
static double cubic(double x, double a)
{
	x = fabs(x);
	if (x <= 1)
		return ((a + 2) * x - (a + 3)) * x * x + 1;
	return x < 2 ? ((a * x - 5 * a) * x + 8 * a) * x - 4 * a : 0;
}

static double triangle(double x)
{
	return fabs(x) < 1 ? 1 - fabs(x) : 0;
}

// When shrinking with antialias the filter is stretched, so that it covers all that one output element stands for.
static double stretch(const struct resize *r, const struct resize_axis *x)
{
	return r->antialias && x->scale < 1 ? x->scale : 1;
}

static int64_t reach(const struct resize *r, const struct resize_axis *x) // taps on either side
{
	double support = r->kind == RESIZE_LINEAR ? 1 : 2;
	return (int64_t)ceil(support / stretch(r, x));
}

static void filter_taps(
    struct resize_taps *t, const struct resize *r, const struct resize_axis *x, int64_t o, double at)
{
	double base = floor(at), sum = 0, narrow = stretch(r, x);
	int64_t half = t->n / 2;
	for (int64_t k = 0; k < t->n; k++) {
		double i = base + (double)(k - half + 1), d = (i - at) * narrow;
		double w = r->kind == RESIZE_LINEAR ? triangle(d) : cubic(d, r->cubic_a);
		if (r->exclude_outside && (i < 0 || i >= (double)x->in))
			w = 0;
		t->index[o * t->n + k] = clamp(i, x->in);
		t->weight[o * t->n + k] = (float)w;
		sum += w;
	}
	for (int64_t k = 0; k < t->n && (r->exclude_outside || r->antialias) && sum != 0; k++)
		t->weight[o * t->n + k] = (float)((double)t->weight[o * t->n + k] / sum);
}

static bool is_linear(const struct resize *r) // by the two neighbours, wherever they lie
{
	return r->kind == RESIZE_LINEAR && !r->antialias && !r->exclude_outside;
}

// In float, as ONNX Runtime has them; where both neighbours are one, at the far edge, each has half of the weight.
static void linear_taps(struct resize_taps *t, const struct resize *r, const struct resize_axis *x, int64_t o)
{
	const float last = (float)(x->in - 1), at = x->scale == 1 && r->transform != TRANSFORM_CROP ? (float)o : coordinate(r, x, o);
	const float in = !(at > 0) ? 0 : at < last ? at : last;
	const int64_t near = (int64_t)in, far = near + 1 < x->in ? near + 1 : near;
	t->index[2 * o] = near;
	t->index[2 * o + 1] = far;
	t->weight[2 * o] = near == far ? .5f : fabsf(in - (float)far);
	t->weight[2 * o + 1] = near == far ? .5f : fabsf(in - (float)near);
}

static void free_taps(struct resize_taps *t)
{
	free(t->index);
	free(t->weight);
	free(t->outside);
	*t = (struct resize_taps){0};
}

static enum status resize_make_taps(struct resize_taps *t, const struct resize *r, int axis, struct error *err)
{
	const struct resize_axis *x = &r->axis[axis];
	size_t count;
	*t = (struct resize_taps){.n = r->kind == RESIZE_NEAREST || x->out == 0 ? 1 : 2 * reach(r, x)};
	count = (size_t)(t->n * x->out) + 1;
	t->index = mem_try_array(count, sizeof *t->index);
	t->weight = mem_try_array(count, sizeof *t->weight);
	t->outside = mem_try_array((size_t)x->out + 1, sizeof *t->outside);
	if (!t->index || !t->weight || !t->outside) {
		free_taps(t);
		return error_set(err, STATUS_NOMEM, "no memory for the weights of axis %d", axis);
	}
	for (int64_t o = 0; o < x->out; o++) {
		double at = (double)coordinate(r, x, o);
		t->outside[o] = r->transform == TRANSFORM_CROP && !(at >= 0 && at <= (double)(x->in - 1));
		t->any_outside |= t->outside[o];
		if (r->kind == RESIZE_NEAREST) {
			t->index[o] = clamp(round_to(r, x, at), x->in);
			t->weight[o] = 1;
		} else if (is_linear(r)) {
			linear_taps(t, r, x, o);
		} else {
			filter_taps(t, r, x, o, at);
		}
	}
	return STATUS_OK;
}

enum status resize_all_taps(
    struct resize_taps t[SHAPE_MAX_RANK], bool *any_outside, const struct resize *r, struct error *err)
{
	enum status s = STATUS_OK;
	memset(t, 0, SHAPE_MAX_RANK * sizeof *t);
	*any_outside = false;
	for (int i = 0; s == STATUS_OK && i < r->rank; i++) {
		s = resize_make_taps(&t[i], r, i, err);
		*any_outside |= t[i].any_outside;
	}
	if (s != STATUS_OK)
		resize_free_all(t);
	return s;
}

void resize_free_all(struct resize_taps t[SHAPE_MAX_RANK])
{
	for (int i = 0; i < SHAPE_MAX_RANK; i++)
		free_taps(&t[i]);
}

bool resize_keeps(const struct resize *r, int axis)
{
	const struct resize_axis *x = &r->axis[axis];
	return x->in == x->out && x->scale == 1 && (r->transform != TRANSFORM_CROP || (x->start == 0 && x->end == 1));
}

static struct interp_axis filter_axis(const struct resize_axis *a, const struct resize_taps *t)
{
	return (struct interp_axis){.in = a->in, .out = a->out, .taps = t->n, .index = t->index, .weight = t->weight};
}

bool resize_planes(struct interp *out, const struct resize *r, const struct resize_taps *t)
{
	if (r->rank != 4 || r->kind == RESIZE_NEAREST || r->transform == TRANSFORM_TF_HALF_PIXEL ||
	    r->transform == TRANSFORM_CROP || !resize_keeps(r, 0) || !resize_keeps(r, 1))
		return false;
	*out = (struct interp){.rows = filter_axis(&r->axis[2], &t[2]), .columns = filter_axis(&r->axis[3], &t[3]),
	    .planes = r->axis[0].in * r->axis[1].in, .lanes = 1};
	return true;
}
