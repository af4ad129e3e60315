// Resize by its taps: nearest picks elements; filters go over one axis after another,
// or over both axes of a plane at once.
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "../element.h"
#include "../rule.h"
#include "resize.h"

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

// With antialias ONNX Runtime, as Pillow does, rounds integers behind each pass:
// halves up where they have 8 bits, else away from 0.
static void round_pass(float *y, int64_t n, enum dtype type)
{
	float low = type == DT_U8 ? 0 : INT8_MIN, high = type == DT_U8 ? UINT8_MAX : INT8_MAX;
	for (int64_t i = 0; i < n; i++)
		y[i] = dtype_size(type) == 1 ? fminf(fmaxf(floorf(y[i] + .5f), low), high) : roundf(y[i]);
}

// One pass per axis that changes, the last axis first; *buf holds the input and, in the end, the result.
static enum status eval_filter(
    const struct resize *r, const struct resize_taps *t, float **buf, enum dtype type, int width, struct error *err)
{
	for (int i = r->rank - 1; i >= 0; i--) {
		int64_t outer = 1, inner = 1, count;
		float *next;
		if (resize_keeps(r, i))
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
		if (r->antialias && type != DT_F32)
			round_pass(next, count, type);
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

// The first of the two axes that a linear Resize of two dimensions goes over, or of four of which the others stay:
// the last two, or with channels last the middle ones. -1: it is none of that kind.
static int bilinear_rows(const struct resize *r)
{
	if (r->kind != RESIZE_LINEAR || r->antialias || (r->rank != 2 && r->rank != 4))
		return -1;
	if (r->rank == 2 || (resize_keeps(r, 0) && resize_keeps(r, 1)))
		return r->rank - 2;
	return resize_keeps(r, 0) && resize_keeps(r, 3) ? 1 : -1;
}

// The four neighbours of a pixel, the products of both weights with them added up as ONNX Runtime does it,
// since what they come to is cut off. With channels last its weights for bytes are whole 1024ths.
struct neighbours {
	int64_t at[4];
	float weight[4];
	int32_t parts[4];
};

static struct neighbours neighbours_of(
    const struct resize_taps *rows, const struct resize_taps *columns, int64_t row, int64_t column, int64_t width)
{
	struct neighbours n;
	for (int k = 0; k < 4; k++) {
		const float *down = rows->weight + 2 * row, *along = columns->weight + 2 * column;
		const int32_t below = (int32_t)(down[1] * 1024), right = (int32_t)(along[1] * 1024);
		n.at[k] = rows->index[2 * row + k / 2] * width + columns->index[2 * column + k % 2];
		n.weight[k] = along[k % 2] * down[k / 2];
		n.parts[k] = (k / 2 ? below : 1024 - below) * (k % 2 ? right : 1024 - right);
	}
	return n;
}

static float add_up(const struct neighbours *n, const float *x, int64_t lanes, bool in_parts)
{
	const float a = x[n->at[0] * lanes], b = x[n->at[1] * lanes], c = x[n->at[2] * lanes], d = x[n->at[3] * lanes];
	if (in_parts)
		return (float)((n->parts[0] * (int32_t)a + n->parts[1] * (int32_t)b + n->parts[2] * (int32_t)c + n->parts[3] * (int32_t)d) /
		               (1 << 20));
	return n->weight[0] * a + n->weight[1] * b + n->weight[2] * c + n->weight[3] * d;
}

static enum status eval_bilinear(
    const struct resize *r, const struct resize_taps *t, int rows, float **buf, enum dtype type, int width, struct error *err)
{
	const struct resize_axis *down = &r->axis[rows], *along = &r->axis[rows + 1];
	const bool last = rows == 1, in_parts = last && dtype_size(type) == 1;
	const int64_t lanes = last ? r->axis[3].in : 1, planes = r->rank == 2 ? 1 : last ? r->axis[0].in : r->axis[0].in * r->axis[1].in;
	float *y = mem_try_array((size_t)(planes * down->out * along->out * lanes) + 1, sizeof *y);
	if (!y)
		return error_set(err, STATUS_NOMEM, "no memory for the result as floats");
#pragma omp parallel for num_threads(width) if (width > 1)
	for (int64_t row = 0; row < planes * down->out; row++)
		for (int64_t o = 0; o < along->out; o++) {
			const struct neighbours n = neighbours_of(&t[rows], &t[rows + 1], row % down->out, o, along->in);
			const float *plane = *buf + row / down->out * down->in * along->in * lanes;
			for (int64_t l = 0; l < lanes; l++)
				y[(row * along->out + o) * lanes + l] = add_up(&n, plane + l, lanes, in_parts);
		}
	free(*buf);
	*buf = y;
	return STATUS_OK;
}

// Any axes, any type: through floats, one pass per axis.
static enum status filter_axes(const struct resize *r, const struct resize_taps *t, const struct tensor *x,
    struct tensor *y, int width, struct error *err)
{
	int64_t count = tensor_count(x);
	float *buf = mem_try_array((size_t)count + 1, sizeof *buf);
	const int rows = x->type == DT_F32 ? -1 : bilinear_rows(r);
	enum status s;
	if (!buf)
		return error_set(err, STATUS_NOMEM, "no memory for %lld elements", (long long)count);
	for (int64_t i = 0; i < count; i++)
		buf[i] = (float)element_double(x, i);
	s = rows >= 0 ? eval_bilinear(r, t, rows, &buf, x->type, width, err) : eval_filter(r, t, &buf, x->type, width, err);
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
