// CenterCropPad: the middle of a tensor, or the tensor in the middle of zeros.
#include <string.h>
#include "../rule.h"
#include "../strided.h"

enum status centercrop_shape(const struct node *n, const struct tensor *const *in, struct tensor *out, struct error *err)
{
	struct shape y = in[0]->shape;
	int64_t size[SHAPE_MAX_RANK], axes[SHAPE_MAX_RANK];
	bool seen[SHAPE_MAX_RANK];
	int n_sizes = 0, n_axes, axis;
	enum status s = rule_axes_list(axes, &n_axes, NULL, &((const struct reshape_attrs *)n->attrs)->axes, err);
	for (int i = 0; n_axes < 0 && i < y.rank; i++)
		axes[i] = i;
	n_axes = n_axes < 0 ? y.rank : n_axes;
	if (s == STATUS_OK)
		s = rule_axes(seen, axes, n_axes, y.rank, err);
	if (s == STATUS_OK)
		s = rule_ints(size, &n_sizes, SHAPE_MAX_RANK, in[1], "shape", err);
	if (s == STATUS_OK && n_sizes != n_axes)
		s = error_set(err, STATUS_FORMAT, "shape has %d sizes for %d axes", n_sizes, n_axes);
	for (int i = 0; s == STATUS_OK && i < n_sizes; i++) {
		s = rule_axis(&axis, axes[i], y.rank, err);
		if (s == STATUS_OK)
			y.dim[axis] = size[i];
	}
	if (s == STATUS_OK)
		rule_set(&out[0], in[0]->type, &y);
	return s;
}

enum status centercrop_eval(const struct node *n, const struct tensor *const *in, struct tensor *out, int width, struct error *err)
{
	const struct shape *x = &in[0]->shape, *y = &out[0].shape;
	struct strided common = {.rank = x->rank, .arrays = 2};
	(void)n;
	(void)width;
	(void)err;
	rule_strides(common.stride[0], y);
	rule_strides(common.stride[1], x);
	for (int i = 0; i < x->rank; i++) {
		int64_t left = y->dim[i] - x->dim[i];
		common.dim[i] = left > 0 ? x->dim[i] : y->dim[i];
		common.start[0] += left > 0 ? left / 2 * common.stride[0][i] : 0;
		common.start[1] += left < 0 ? -left / 2 * common.stride[1][i] : 0;
	}
	if (tensor_bytes(&out[0]))
		memset(out[0].data, 0, tensor_bytes(&out[0]));
	if (tensor_count(&out[0]) && tensor_count(in[0]))
		strided_copy(&common, out[0].data, in[0]->data, dtype_size(out[0].type));
	return STATUS_OK;
}
