// ArgMax, ArgMin.
#include "element.h"
#include "reduce.h"
#include "rule.h"

enum status argreduce_shape(const struct node *n, const struct tensor *const *in, struct tensor *out, struct error *err)
{
	const struct reduce_attrs *a = n->attrs;
	bool gone[SHAPE_MAX_RANK] = {false};
	struct shape y;
	int axis = 0;
	enum status s = rule_axis(&axis, a->axis, in[0]->shape.rank, err);

	if (s != STATUS_OK)
		return s;
	if (in[0]->shape.dim[axis] == 0)
		return error_set(err, STATUS_FORMAT, "axis %d is empty", axis);
	gone[axis] = true;
	reduce_set_shape(&y, &in[0]->shape, gone, a->keepdims != 0);
	rule_set(&out[0], DT_I64, &y);
	return STATUS_OK;
}

static int64_t best_of(const struct tensor *x, int64_t from, int64_t n, int64_t inner, bool max, bool last)
{
	int64_t best = 0;
	double value = element_double(x, from);

	for (int64_t i = 1; i < n; i++) {
		double v = element_double(x, from + i * inner);
		if (!(max ? v > value : v < value) && !(last && v == value))
			continue;
		best = i;
		value = v;
	}
	return best;
}

enum status argreduce_eval(
    const struct node *n, const struct tensor *const *in, struct tensor *out, int width, struct error *err)
{
	const struct reduce_attrs *a = n->attrs;
	const struct shape *x = &in[0]->shape;
	int axis = 0;
	enum status s = rule_axis(&axis, a->axis, x->rank, err);
	int64_t inner, count = tensor_count(&out[0]);

	(void)width;
	if (s != STATUS_OK)
		return s;
	inner = rule_product(x, axis + 1, x->rank);
	for (int64_t r = 0; r < count; r++)
		((int64_t *)out[0].data)[r] = best_of(in[0], r / inner * x->dim[axis] * inner + r % inner, x->dim[axis],
		    inner, n->op->id == OP_ArgMax, a->select_last_index != 0);
	return STATUS_OK;
}
