#include "sparse.h"

#include <string.h>

#define DENSE_MAX 4096 // elements for one that is stored: a small file must not ask for gigabytes of zeros

static enum status check_shapes(struct shape *dense, const Onnx__SparseTensorProto *t, const struct tensor *values, const struct tensor *at,
    const char *what, struct error *err)
{
	int64_t n = tensor_count(values), count;
	if (t->n_dims > SHAPE_MAX_RANK)
		return error_set(err, STATUS_UNSUPPORTED, "%s: rank %zu is over %d", what, t->n_dims, SHAPE_MAX_RANK);
	*dense = shape_of((int)t->n_dims, t->dims);
	count = shape_count(dense);
	if (count < 0)
		return error_set(err, STATUS_FORMAT, "%s: its shape is not possible", what);
	if (count / DENSE_MAX > n)
		return error_set(err, STATUS_UNSUPPORTED, "%s: %lld elements, of which %lld are stored, are too many when dense", what,
		    (long long)count, (long long)n);
	if (at->type != DT_I64 || at->shape.rank < 1 || at->shape.rank > 2 || at->shape.dim[0] != n ||
	    (at->shape.rank == 2 && at->shape.dim[1] != dense->rank))
		return error_set(err, STATUS_FORMAT, "%s: its indices do not fit its values", what);
	return STATUS_OK;
}

// Where value i belongs; -1: nowhere.
static int64_t place(const struct shape *dense, const struct tensor *at, int64_t i)
{
	const int64_t *index = (const int64_t *)at->data + i * (at->shape.rank == 2 ? dense->rank : 1);
	int64_t p = 0;
	if (at->shape.rank == 1)
		return *index >= 0 && *index < shape_count(dense) ? *index : -1;
	for (int k = 0; k < dense->rank; k++) {
		if (index[k] < 0 || index[k] >= dense->dim[k])
			return -1;
		p = p * dense->dim[k] + index[k];
	}
	return p;
}

static enum status spread(struct tensor *out, const struct tensor *values, const struct tensor *at, const char *what, struct error *err)
{
	size_t item = dtype_size(out->type);
	enum status s = tensor_alloc(out, NULL, err);
	if (s)
		return error_prefix(err, "%s", what);
	memset(out->data, 0, tensor_bytes(out));
	for (int64_t i = 0; i < tensor_count(values) && !s; i++) {
		int64_t p = place(&out->shape, at, i);
		if (p >= 0)
			memcpy((uint8_t *)out->data + (size_t)p * item, (const uint8_t *)values->data + (size_t)i * item, item);
		else
			s = error_set(err, STATUS_FORMAT, "%s: the index of value %lld is outside its shape", what, (long long)i);
	}
	if (s)
		tensor_drop(out);
	return s;
}

enum status sparse_read(
    struct tensor *out, const Onnx__SparseTensorProto *t, struct externals *externals, const char *what, struct error *err)
{
	struct tensor values = {0}, at = {0};
	enum status s = STATUS_OK;
	*out = (struct tensor){0};
	if (!t->values || !t->indices)
		return error_set(err, STATUS_FORMAT, "%s: its values or their indices are missing", what);
	s = tensor_proto_read(&values, t->values, externals, what, err);
	if (!s)
		s = tensor_proto_read(&at, t->indices, externals, what, err);
	if (!s)
		s = check_shapes(&out->shape, t, &values, &at, what, err);
	if (!s) {
		out->type = values.type;
		s = spread(out, &values, &at, what, err);
	}
	tensor_drop(&values);
	tensor_drop(&at);
	return s;
}
