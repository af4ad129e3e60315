// DepthToSpace and SpaceToDepth: a transpose over the dimensions [N, .., H, W] with blocks split off.
#include <string.h>
#include "../rule.h"
#include "../strided.h"

enum status depth_shape(const struct node *n, const struct tensor *const *in, struct tensor *out, struct error *err)
{
	const struct depth_attrs *a = n->attrs;
	struct shape y = in[0]->shape;
	int64_t b = a->blocksize;
	if (y.rank != 4)
		return error_set(err, STATUS_FORMAT, "the input has rank %d, needs 4", y.rank);
	if (b < 1 || b > 1 << 15)
		return error_set(err, STATUS_FORMAT, "blocksize is %lld", (long long)b);
	if (n->op->id == OP_DepthToSpace && y.dim[1] % (b * b))
		return error_set(
		    err, STATUS_FORMAT, "%lld channels are not a multiple of blocksize squared", (long long)y.dim[1]);
	if (n->op->id == OP_SpaceToDepth && (y.dim[2] % b || y.dim[3] % b))
		return error_set(
		    err, STATUS_FORMAT, "height and width are not multiples of blocksize %lld", (long long)b);
	if (n->op->id == OP_DepthToSpace)
		y = (struct shape){4, {y.dim[0], y.dim[1] / (b * b), y.dim[2] * b, y.dim[3] * b}};
	else
		y = (struct shape){4, {y.dim[0], y.dim[1] * b * b, y.dim[2] / b, y.dim[3] / b}};
	rule_set(&out[0], in[0]->type, &y);
	return STATUS_OK;
}

// Strides of the wide picture [n][c][h][bh][w][bw] and of the deep one, whose channels hold the block in the mode's
// order.
enum status depth_eval(
    const struct node *n, const struct tensor *const *in, struct tensor *out, int width, struct error *err)
{
	const struct depth_attrs *a = n->attrs;
	bool to_space = n->op->id == OP_DepthToSpace, crd = to_space && !strcmp(a->mode, "CRD");
	const struct shape *wide = to_space ? &out[0].shape : &in[0]->shape;
	int64_t b = a->blocksize, c = wide->dim[1], h = wide->dim[2] / b, w = wide->dim[3] / b, hw = h * w;
	int64_t c_step = crd ? b * b * hw : hw, block_step = crd ? hw : c * hw;
	int64_t wide_stride[6] = {c * h * w * b * b, h * w * b * b, w * b * b, w * b, b, 1};
	int64_t deep_stride[6] = {c * hw * b * b, c_step, w, block_step * b, 1, block_step};
	struct strided s = {.rank = 6, .arrays = 2, .dim = {wide->dim[0], c, h, b, w, b}};
	(void)width;
	(void)err;
	memcpy(s.stride[!to_space], wide_stride, sizeof wide_stride);
	memcpy(s.stride[to_space], deep_stride, sizeof deep_stride);
	strided_copy(&s, out[0].data, in[0]->data, dtype_size(in[0]->type));
	return STATUS_OK;
}
