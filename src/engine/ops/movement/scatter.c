// Scatter, ScatterElements, ScatterND: a copy of the data with elements written, or combined, at indices.
#include <string.h>
#include "../element.h"
#include "../rule.h"
#include "gather.h"

enum reduction { REDUCE_NONE, REDUCE_ADD, REDUCE_MUL, REDUCE_MAX, REDUCE_MIN, REDUCTIONS };

static enum status parse_reduction(enum reduction *out, const struct node *n, enum dtype type, struct error *err)
{
	static const char *const names[REDUCTIONS] = {"none", "add", "mul", "max", "min"};
	const char *name = ((const struct scatter_attrs *)n->attrs)->reduction;
	for (int i = 0; i < REDUCTIONS; i++) {
		if (strcmp(names[i], name))
			continue;
		*out = (enum reduction)i;
		if (i != REDUCE_NONE && type == DT_BOOL)
			return error_set(err, STATUS_UNSUPPORTED, "reduction %s of bool is not supported", name);
		return STATUS_OK;
	}
	return error_set(err, STATUS_UNSUPPORTED, "reduction `%s` is not supported", name);
}

static inline float combine_float(enum reduction r, float a, float b)
{
	switch (r) {
	case REDUCE_ADD:
		return a + b;
	case REDUCE_MUL:
		return a * b;
	case REDUCE_MAX:
		return a > b ? a : b;
	case REDUCE_MIN:
		return a < b ? a : b;
	default:
		return b;
	}
}

static void combine_floats(enum reduction r, float *y, const float *updates, int64_t n)
{
	if (r == REDUCE_ADD) {
		_Pragma("omp simd") for (int64_t i = 0; i < n; i++) y[i] += updates[i];
		return;
	}
	for (int64_t i = 0; i < n; i++)
		y[i] = combine_float(r, y[i], updates[i]);
}

static int64_t combine_int(enum reduction r, int64_t a, int64_t b, bool is_unsigned)
{
	bool less = is_unsigned ? (uint64_t)a < (uint64_t)b : a < b;
	switch (r) {
	case REDUCE_ADD:
		return (int64_t)((uint64_t)a + (uint64_t)b);
	case REDUCE_MUL:
		return (int64_t)((uint64_t)a * (uint64_t)b);
	case REDUCE_MAX:
		return less ? b : a;
	case REDUCE_MIN:
		return less ? a : b;
	default:
		return b;
	}
}

static void combine(
    enum reduction r, struct tensor *y, int64_t at, const struct tensor *updates, int64_t from, int64_t n)
{
	size_t elem = dtype_size(y->type);
	if (r == REDUCE_NONE) {
		memcpy((char *)y->data + (size_t)at * elem, (const char *)updates->data + (size_t)from * elem,
		    (size_t)n * elem);
		return;
	}
	if (y->type == DT_F32) {
		combine_floats(r, (float *)y->data + at, (const float *)updates->data + from, n);
		return;
	}
	for (int64_t i = 0; i < n; i++) {
		int64_t v = combine_int(
		    r, element_int(y, at + i), element_int(updates, from + i), elements_unsigned(y->type));
		elements_store(y->data, y->type, at + i, &v, 1);
	}
}

enum status scatter_elements_shape(
    const struct node *n, const struct tensor *const *in, struct tensor *out, struct error *err)
{
	const struct shape *x = &in[0]->shape, *idx = &in[1]->shape;
	enum reduction r;
	int axis = 0;
	enum status s = rule_axis(&axis, ((const struct scatter_attrs *)n->attrs)->axis, x->rank, err);
	if (s == STATUS_OK)
		s = parse_reduction(&r, n, in[0]->type, err);
	if (s != STATUS_OK)
		return s;
	if (!shape_equal(idx, &in[2]->shape) || idx->rank != x->rank)
		return error_set(
		    err, STATUS_FORMAT, "indices and updates must have one shape, of the rank of the data");
	for (int i = 0; i < x->rank; i++)
		if (i != axis && idx->dim[i] > x->dim[i])
			return error_set(err, STATUS_FORMAT, "indices have %lld elements along axis %d, data has %lld",
			    (long long)idx->dim[i], i, (long long)x->dim[i]);
	rule_set(&out[0], in[0]->type, x);
	return gather_check(in[1], x->dim[axis], err);
}

static void copy_data(struct tensor *y, const struct tensor *x)
{
	if (tensor_bytes(y))
		memcpy(y->data, x->data, tensor_bytes(y));
}

enum status scatter_elements_eval(
    const struct node *n, const struct tensor *const *in, struct tensor *out, int width, struct error *err)
{
	const struct shape *x = &in[0]->shape;
	enum reduction r;
	int axis = 0;
	int64_t count = tensor_count(in[1]);
	enum status s = rule_axis(&axis, ((const struct scatter_attrs *)n->attrs)->axis, x->rank, err);
	(void)width;
	if (s == STATUS_OK)
		s = parse_reduction(&r, n, in[0]->type, err);
	if (s != STATUS_OK)
		return s;
	copy_data(&out[0], in[0]);
	float *y = out[0].type == DT_F32 ? out[0].data : NULL;
	for (int64_t row = 0, run = in[1]->shape.dim[x->rank - 1]; row < count; row += run) {
		struct gather_row places = gather_row(in[1], row, x, axis);
		for (int64_t i = 0, at; i < run; i++) {
			s = gather_row_place(&at, &places, i, err);
			if (s != STATUS_OK)
				return s;
			if (y)
				y[at] = combine_float(r, y[at], ((const float *)in[2]->data)[row + i]);
			else
				combine(r, &out[0], at, in[2], row + i, 1);
		}
	}
	return STATUS_OK;
}

enum status scatter_nd_shape(
    const struct node *n, const struct tensor *const *in, struct tensor *out, struct error *err)
{
	const struct shape *x = &in[0]->shape, *idx = &in[1]->shape;
	struct shape expected = {0};
	enum reduction r;
	bool fits = true;
	enum status s = parse_reduction(&r, n, in[0]->type, err);
	if (s != STATUS_OK)
		return s;
	if (x->rank < 1 || idx->rank < 1 || idx->dim[idx->rank - 1] < 1 || idx->dim[idx->rank - 1] > x->rank)
		return error_set(
		    err, STATUS_FORMAT, "the last dimension of the indices does not fit data of rank %d", x->rank);
	for (int i = 0; i < idx->rank - 1; i++)
		fits &= rule_push(&expected, idx->dim[i]);
	for (int i = (int)idx->dim[idx->rank - 1]; i < x->rank; i++)
		fits &= rule_push(&expected, x->dim[i]);
	if (!fits || !shape_equal(&expected, &in[2]->shape)) {
		char text[128];
		return error_set(
		    err, STATUS_FORMAT, "updates must have the shape %s", shape_text(&expected, text, sizeof text));
	}
	rule_set(&out[0], in[0]->type, x);
	return gather_nd_check(in[1], x->dim, err);
}

enum status scatter_nd_eval(
    const struct node *n, const struct tensor *const *in, struct tensor *out, int width, struct error *err)
{
	const struct shape *x = &in[0]->shape, *idx = &in[1]->shape;
	int depth = (int)idx->dim[idx->rank - 1];
	int64_t tuples = tensor_count(in[1]) / depth, run = rule_product(x, depth, x->rank);
	enum reduction r;
	enum status s = parse_reduction(&r, n, in[0]->type, err);
	(void)width;
	if (s != STATUS_OK)
		return s;
	copy_data(&out[0], in[0]);
	for (int64_t t = 0; t < tuples; t++) {
		int64_t at;
		s = gather_nd_offset(&at, in[1], t, x->dim, depth, err);
		if (s != STATUS_OK)
			return s;
		if (run)
			combine(r, &out[0], at * run, in[2], t * run, run);
	}
	return STATUS_OK;
}
