// AffineGrid: where GridSample reads for an image that a matrix moves.
#include "../rule.h"

enum status affinegrid_shape(const struct node *n, const struct tensor *const *in, struct tensor *out, struct error *err)
{
	const struct shape *theta = &in[0]->shape;
	int64_t size[5];
	int count = 0;
	enum status s = rule_ints(size, &count, 5, in[1], "size", err);
	int dims = count - 2;
	(void)n;
	if (s != STATUS_OK)
		return s;
	if (dims < 2 || theta->rank != 3 || theta->dim[0] != size[0] || theta->dim[1] != dims || theta->dim[2] != dims + 1)
		return error_set(err, STATUS_FORMAT, "theta must be [batch, 2, 3] for a size of 4 numbers, [batch, 3, 4] for 5");
	struct shape y = {1, {size[0]}};
	for (int i = 2; i < count; i++)
		rule_push(&y, size[i]);
	rule_push(&y, dims);
	rule_set(&out[0], DT_F32, &y);
	return STATUS_OK;
}

// From -1 to 1: the centres of the first and the last element when aligned, else their outer edges.
// One element alone lies at 0, as in PyTorch.
static double coordinate(int64_t i, int64_t n, bool align)
{
	if (align)
		return n > 1 ? 2 * (double)i / (double)(n - 1) - 1 : 0;
	return (2 * (double)i + 1) / (double)n - 1;
}

enum status affinegrid_eval(const struct node *n, const struct tensor *const *in, struct tensor *out, int width, struct error *err)
{
	bool align = ((const struct gridsample_attrs *)n->attrs)->align_corners != 0;
	const struct shape *y = &out[0].shape;
	int dims = y->rank - 2;
	int64_t points = rule_product(y, 1, dims + 1);
	float *to = out[0].data;
	(void)width;
	(void)err;
	for (int64_t i = 0; i < y->dim[0] * points; i++) {
		const float *m = (const float *)in[0]->data + i / points * dims * (dims + 1);
		double at[3]; // the last dimension of the image first
		for (int64_t d = 0, rest = i % points; d < dims; d++) {
			at[d] = coordinate(rest % y->dim[dims - d], y->dim[dims - d], align);
			rest /= y->dim[dims - d];
		}
		for (int r = 0; r < dims; r++, m += dims + 1) {
			double sum = (double)m[dims];
			for (int d = 0; d < dims; d++)
				sum += (double)m[d] * at[d];
			*to++ = (float)sum;
		}
	}
	return STATUS_OK;
}
