// GatherBlockQuantized: Gather from codes, each block of which has along one axis a scale
// and a zero point of its own, as floats.
#include "../element.h"
#include "../movement/gather.h"
#include "../product/packed.h"
#include "../rule.h"

enum { DATA, INDICES, SCALES, ZEROS };

struct blocks {
	struct shape x;                    // of the codes, those that share a byte counted one by one
	int axis, along;                   // what indices choose from; what is cut into blocks
	int64_t bits, block, count, inner; // count: blocks of a row; inner: rows side by side
	bool packed;                       // several codes a byte, along the last axis; then so are the zero points of a row
	int zero;                          // where no zero point is given
};

static enum status resolve(struct blocks *b, const struct node *n, const struct tensor *const *in, struct error *err)
{
	const struct gatherblock_attrs *a = n->attrs;
	const struct tensor *zeros = rule_input(n, in, ZEROS);
	const bool bytes = in[DATA]->type == DT_U8;
	*b = (struct blocks){.x = in[DATA]->shape, .bits = bytes ? a->bits : 4, .block = a->block};
	if (!bytes && in[DATA]->type != DT_I4 && in[DATA]->type != DT_U4)
		return error_set(err, STATUS_UNSUPPORTED, "input 0 is %s, but must be uint8, int4 or uint4", dtype_name(in[DATA]->type));
	if ((b->bits != 2 && b->bits != 4 && b->bits != 8) || !rule_within(b->block, 1, RULE_MAX_DIM))
		return error_set(
		    err, STATUS_UNSUPPORTED, "bits %lld and block_size %lld are not supported", (long long)b->bits, (long long)b->block);
	enum status s = rule_axis(&b->axis, a->gather_axis, b->x.rank, err);
	if (s == STATUS_OK)
		s = rule_axis(&b->along, a->quantize_axis, b->x.rank, err);
	if (s != STATUS_OK)
		return s;
	if (bytes && b->along != b->x.rank - 1)
		return error_set(err, STATUS_UNSUPPORTED, "quantize_axis of bytes must be the last one");
	b->packed = bytes && b->bits < 8;
	b->zero = bytes ? 1 << (b->bits - 1) : 0;
	b->x.dim[b->x.rank - 1] *= b->packed ? 8 / b->bits : 1;
	b->count = (b->x.dim[b->along] + b->block - 1) / b->block;
	b->inner = rule_product(&b->x, b->along + 1, b->x.rank);
	struct shape scales = b->x;
	scales.dim[b->along] = b->count;
	if (!shape_equal(&in[SCALES]->shape, &scales))
		return error_set(err, STATUS_FORMAT, "the scales do not fit blocks of %lld", (long long)b->block);
	scales.dim[b->along] = b->packed ? (b->count * b->bits + 7) / 8 : b->count;
	if (zeros && !shape_equal(&zeros->shape, &scales))
		return error_set(err, STATUS_FORMAT, "the zero points do not fit blocks of %lld", (long long)b->block);
	return STATUS_OK;
}

enum status gatherblock_shape(const struct node *n, const struct tensor *const *in, struct tensor *out, struct error *err)
{
	const struct shape *picks = &in[INDICES]->shape;
	struct shape y = {0};
	struct blocks b;
	bool fits = true;
	enum status s = resolve(&b, n, in, err);
	if (s != STATUS_OK)
		return s;
	for (int i = 0; i < b.x.rank + picks->rank; i++)
		if (i < b.axis)
			fits &= rule_push(&y, b.x.dim[i]);
		else if (i < b.axis + picks->rank)
			fits &= rule_push(&y, picks->dim[i - b.axis]);
		else if (i > b.axis + picks->rank)
			fits &= rule_push(&y, b.x.dim[i - picks->rank]);
	if (!fits)
		return error_set(err, STATUS_UNSUPPORTED, "the output would have more than %d dimensions", SHAPE_MAX_RANK);
	rule_set(&out[0], DT_F32, &y);
	return gather_check(in[INDICES], b.x.dim[b.axis], err);
}

static float value_at(const struct blocks *b, const struct tensor *const *in, const struct tensor *zeros, int64_t at)
{
	const int64_t length = b->x.dim[b->along], row = at / b->inner / length, block = at / b->inner % length / b->block;
	const int64_t scale = (row * b->count + block) * b->inner + at % b->inner, row_bytes = (b->count * b->bits + 7) / 8;
	int64_t code = b->packed ? packed_code(in[DATA]->data, at, b->bits) : element_int(in[DATA], at), zero = b->zero;
	if (zeros)
		zero = b->packed ? packed_code((const uint8_t *)zeros->data + row * row_bytes, block, b->bits) : element_int(zeros, scale);
	return (float)(code - zero) * ((const float *)in[SCALES]->data)[scale];
}

enum status gatherblock_eval(const struct node *n, const struct tensor *const *in, struct tensor *out, int width, struct error *err)
{
	const struct tensor *zeros = rule_input(n, in, ZEROS);
	struct blocks b;
	enum status s = resolve(&b, n, in, err);
	(void)width;
	if (s != STATUS_OK)
		return s;
	const int64_t run = rule_product(&b.x, b.axis + 1, b.x.rank), dim = b.x.dim[b.axis], picks = tensor_count(in[INDICES]);
	float *y = out[0].data;
	for (int64_t i = 0; s == STATUS_OK && run && i < tensor_count(&out[0]) / run; i++, y += run) {
		int64_t at = 0;
		s = gather_index(&at, in[INDICES], i % picks, dim, err);
		for (int64_t k = 0; s == STATUS_OK && k < run; k++)
			y[k] = value_at(&b, in, zeros, (i / picks * dim + at) * run + k);
	}
	return s;
}
