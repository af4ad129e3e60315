// Expand and Tile: the input repeated.
#include "../element.h"
#include "../rule.h"
#include "../strided.h"

enum status expand_shape(const struct node *n, const struct tensor *const *in, struct tensor *out, struct error *err)
{
	struct shape wanted, y;
	enum status s = rule_ints(wanted.dim, &wanted.rank, SHAPE_MAX_RANK, in[1], "shape", err);
	(void)n;
	for (int i = 0; s == STATUS_OK && i < wanted.rank; i++)
		if (wanted.dim[i] < 0)
			s = error_set(err, STATUS_FORMAT, "shape[%d] is %lld", i, (long long)wanted.dim[i]);
	if (s == STATUS_OK)
		s = rule_broadcast(&y, &in[0]->shape, &wanted, err);
	if (s == STATUS_OK)
		rule_set(&out[0], in[0]->type, &y);
	return s;
}

enum status expand_eval(
    const struct node *n, const struct tensor *const *in, struct tensor *out, int width, struct error *err)
{
	struct strided s;
	(void)n;
	(void)width;
	(void)err;
	strided_broadcast(&s, &out[0].shape, (const struct shape *const[]){&in[0]->shape}, 1);
	strided_copy(&s, out[0].data, in[0]->data, dtype_size(in[0]->type));
	return STATUS_OK;
}

// Opset 1 repeats one axis: tiles times along `axis`, both inputs scalars of any number type.
static enum status tile_one_axis(int64_t *repeats, const struct tensor *const *in, struct error *err)
{
	int axis = 0;
	enum status s;
	if (tensor_count(in[1]) != 1 || tensor_count(in[2]) != 1)
		return error_set(err, STATUS_FORMAT, "tiles and axis must be single numbers");
	if (!in[1]->data || !in[2]->data)
		return rule_pending(err);
	s = rule_axis(&axis, element_int(in[2], 0), in[0]->shape.rank, err);
	for (int i = 0; i < in[0]->shape.rank; i++)
		repeats[i] = 1;
	if (s == STATUS_OK)
		repeats[axis] = element_int(in[1], 0);
	return s;
}

static enum status tile_repeats(
    int64_t *repeats, const struct node *n, const struct tensor *const *in, struct error *err)
{
	int count = 0;
	enum status s;
	if (n->op->since < 6)
		return tile_one_axis(repeats, in, err);
	s = rule_ints(repeats, &count, SHAPE_MAX_RANK, in[1], "repeats", err);
	if (s == STATUS_OK && count != in[0]->shape.rank)
		s = error_set(
		    err, STATUS_FORMAT, "repeats has %d values, the input has rank %d", count, in[0]->shape.rank);
	return s;
}

enum status tile_shape(const struct node *n, const struct tensor *const *in, struct tensor *out, struct error *err)
{
	int64_t repeats[SHAPE_MAX_RANK];
	struct shape y = in[0]->shape;
	enum status s = tile_repeats(repeats, n, in, err);
	for (int i = 0; s == STATUS_OK && i < y.rank; i++) {
		if (repeats[i] < 0 || repeats[i] > RULE_MAX_DIM || (y.dim[i] && repeats[i] > RULE_MAX_DIM / y.dim[i]))
			return error_set(err, STATUS_FORMAT, "repeats[%d] is %lld", i, (long long)repeats[i]);
		y.dim[i] *= repeats[i];
	}
	if (s == STATUS_OK)
		rule_set(&out[0], in[0]->type, &y);
	return s;
}

// One strided copy of the whole input for every combination of repeats.
enum status tile_eval(
    const struct node *n, const struct tensor *const *in, struct tensor *out, int width, struct error *err)
{
	int64_t xs[SHAPE_MAX_RANK], rows, count = tensor_count(&out[0]);
	const struct shape *x = &in[0]->shape, *y = &out[0].shape;
	struct strided s = {.rank = x->rank, .arrays = 2};
	(void)n;
	(void)width;
	(void)err;
	if (count == 0)
		return STATUS_OK;
	rule_strides(xs, x);
	rows = count / tensor_count(in[0]);
	for (int64_t r = 0; r < rows; r++) {
		int64_t rest = r;
		s.rank = x->rank;
		s.start[0] = 0;
		rule_strides(s.stride[0], y);
		for (int i = x->rank - 1; i >= 0; i--) {
			int64_t times = y->dim[i] / x->dim[i];
			s.dim[i] = x->dim[i];
			s.stride[1][i] = xs[i];
			s.start[0] += rest % times * x->dim[i] * s.stride[0][i];
			rest /= times;
		}
		strided_copy(&s, out[0].data, in[0]->data, dtype_size(in[0]->type));
	}
	return STATUS_OK;
}
