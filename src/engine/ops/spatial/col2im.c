// Col2Im: blocks of an image put back where they were cut out; where they overlap their elements add up.
#include <string.h>
#include "../rule.h"

enum { DIMS = SHAPE_MAX_RANK - 2 };

struct blocks {
	int dims;
	int64_t image[DIMS], block[DIMS], stride[DIMS], dilation[DIMS], before[DIMS], count[DIMS];
	int64_t channels, blocks, elements; // blocks: in all; elements: of a block in one channel
};

// A list of one number a dimension, of at least `low`.
static enum status read_list(int64_t *out, const struct ints *list, int n, int64_t dflt, int64_t low, const char *what, struct error *err)
{
	if (list->n >= 0 && list->n != n)
		return error_set(err, STATUS_FORMAT, "%s must have %d numbers", what, n);
	for (int i = 0; i < n; i++) {
		out[i] = list->n < 0 ? dflt : list->at[i];
		if (!rule_within(out[i], low, RULE_MAX_DIM))
			return error_set(err, STATUS_FORMAT, "%s has %lld", what, (long long)out[i]);
	}
	return STATUS_OK;
}

static enum status read_sizes(struct blocks *b, const struct node *n, const struct tensor *const *in, struct error *err)
{
	const struct col2im_attrs *a = n->attrs;
	int64_t pads[2 * DIMS];
	int other = 0;
	enum status s = rule_ints(b->image, &b->dims, DIMS, in[1], "image_shape", err);
	if (s == STATUS_OK)
		s = rule_ints(b->block, &other, DIMS, in[2], "block_shape", err);
	if (s == STATUS_OK && (other != b->dims || b->dims < 1))
		s = error_set(err, STATUS_FORMAT, "image_shape and block_shape must be of one length");
	if (s == STATUS_OK)
		s = read_list(b->stride, &a->strides, b->dims, 1, 1, "strides", err);
	if (s == STATUS_OK)
		s = read_list(b->dilation, &a->dilations, b->dims, 1, 1, "dilations", err);
	if (s == STATUS_OK)
		s = read_list(pads, &a->pads, 2 * b->dims, 0, 0, "pads", err);
	for (int i = 0; s == STATUS_OK && i < b->dims; i++) {
		bool known = rule_within(b->image[i], 1, RULE_MAX_DIM) && rule_within(b->block[i], 1, RULE_MAX_DIM);
		int64_t room = known ? b->image[i] + pads[i] + pads[b->dims + i] : 0;
		int64_t extent = known ? b->dilation[i] * (b->block[i] - 1) + 1 : 1;
		if (room < extent)
			return error_set(err, STATUS_FORMAT, "blocks of %lld do not fit an image of %lld", (long long)b->block[i],
			    (long long)b->image[i]);
		b->before[i] = pads[i];
		b->count[i] = (room - extent) / b->stride[i] + 1;
	}
	return s;
}

// Their product, or 0 when it is over RULE_MAX_DIM.
static int64_t product(const int64_t *v, int n)
{
	int64_t p = 1;
	for (int i = 0; i < n; i++)
		p = p > 0 && v[i] <= RULE_MAX_DIM / p ? p * v[i] : 0;
	return p;
}

static enum status resolve(struct blocks *b, const struct node *n, const struct tensor *const *in, struct error *err)
{
	enum status s = read_sizes(b, n, in, err);
	if (s != STATUS_OK)
		return s;
	b->blocks = product(b->count, b->dims);
	b->elements = product(b->block, b->dims);
	if (in[0]->shape.rank != 3 || b->blocks < 1 || b->elements < 1 || in[0]->shape.dim[2] != b->blocks || in[0]->shape.dim[1] % b->elements)
		return error_set(err, STATUS_FORMAT, "the input must be [batch, a multiple of %lld, %lld]", (long long)b->elements,
		    (long long)b->blocks);
	b->channels = in[0]->shape.dim[1] / b->elements;
	return STATUS_OK;
}

enum status col2im_shape(const struct node *n, const struct tensor *const *in, struct tensor *out, struct error *err)
{
	struct blocks b;
	enum status s = resolve(&b, n, in, err);
	if (s != STATUS_OK)
		return s;
	struct shape y = {2, {in[0]->shape.dim[0], b.channels}};
	for (int i = 0; i < b.dims; i++)
		rule_push(&y, b.image[i]);
	rule_set(&out[0], in[0]->type, &y);
	return STATUS_OK;
}

// Where element `e` of block `k` lies in the image, -1 for the padding.
static int64_t place(const struct blocks *b, int64_t e, int64_t k)
{
	int64_t at = 0, step = 1;
	for (int i = b->dims - 1; i >= 0; i--) {
		int64_t p = k % b->count[i] * b->stride[i] + e % b->block[i] * b->dilation[i] - b->before[i];
		if (p < 0 || p >= b->image[i])
			return -1;
		at += p * step;
		step *= b->image[i];
		k /= b->count[i];
		e /= b->block[i];
	}
	return at;
}

enum status col2im_eval(const struct node *n, const struct tensor *const *in, struct tensor *out, int width, struct error *err)
{
	struct blocks b;
	enum status s = resolve(&b, n, in, err);
	int64_t planes = in[0]->shape.dim[0] * b.channels, image = s == STATUS_OK ? product(b.image, b.dims) : 0;
	(void)width;
	if (s != STATUS_OK)
		return s;
	memset(out[0].data, 0, tensor_bytes(&out[0]));
	for (int64_t e = 0; e < b.elements; e++)
		for (int64_t k = 0; k < b.blocks; k++) {
			int64_t at = place(&b, e, k);
			for (int64_t p = 0; p < planes && at >= 0; p++)
				((float *)out[0].data)[p * image + at] += ((const float *)in[0]->data)[(p * b.elements + e) * b.blocks + k];
		}
	return STATUS_OK;
}
