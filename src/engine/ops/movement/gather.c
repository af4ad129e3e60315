// Gather, ArrayFeatureExtractor, GatherElements, GatherND: elements picked by index. Negative indices count from the end; one out of range is
// an error.
#include <string.h>
#include "gather.h"
#include "../rule.h"

// NULL: more dimensions than there may be.
static enum status set_shape(struct tensor *out, const struct tensor *in, const struct shape *y, struct error *err)
{
	if (!y)
		return error_set(err, STATUS_UNSUPPORTED, "the output would have more than %d dimensions", SHAPE_MAX_RANK);
	rule_set(out, in->type, y);
	return STATUS_OK;
}

// Whether all lie in -dim..dim-1, without a way out of the loop: at every run it reads what the evaluation reads again.
static bool all_within(const struct tensor *indices, int64_t count, int64_t dim)
{
	const int32_t *narrow = indices->data;
	const int64_t *wide = indices->data;
	const uint64_t half = (uint64_t)dim, all = 2 * half;
	uint64_t out = 0;
	if (indices->type == DT_I32)
		_Pragma("omp simd reduction(|:out)") for (int64_t i = 0; i < count; i++)
			out |= (uint64_t)narrow[i] + half >= all;
	else
		_Pragma("omp simd reduction(|:out)") for (int64_t i = 0; i < count; i++)
			out |= (uint64_t)wide[i] + half >= all;
	return !out;
}

enum status gather_check(const struct tensor *indices, int64_t dim, struct error *err)
{
	enum status s = STATUS_OK;
	int64_t count = indices->data ? tensor_count(indices) : 0, at;
	if (count == 0 || all_within(indices, count, dim))
		return s;
	for (int64_t i = 0; i < count && s == STATUS_OK; i++)
		s = gather_index(&at, indices, i, dim, err);
	return s;
}

enum status gather_nd_check(const struct tensor *indices, const int64_t *dim, struct error *err)
{
	int64_t depth = indices->shape.dim[indices->shape.rank - 1], at;
	enum status s = STATUS_OK;
	for (int64_t t = 0; indices->data && t < tensor_count(indices) / depth && s == STATUS_OK; t++)
		s = gather_nd_offset(&at, indices, t, dim, (int)depth, err);
	return s;
}

enum status gather_shape(const struct node *n, const struct tensor *const *in, struct tensor *out, struct error *err)
{
	const struct shape *x = &in[0]->shape, *idx = &in[1]->shape;
	struct shape y = {0};
	int axis = 0;
	bool fits = true;
	enum status s = rule_axis(&axis, ((const struct axis_attrs *)n->attrs)->axis, x->rank, err);
	if (s != STATUS_OK)
		return s;
	for (int i = 0; i < axis; i++)
		fits &= rule_push(&y, x->dim[i]);
	for (int i = 0; i < idx->rank; i++)
		fits &= rule_push(&y, idx->dim[i]);
	for (int i = axis + 1; i < x->rank; i++)
		fits &= rule_push(&y, x->dim[i]);
	s = gather_check(in[1], x->dim[axis], err);
	return s ? s : set_shape(&out[0], in[0], fits ? &y : NULL, err);
}

// Column p of the result: of `outer` rows, `picks` apart, what the input has in rows
// `dim` apart. Elements are no calls.
static void pick(char *to, const char *from, int64_t outer, int64_t picks, int64_t dim, size_t run)
{
#define PICK(bytes)                                                                                                    \
	case bytes:                                                                                                    \
		for (int64_t o = 0; o < outer; o++)                                                                    \
			memcpy(to + (size_t)(o * picks) * (bytes), from + (size_t)(o * dim) * (bytes), bytes);         \
		break;
	switch (run) {
		PICK(1)
		PICK(2)
		PICK(4)
		PICK(8)
	case 0:
		break;
	default:
		for (int64_t o = 0; o < outer; o++)
			memcpy(to + (size_t)(o * picks) * run, from + (size_t)(o * dim) * run, run);
	}
#undef PICK
}

static enum status gather_along(int axis, const struct tensor *const *in, struct tensor *out, struct error *err)
{
	const struct shape *x = &in[0]->shape;
	enum status s = STATUS_OK;
	int64_t outer = rule_product(x, 0, axis), picks = tensor_count(in[1]), dim = x->dim[axis];
	size_t run = (size_t)rule_product(x, axis + 1, x->rank) * dtype_size(in[0]->type);
	for (int64_t p = 0; s == STATUS_OK && p < picks; p++) {
		int64_t at = 0;
		s = gather_index(&at, in[1], p, dim, err);
		if (s == STATUS_OK)
			pick((char *)out[0].data + (size_t)p * run, (const char *)in[0]->data + (size_t)at * run, outer, picks, dim, run);
	}
	return s;
}

enum status gather_eval(
    const struct node *n, const struct tensor *const *in, struct tensor *out, int width, struct error *err)
{
	int axis = 0;
	enum status s = rule_axis(&axis, ((const struct axis_attrs *)n->attrs)->axis, in[0]->shape.rank, err);
	(void)width;
	return s ? s : gather_along(axis, in, out, err);
}

// Of the last dimension, whatever shape the indices have. A vector is a row.
enum status arrayfeature_shape(const struct node *n, const struct tensor *const *in, struct tensor *out, struct error *err)
{
	struct shape y = in[0]->shape;
	enum status s = rule_rank_at_least(in[0], 0, 1, err);
	(void)n;
	if (s == STATUS_OK)
		s = gather_check(in[1], y.dim[y.rank - 1], err);
	if (s != STATUS_OK)
		return s;
	if (y.rank == 1)
		y = (struct shape){.rank = 2, .dim = {1}};
	y.dim[y.rank - 1] = tensor_count(in[1]);
	return set_shape(&out[0], in[0], &y, err);
}

enum status arrayfeature_eval(
    const struct node *n, const struct tensor *const *in, struct tensor *out, int width, struct error *err)
{
	(void)n;
	(void)width;
	return gather_along(in[0]->shape.rank - 1, in, out, err);
}

enum status gather_elements_shape(
    const struct node *n, const struct tensor *const *in, struct tensor *out, struct error *err)
{
	const struct shape *x = &in[0]->shape, *idx = &in[1]->shape;
	int axis = 0;
	enum status s = rule_axis(&axis, ((const struct axis_attrs *)n->attrs)->axis, x->rank, err);
	if (s != STATUS_OK)
		return s;
	if (idx->rank != x->rank)
		return error_set(err, STATUS_FORMAT, "data has rank %d, indices have rank %d", x->rank, idx->rank);
	for (int i = 0; i < x->rank; i++)
		if (i != axis && idx->dim[i] > x->dim[i])
			return error_set(err, STATUS_FORMAT, "indices have %lld elements along axis %d, data has %lld",
			    (long long)idx->dim[i], i, (long long)x->dim[i]);
	rule_set(&out[0], in[0]->type, idx);
	return gather_check(in[1], x->dim[axis], err);
}

struct gather_row gather_row(const struct tensor *indices, int64_t first, const struct shape *x, int axis)
{
	struct gather_row r = {
	    .indices = indices, .first = first, .step = axis < x->rank - 1, .stride = rule_product(x, axis + 1, x->rank), .dim = x->dim[axis]};
	int64_t flat = first, stride = 1;
	for (int i = x->rank - 1; i >= 0; i--) {
		r.base += i == axis ? 0 : flat % indices->shape.dim[i] * stride;
		flat /= indices->shape.dim[i];
		stride *= x->dim[i];
	}
	return r;
}

// A row of n elements whose indices are known to be in range. Elements are no calls.
static void pick_row(char *to, const char *from, const struct gather_row *r, int64_t n, size_t elem)
{
	const int32_t *narrow = (const int32_t *)r->indices->data + r->first;
	const int64_t *wide = (const int64_t *)r->indices->data + r->first;
	const int64_t dim = r->dim, stride = r->stride, step = r->step;
	bool is_narrow = r->indices->type == DT_I32;
	from += r->base * (int64_t)elem;
#define PICK(bytes)                                                                                                    \
	case bytes:                                                                                                    \
		for (int64_t i = 0; i < n; i++) {                                                                      \
			int64_t at = is_narrow ? narrow[i] : wide[i];                                                  \
			at = (at < 0 ? at + dim : at) * stride + i * step;                                             \
			memcpy(to + i * (bytes), from + at * (bytes), bytes);                                          \
		}                                                                                                      \
		break;
	switch (elem) {
		PICK(1)
		PICK(2)
		PICK(4)
		PICK(8)
	default:
		break;
	}
#undef PICK
}

enum status gather_elements_eval(
    const struct node *n, const struct tensor *const *in, struct tensor *out, int width, struct error *err)
{
	const struct shape *x = &in[0]->shape;
	int axis = 0;
	enum status s = rule_axis(&axis, ((const struct axis_attrs *)n->attrs)->axis, x->rank, err);
	int64_t count = tensor_count(in[1]);
	size_t elem = dtype_size(in[0]->type);
	(void)width;
	if (s == STATUS_OK)
		s = gather_check(in[1], x->dim[axis], err);
	for (int64_t row = 0, run = in[1]->shape.dim[x->rank - 1]; s == STATUS_OK && row < count; row += run) {
		struct gather_row r = gather_row(in[1], row, x, axis);
		pick_row((char *)out[0].data + (size_t)row * elem, in[0]->data, &r, run, elem);
	}
	return s;
}

enum status gather_nd_offset(
    int64_t *out, const struct tensor *indices, int64_t tuple, const int64_t *dim, int depth, struct error *err)
{
	enum status s = STATUS_OK;
	*out = 0;
	for (int k = 0; s == STATUS_OK && k < depth; k++) {
		int64_t at = 0;
		s = gather_index(&at, indices, tuple * depth + k, dim[k], err);
		*out = *out * dim[k] + at;
	}
	return s;
}

enum status gather_nd_shape(const struct node *n, const struct tensor *const *in, struct tensor *out, struct error *err)
{
	const struct shape *x = &in[0]->shape, *idx = &in[1]->shape;
	int64_t batch = ((const struct gathernd_attrs *)n->attrs)->batch_dims;
	struct shape y = {0};
	bool fits = true;
	if (batch < 0 || batch >= idx->rank || batch > x->rank)
		return error_set(err, STATUS_FORMAT, "batch_dims is %lld", (long long)batch);
	int64_t depth = idx->dim[idx->rank - 1];
	if (depth < 1 || depth > x->rank - batch)
		return error_set(err, STATUS_FORMAT, "indices of %lld entries do not fit data of rank %d",
		    (long long)depth, x->rank);
	for (int i = 0; i < batch; i++)
		if (x->dim[i] != idx->dim[i])
			return error_set(err, STATUS_FORMAT, "batch dimension %d differs between data and indices", i);
	for (int i = 0; i < idx->rank - 1; i++)
		fits &= rule_push(&y, idx->dim[i]);
	for (int i = (int)(batch + depth); i < x->rank; i++)
		fits &= rule_push(&y, x->dim[i]);
	enum status s = gather_nd_check(in[1], &x->dim[batch], err);
	return s ? s : set_shape(&out[0], in[0], fits ? &y : NULL, err);
}

enum status gather_nd_eval(
    const struct node *n, const struct tensor *const *in, struct tensor *out, int width, struct error *err)
{
	const struct shape *x = &in[0]->shape, *idx = &in[1]->shape;
	int batch = (int)((const struct gathernd_attrs *)n->attrs)->batch_dims, depth = (int)idx->dim[idx->rank - 1];
	int64_t tuples = tensor_count(in[1]) / depth, batches = rule_product(x, 0, batch),
	        each = batches ? tuples / batches : 0;
	int64_t block = rule_product(x, batch, batch + depth);
	size_t run = (size_t)rule_product(x, batch + depth, x->rank) * dtype_size(in[0]->type);
	enum status s = STATUS_OK;
	(void)width;
	for (int64_t t = 0; s == STATUS_OK && t < tuples; t++) {
		int64_t at;
		s = gather_nd_offset(&at, in[1], t, &x->dim[batch], depth, err);
		if (s == STATUS_OK && run)
			memcpy((char *)out[0].data + (size_t)t * run,
			    (const char *)in[0]->data + (size_t)(t / each * block + at) * run, run);
	}
	return s;
}
