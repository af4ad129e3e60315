// TensorScatter: new rows into a cache, each entry of the batch at an index of its own.
#include <string.h>
#include "../rule.h"

enum { CACHE, ROWS, INDICES };

static enum status check_mode(const char *mode, struct error *err)
{
	if (!strcmp(mode, "linear") || !strcmp(mode, "circular"))
		return STATUS_OK;
	return error_set(err, STATUS_UNSUPPORTED, "mode `%s` is not supported", mode);
}

static enum status check_place(const struct tensorscatter_attrs *a, int64_t entry, int64_t at, int64_t rows, int64_t length, struct error *err)
{
	if (at < 0 || at >= length || (at > length - rows && !strcmp(a->mode, "linear")))
		return error_set(err, STATUS_FORMAT, "write_indices[%lld] is %lld: %lld rows of %lld do not fit there", (long long)entry,
		    (long long)at, (long long)rows, (long long)length);
	return STATUS_OK;
}

enum status tensorscatter_shape(const struct node *n, const struct tensor *const *in, struct tensor *out, struct error *err)
{
	const struct tensorscatter_attrs *a = n->attrs;
	struct shape y = in[CACHE]->shape;
	int axis = 0;
	enum status s = check_mode(a->mode, err);
	if (s == STATUS_OK)
		s = rule_axis(&axis, a->axis, y.rank, err);
	if (s == STATUS_OK && (axis == 0 || in[ROWS]->shape.rank != y.rank || in[ROWS]->shape.dim[axis] > y.dim[axis]))
		s = error_set(err, STATUS_FORMAT, "the update does not fit the cache along axis %d", axis);
	if (s != STATUS_OK)
		return s;
	y.dim[axis] = in[ROWS]->shape.dim[axis];
	if (!shape_equal(&y, &in[ROWS]->shape))
		return error_set(err, STATUS_FORMAT, "the update must have the cache's shape but for axis %d", axis);
	if (n->n_in > INDICES && in[INDICES] && !shape_equal(&in[INDICES]->shape, &(struct shape){1, {y.dim[0]}}))
		return error_set(err, STATUS_FORMAT, "write_indices must be one for each of the batch");
	const int64_t *first = n->n_in > INDICES && in[INDICES] ? in[INDICES]->data : NULL;
	for (int64_t i = 0; first && shape_count(&y) && i < y.dim[0] && s == STATUS_OK; i++)
		s = check_place(a, i, first[i], y.dim[axis], in[CACHE]->shape.dim[axis], err);
	rule_set(&out[0], in[CACHE]->type, &in[CACHE]->shape);
	return s;
}

enum status tensorscatter_eval(const struct node *n, const struct tensor *const *in, struct tensor *out, int width, struct error *err)
{
	const struct tensorscatter_attrs *a = n->attrs;
	const struct shape *x = &in[CACHE]->shape;
	const int64_t *first = n->n_in > INDICES && in[INDICES] ? in[INDICES]->data : NULL;
	int axis = (int)(a->axis < 0 ? a->axis + x->rank : a->axis);
	int64_t length = x->dim[axis], rows = in[ROWS]->shape.dim[axis], outer = rule_product(x, 1, axis);
	size_t run = (size_t)rule_product(x, axis + 1, x->rank) * dtype_size(in[CACHE]->type);
	(void)width;
	if (!tensor_bytes(&out[0]))
		return STATUS_OK;
	memcpy(out[0].data, in[CACHE]->data, tensor_bytes(&out[0]));
	for (int64_t i = 0; rows && i < x->dim[0] * outer; i++) {
		int64_t at = first ? first[i / outer] : 0;
		enum status s = check_place(a, i / outer, at, rows, length, err);
		if (s != STATUS_OK)
			return s;
		for (int64_t r = 0; r < rows; r++)
			memcpy((char *)out[0].data + (size_t)(i * length + (at + r) % length) * run,
			    (const char *)in[ROWS]->data + (size_t)(i * rows + r) * run, run);
	}
	return STATUS_OK;
}
