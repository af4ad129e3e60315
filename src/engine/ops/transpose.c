// Transpose.
#include "rule.h"
#include "strided.h"

static enum status permutation(int64_t perm[SHAPE_MAX_RANK], const struct node *n, int rank, struct error *err)
{
	const struct ints *given = &((const struct transpose_attrs *)n->attrs)->perm;
	bool seen[SHAPE_MAX_RANK];
	enum status s;

	for (int i = 0; i < rank; i++)
		perm[i] = rank - 1 - i;
	if (given->n < 0 || !given->at)
		return STATUS_OK;
	if (given->n != rank)
		return error_set(err, STATUS_FORMAT, "perm has %d entries, the input has rank %d", given->n, rank);
	s = rule_axes(seen, given->at, rank, rank, err);
	for (int i = 0; s == STATUS_OK && i < rank; i++)
		perm[i] = given->at[i] < 0 ? given->at[i] + rank : given->at[i];
	return s;
}

enum status transpose_shape(const struct node *n, const struct tensor *const *in, struct tensor *out, struct error *err)
{
	int64_t perm[SHAPE_MAX_RANK];
	struct shape y = in[0]->shape;
	enum status s = permutation(perm, n, y.rank, err);

	if (s != STATUS_OK)
		return s;
	for (int i = 0; i < y.rank; i++)
		y.dim[i] = in[0]->shape.dim[perm[i]];
	rule_set(&out[0], in[0]->type, &y);
	return STATUS_OK;
}

enum status transpose_eval(
    const struct node *n, const struct tensor *const *in, struct tensor *out, int width, struct error *err)
{
	int64_t perm[SHAPE_MAX_RANK], stride[SHAPE_MAX_RANK];
	struct strided s = {.rank = out[0].shape.rank, .arrays = 2};
	enum status st = permutation(perm, n, s.rank, err);

	(void)width;
	if (st != STATUS_OK)
		return st;
	rule_strides(s.stride[0], &out[0].shape);
	rule_strides(stride, &in[0]->shape);
	for (int i = 0; i < s.rank; i++) {
		s.dim[i] = out[0].shape.dim[i];
		s.stride[1][i] = stride[perm[i]];
	}
	strided_copy(&s, out[0].data, in[0]->data, dtype_size(in[0]->type));
	return STATUS_OK;
}
