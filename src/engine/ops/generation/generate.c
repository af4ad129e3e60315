// Tensors made from little: Constant, ConstantOfShape, EyeLike, OneHot, Range, Shape, Size.
#include <math.h>
#include <string.h>
#include "../element.h"
#include "../rule.h"

// The one of Constant's attributes that is there, as type, shape and bytes.
static enum status constant_value(struct tensor *v, const struct constant_attrs *a, struct error *err)
{
	struct shape scalar = {0};
	if (a->value) {
		*v = *a->value;
		return STATUS_OK;
	}
	*v = (struct tensor){.shape = scalar};
	if (a->value_floats.at && a->value_floats.n >= 0) {
		v->type = DT_F32;
		v->data = a->value_floats.at;
		rule_push(&v->shape, a->value_floats.n);
	} else if (a->value_ints.at && a->value_ints.n >= 0) {
		v->type = DT_I64;
		v->data = a->value_ints.at;
		rule_push(&v->shape, a->value_ints.n);
	} else if (!isnan(a->value_float)) {
		v->type = DT_F32;
		v->data = (void *)&a->value_float;
	} else if (a->value_int != NO_NUMBER) {
		v->type = DT_I64;
		v->data = (void *)&a->value_int;
	} else {
		return error_set(
		    err, STATUS_UNSUPPORTED, "has no value, or one of a kind that is not supported (text, sparse)");
	}
	return STATUS_OK;
}

enum status constant_shape(const struct node *n, const struct tensor *const *in, struct tensor *out, struct error *err)
{
	struct tensor v;
	enum status s = constant_value(&v, n->attrs, err);
	(void)in;
	if (s == STATUS_OK)
		rule_set(&out[0], v.type, &v.shape);
	return s;
}

enum status constant_eval(
    const struct node *n, const struct tensor *const *in, struct tensor *out, int width, struct error *err)
{
	struct tensor v;
	enum status s = constant_value(&v, n->attrs, err);
	(void)in;
	(void)width;
	if (s == STATUS_OK && tensor_bytes(&out[0]))
		memcpy(out[0].data, v.data, tensor_bytes(&out[0]));
	return s;
}

enum status fill_shape(const struct node *n, const struct tensor *const *in, struct tensor *out, struct error *err)
{
	const struct tensor *value = ((const struct fill_attrs *)n->attrs)->value;
	struct shape y;
	enum status s = rule_ints(y.dim, &y.rank, SHAPE_MAX_RANK, in[0], "shape", err);
	if (s == STATUS_OK && value && tensor_count(value) != 1)
		s = error_set(err, STATUS_FORMAT, "value must be one number");
	if (s == STATUS_OK)
		rule_set(&out[0], value ? value->type : DT_F32, &y);
	return s;
}

static void fill(struct tensor *y, const void *value, size_t elem)
{
	size_t count = (size_t)tensor_count(y);
	for (size_t i = 0; i < count; i++)
		memcpy((char *)y->data + i * elem, value, elem);
}

enum status fill_eval(
    const struct node *n, const struct tensor *const *in, struct tensor *out, int width, struct error *err)
{
	const struct tensor *value = ((const struct fill_attrs *)n->attrs)->value;
	(void)in;
	(void)width;
	(void)err;
	if (value)
		fill(&out[0], value->data, dtype_size(value->type));
	else if (tensor_bytes(&out[0]))
		memset(out[0].data, 0, tensor_bytes(&out[0]));
	return STATUS_OK;
}

enum status eyelike_shape(const struct node *n, const struct tensor *const *in, struct tensor *out, struct error *err)
{
	int64_t wanted = ((const struct eyelike_attrs *)n->attrs)->dtype;
	enum dtype type = wanted ? rule_dtype(wanted) : in[0]->type;
	if (in[0]->shape.rank != 2)
		return error_set(err, STATUS_FORMAT, "the input has rank %d, needs 2", in[0]->shape.rank);
	if (type == DT_NONE)
		return error_set(err, STATUS_UNSUPPORTED, "element type %lld is not supported", (long long)wanted);
	rule_set(&out[0], type, &in[0]->shape);
	return STATUS_OK;
}

enum status eyelike_eval(
    const struct node *n, const struct tensor *const *in, struct tensor *out, int width, struct error *err)
{
	int64_t k = ((const struct eyelike_attrs *)n->attrs)->k, rows = out[0].shape.dim[0], cols = out[0].shape.dim[1],
	        one = 1;
	(void)in;
	(void)width;
	(void)err;
	if (tensor_bytes(&out[0]))
		memset(out[0].data, 0, tensor_bytes(&out[0]));
	for (int64_t r = 0; r < rows && rule_within(k, -rows, cols); r++)
		if (r + k >= 0 && r + k < cols)
			elements_store(out[0].data, out[0].type, r * cols + r + k, &one, 1);
	return STATUS_OK;
}

enum status onehot_shape(const struct node *n, const struct tensor *const *in, struct tensor *out, struct error *err)
{
	const struct shape *x = &in[0]->shape;
	struct shape y = {0};
	int axis = 0;
	enum status s = rule_axis(&axis, ((const struct axis_attrs *)n->attrs)->axis, x->rank + 1, err);
	if (s != STATUS_OK)
		return s;
	if (tensor_count(in[1]) != 1 || tensor_count(in[2]) != 2)
		return error_set(err, STATUS_FORMAT, "depth must be one number, values two");
	if (!in[1]->data)
		return rule_pending(err);
	if (x->rank == SHAPE_MAX_RANK)
		return error_set(err, STATUS_UNSUPPORTED, "rank %d is more than %d", x->rank + 1, SHAPE_MAX_RANK);
	for (int i = 0; i <= x->rank; i++)
		rule_push(&y, i == axis ? element_int(in[1], 0) : x->dim[i - (i > axis)]);
	rule_set(&out[0], in[2]->type, &y);
	return STATUS_OK;
}

enum status onehot_eval(
    const struct node *n, const struct tensor *const *in, struct tensor *out, int width, struct error *err)
{
	const struct shape *y = &out[0].shape;
	int axis = 0;
	enum status s = rule_axis(&axis, ((const struct axis_attrs *)n->attrs)->axis, y->rank, err);
	int64_t depth, inner, count = tensor_count(in[0]);
	size_t elem = dtype_size(out[0].type);
	(void)width;
	if (s != STATUS_OK)
		return s;
	depth = y->dim[axis];
	inner = rule_product(y, axis + 1, y->rank);
	fill(&out[0], in[2]->data, elem);
	for (int64_t i = 0; i < count; i++) {
		int64_t at = element_int(in[0], i);
		at += at < 0 ? depth : 0;
		if (at >= 0 && at < depth)
			memcpy((char *)out[0].data + (size_t)((i / inner * depth + at) * inner + i % inner) * elem,
			    (char *)in[2]->data + elem, elem);
	}
	return STATUS_OK;
}

static double range_delta(const struct node *n, const struct tensor *const *in)
{
	const struct tensor *delta = rule_input(n, in, 2);
	return delta ? element_double(delta, 0) : 1;
}

// The same of integers: those beyond 2^53 are no doubles.
static int64_t range_step(const struct node *n, const struct tensor *const *in)
{
	const struct tensor *delta = rule_input(n, in, 2);
	return delta ? element_int(delta, 0) : 1;
}

// How many integers; the step is not 0.
static double count_ints(const struct node *n, const struct tensor *const *in)
{
	enum dtype type = in[0]->type;
	int64_t step = range_step(n, in), end[2] = {element_int(in[0], 0), element_int(in[1], 0)};
	bool up = step > 0 || elements_unsigned(type);
	uint64_t span = up ? (uint64_t)end[1] - (uint64_t)end[0] : (uint64_t)end[0] - (uint64_t)end[1];
	elements_order(end, type, 2);
	if (up ? end[0] >= end[1] : end[0] <= end[1])
		return 0;
	return (double)((span - 1) / (up ? (uint64_t)step : -(uint64_t)step) + 1);
}

enum status range_shape(const struct node *n, const struct tensor *const *in, struct tensor *out, struct error *err)
{
	struct shape y = {.rank = 1};
	double start, limit, delta, count;
	for (int i = 0; i < n->n_in; i++) {
		if (!in[i]) // ONNX Runtime's delta
			continue;
		if (tensor_count(in[i]) != 1)
			return error_set(err, STATUS_FORMAT, "start, limit and delta must be single numbers");
		if (!in[i]->data)
			return rule_pending(err);
	}
	start = element_double(in[0], 0);
	limit = element_double(in[1], 0);
	delta = range_delta(n, in);
	count = in[0]->type == DT_F32 || delta == 0 ? ceil((limit - start) / delta) : count_ints(n, in);
	if (delta == 0 || !(count < (double)RULE_MAX_DIM))
		return error_set(
		    err, STATUS_FORMAT, "a range from %g to %g by %g is not possible", start, limit, delta);
	y.dim[0] = count > 0 ? (int64_t)count : 0;
	rule_set(&out[0], in[0]->type, &y);
	return STATUS_OK;
}

enum status range_eval(
    const struct node *n, const struct tensor *const *in, struct tensor *out, int width, struct error *err)
{
	bool floats = out[0].type == DT_F32;
	double start = element_double(in[0], 0), delta = range_delta(n, in);
	uint64_t first = (uint64_t)element_int(in[0], 0), step = (uint64_t)range_step(n, in);
	(void)width;
	(void)err;
	for (int64_t i = 0; i < out[0].shape.dim[0]; i++) {
		int64_t v = (int64_t)(first + (uint64_t)i * step);
		if (floats)
			((float *)out[0].data)[i] = (float)(start + (double)i * delta);
		else
			elements_store(out[0].data, out[0].type, i, &v, 1);
	}
	return STATUS_OK;
}

enum status shapeof_shape(const struct node *n, const struct tensor *const *in, struct tensor *out, struct error *err)
{
	const struct shapeof_attrs *a = n->attrs;
	int64_t rank = in[0]->shape.rank, start, end;
	struct shape y = {.rank = n->op->id == OP_Shape};
	(void)err;
	if (n->op->id == OP_Shape) {
		start = a->start < -rank ? 0 : a->start < 0 ? a->start + rank : a->start;
		end = a->end < -rank ? 0 : a->end < 0 ? a->end + rank : a->end > rank ? rank : a->end;
		y.dim[0] = end > start ? end - start : 0;
	}
	rule_set(&out[0], DT_I64, &y);
	return STATUS_OK;
}

enum status shapeof_eval(
    const struct node *n, const struct tensor *const *in, struct tensor *out, int width, struct error *err)
{
	const struct shape *x = &in[0]->shape;
	int64_t *y = out[0].data, start;
	(void)width;
	(void)err;
	if (n->op->id == OP_Size) {
		*y = shape_count(x);
		return STATUS_OK;
	}
	start = ((const struct shapeof_attrs *)n->attrs)->start;
	start = start < -x->rank ? 0 : start < 0 ? start + x->rank : start;
	for (int64_t i = 0; i < out[0].shape.dim[0]; i++)
		y[i] = x->dim[start + i];
	return STATUS_OK;
}
