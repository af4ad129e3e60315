#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "element.h"
#include "resize.h"
#include "rule.h"

#define PICK(type)                                                                                                     \
	for (int64_t i = 0; i < n; i++)                                                                                \
	((type *)y)[i] = ((const type *)x)[index[i]]

static void pick_run(void *y, const void *x, const int64_t *index, int64_t n, size_t elem)
{
	if (elem == 1)
		PICK(uint8_t);
	else if (elem == 2)
		PICK(uint16_t);
	else if (elem == 4)
		PICK(uint32_t);
	else
		PICK(uint64_t);
}

// Nearest: rows of the last axis, each from the row of the input that the other axes' indices name.
static void eval_nearest(
    const struct resize *r, const struct resize_taps *t, const struct tensor *x, struct tensor *y, int width)
{
	int last = r->rank - 1;
	int64_t n = r->axis[last].out, rows = rule_product(&y->shape, 0, last);
	size_t elem = dtype_size(x->type);

#pragma omp parallel for num_threads(width) if (width > 1)
	for (int64_t row = 0; row < rows; row++) {
		int64_t from = 0, rest = row, stride = r->axis[last].in;
		for (int i = last - 1; i >= 0; i--) {
			from += t[i].index[rest % r->axis[i].out] * stride;
			rest /= r->axis[i].out;
			stride *= r->axis[i].in;
		}
		pick_run((char *)y->data + (size_t)(row * n) * elem, (const char *)x->data + (size_t)from * elem,
		    t[last].index, n, elem);
	}
}

// y[outer, out, inner] from x[outer, in, inner].
static void apply_axis(const struct resize_axis *a, const struct resize_taps *t, const float *x, float *y,
    int64_t outer, int64_t inner, int width)
{
#pragma omp parallel for num_threads(width) if (width > 1)
	for (int64_t p = 0; p < outer * a->out; p++) {
		const float *from = x + p / a->out * a->in * inner, *weight = t->weight + p % a->out * t->n;
		const int64_t *index = t->index + p % a->out * t->n;
		float *to = y + p * inner;
		for (int64_t i = 0; i < inner; i++)
			to[i] = weight[0] * from[index[0] * inner + i];
		for (int64_t k = 1; k < t->n; k++)
			for (int64_t i = 0; weight[k] != 0 && i < inner; i++)
				to[i] += weight[k] * from[index[k] * inner + i];
	}
}

static bool is_identity(const struct resize *r, int i)
{
	return r->axis[i].in == r->axis[i].out && r->axis[i].scale == 1 && r->transform != TRANSFORM_CROP;
}

// With antialias ONNX Runtime, as Pillow does, rounds what has 8 bits behind each pass.
static bool rounds_between(const struct resize *r, enum dtype type)
{
	return r->antialias && (type == DT_U8 || type == DT_I8);
}

static void round_to_byte(float *y, int64_t n, enum dtype type)
{
	float low = type == DT_U8 ? 0 : INT8_MIN, high = type == DT_U8 ? UINT8_MAX : INT8_MAX;

	for (int64_t i = 0; i < n; i++)
		y[i] = fminf(fmaxf(floorf(y[i] + .5f), low), high);
}

// One pass per axis that changes, the last axis first; *buf holds the input and, in the end, the result.
static enum status eval_filter(
    const struct resize *r, const struct resize_taps *t, float **buf, enum dtype type, int width, struct error *err)
{
	for (int i = r->rank - 1; i >= 0; i--) {
		int64_t outer = 1, inner = 1, count;
		float *next;
		if (is_identity(r, i))
			continue;
		for (int j = 0; j < r->rank; j++) {
			outer *= j < i ? r->axis[j].in : 1;
			inner *= j > i ? r->axis[j].out : 1;
		}
		count = outer * inner * r->axis[i].out;
		next = mem_try_array((size_t)count + 1, sizeof *next);
		if (!next)
			return error_set(err, STATUS_NOMEM, "no memory for a pass over axis %d", i);
		apply_axis(&r->axis[i], &t[i], *buf, next, outer, inner, width);
		if (rounds_between(r, type))
			round_to_byte(next, count, type);
		free(*buf);
		*buf = next;
	}
	return STATUS_OK;
}

static void extrapolate(const struct resize *r, const struct resize_taps *t, struct tensor *y)
{
	int64_t count = tensor_count(y);
	double value = (double)r->extrapolation;

	for (int64_t i = 0; i < count; i++) {
		bool outside = false;
		int64_t rest = i;
		for (int d = r->rank - 1; d >= 0; d--) {
			outside |= t[d].outside[rest % r->axis[d].out];
			rest /= r->axis[d].out;
		}
		if (outside)
			elements_store_double(y->data, y->type, i, &value, 1);
	}
}

// Any axes, any type: through floats, one pass per axis.
static enum status filter_axes(const struct resize *r, const struct resize_taps *t, const struct tensor *x,
    struct tensor *y, int width, struct error *err)
{
	int64_t count = tensor_count(x);
	float *buf = mem_try_array((size_t)count + 1, sizeof *buf);
	enum status s;

	if (!buf)
		return error_set(err, STATUS_NOMEM, "no memory for %lld elements", (long long)count);
	for (int64_t i = 0; i < count; i++)
		buf[i] = (float)element_double(x, i);
	s = eval_filter(r, t, &buf, x->type, width, err);
	for (int64_t i = 0; s == STATUS_OK && i < tensor_count(y); i++) {
		double v = (double)buf[i];
		elements_store_double(y->data, y->type, i, &v, 1);
	}
	free(buf);
	return s;
}

static enum status filter_tensor(const struct resize *r, const struct resize_taps *t, const struct tensor *x,
    struct tensor *y, int width, struct error *err)
{
	struct interp planes;
	float *buffer;

	if (x->type != DT_F32 || !resize_planes(&planes, r, t))
		return filter_axes(r, t, x, y, width, err);
	buffer = mem_try_array((size_t)interp_buffer(&planes, width), sizeof *buffer);
	if (!buffer)
		return error_set(err, STATUS_NOMEM, "no memory for a row of the input");
	interp_run(&planes, x->data, y->data, buffer, width);
	free(buffer);
	return STATUS_OK;
}

enum status resize_eval(
    const struct node *n, const struct tensor *const *in, struct tensor *out, int width, struct error *err)
{
	struct resize r;
	struct resize_taps taps[SHAPE_MAX_RANK];
	bool any_outside;
	enum status s = resize_resolve(&r, n, in, err);

	if (s == STATUS_OK)
		s = resize_all_taps(taps, &any_outside, &r, err);
	if (s != STATUS_OK)
		return s;
	if (tensor_count(&out[0]) > 0) {
		if (r.rank == 0)
			memcpy(out[0].data, in[0]->data, dtype_size(in[0]->type));
		else if (r.kind == RESIZE_NEAREST)
			eval_nearest(&r, taps, in[0], &out[0], width);
		else
			s = filter_tensor(&r, taps, in[0], &out[0], width, err);
		if (s == STATUS_OK && any_outside)
			extrapolate(&r, taps, &out[0]);
	}
	resize_free_all(taps);
	return s;
}
