// Operators that give the same elements another shape: Identity, Dropout (inference), Flatten, Reshape, Squeeze,
// Unsqueeze, ExpandDims.
#include <string.h>
#include "../element.h"
#include "../rule.h"

// Dropout of nothing is the identity in training too: exporters write it where a network
// calls dropout with a ratio of 0.
static bool drops(const struct node *n, const struct tensor *const *in)
{
	if (n->n_in < 3 || !in[2] || !in[2]->data || tensor_count(in[2]) != 1 || !*(const uint8_t *)in[2]->data)
		return false;
	return !in[1] || !in[1]->data || tensor_count(in[1]) != 1 || element_double(in[1], 0) != 0;
}

enum status view_same_shape(const struct node *n, const struct tensor *const *in, struct tensor *out, struct error *err)
{
	if (drops(n, in))
		return error_set(
		    err, STATUS_UNSUPPORTED, "training mode is not supported: export the model for inference");
	rule_set(&out[0], in[0]->type, &in[0]->shape);
	if (n->n_out > 1)
		rule_set(&out[1], DT_BOOL, &in[0]->shape);
	return STATUS_OK;
}

enum status view_flatten_shape(
    const struct node *n, const struct tensor *const *in, struct tensor *out, struct error *err)
{
	const struct shape *x = &in[0]->shape;
	int64_t axis = ((const struct axis_attrs *)n->attrs)->axis;
	struct shape y = {.rank = 2};
	if (axis < -x->rank || axis > x->rank)
		return error_set(err, STATUS_FORMAT, "axis %lld is out of range for rank %d", (long long)axis, x->rank);
	axis += axis < 0 ? x->rank : 0;
	y.dim[0] = rule_product(x, 0, (int)axis);
	y.dim[1] = rule_product(x, (int)axis, x->rank);
	rule_set(&out[0], in[0]->type, &y);
	return STATUS_OK;
}

static enum status reshape_list(
    int64_t *list, int *count, const struct node *n, const struct tensor *const *in, struct error *err)
{
	const struct reshape_attrs *a = n->attrs;
	if (n->n_in > 1)
		return rule_ints(list, count, SHAPE_MAX_RANK, in[1], "shape", err);
	if (a->shape.n < 0 || a->shape.n > SHAPE_MAX_RANK)
		return error_set(
		    err, STATUS_FORMAT, "attribute shape is missing or has more than %d values", SHAPE_MAX_RANK);
	memcpy(list, a->shape.at, (size_t)a->shape.n * sizeof *list);
	*count = a->shape.n;
	return STATUS_OK;
}

// Replaces 0 by the dimension of x at the same place; *wild is the place of -1, or -1.
static enum status reshape_fill(
    struct shape *y, int *wild, const int64_t *list, const struct shape *x, bool keep_zero, struct error *err)
{
	*wild = -1;
	for (int i = 0; i < y->rank; i++) {
		y->dim[i] = list[i];
		if (list[i] == 0 && !keep_zero) {
			if (i >= x->rank)
				return error_set(err, STATUS_FORMAT,
				    "shape[%d] is 0, but the input has only %d dimensions", i, x->rank);
			y->dim[i] = x->dim[i];
		}
		if (list[i] == -1 && *wild >= 0)
			return error_set(err, STATUS_FORMAT, "shape has -1 twice");
		if (list[i] == -1)
			*wild = i;
		else if (list[i] < 0)
			return error_set(err, STATUS_FORMAT, "shape[%d] is %lld", i, (long long)list[i]);
	}
	return STATUS_OK;
}

static enum status reshape_mismatch(const struct shape *x, const struct shape *y, struct error *err)
{
	char tx[128], ty[128];
	return error_set(
	    err, STATUS_FORMAT, "cannot reshape %s to %s", shape_text(x, tx, sizeof tx), shape_text(y, ty, sizeof ty));
}

enum status view_reshape_shape(
    const struct node *n, const struct tensor *const *in, struct tensor *out, struct error *err)
{
	const struct reshape_attrs *a = n->attrs;
	int64_t list[SHAPE_MAX_RANK], total = shape_count(&in[0]->shape), rest;
	struct shape y = {0};
	int wild;
	enum status s = reshape_list(list, &y.rank, n, in, err);
	if (s == STATUS_OK)
		s = reshape_fill(&y, &wild, list, &in[0]->shape, a->allowzero, err);
	if (s != STATUS_OK)
		return s;
	if (wild >= 0) {
		y.dim[wild] = 1;
		rest = shape_count(&y);
		y.dim[wild] = -1;
		if (rest <= 0 || total % rest)
			return reshape_mismatch(&in[0]->shape, &y, err);
		y.dim[wild] = total / rest;
	}
	if (shape_count(&y) != total)
		return reshape_mismatch(&in[0]->shape, &y, err);
	rule_set(&out[0], in[0]->type, &y);
	return STATUS_OK;
}

enum status view_squeeze_shape(
    const struct node *n, const struct tensor *const *in, struct tensor *out, struct error *err)
{
	const struct reshape_attrs *a = n->attrs;
	const struct shape *x = &in[0]->shape;
	int64_t axes[SHAPE_MAX_RANK];
	bool gone[SHAPE_MAX_RANK];
	struct shape y = {0};
	int count;
	enum status s = rule_axes_list(axes, &count, rule_input(n, in, 1), &a->axes, err);
	if (s == STATUS_OK)
		s = rule_axes(gone, axes, count, x->rank, err);
	if (s != STATUS_OK)
		return s;
	for (int i = 0; i < x->rank; i++) {
		if (gone[i] && x->dim[i] != 1)
			return error_set(
			    err, STATUS_FORMAT, "dimension %d is %lld and cannot be squeezed", i, (long long)x->dim[i]);
		if (count < 0 ? x->dim[i] != 1 : !gone[i])
			rule_push(&y, x->dim[i]);
	}
	rule_set(&out[0], in[0]->type, &y);
	return STATUS_OK;
}

enum status view_unsqueeze_shape(
    const struct node *n, const struct tensor *const *in, struct tensor *out, struct error *err)
{
	const struct reshape_attrs *a = n->attrs;
	const struct shape *x = &in[0]->shape;
	int64_t axes[SHAPE_MAX_RANK];
	bool added[SHAPE_MAX_RANK];
	struct shape y = {0};
	int count, from = 0;
	enum status s = rule_axes_list(axes, &count, rule_input(n, in, 1), &a->axes, err);
	if (s != STATUS_OK)
		return s;
	if (count < 0)
		return error_set(err, STATUS_FORMAT, "attribute axes is missing");
	if (x->rank + count > SHAPE_MAX_RANK)
		return error_set(err, STATUS_UNSUPPORTED, "rank %d is more than %d", x->rank + count, SHAPE_MAX_RANK);
	s = rule_axes(added, axes, count, x->rank + count, err);
	if (s != STATUS_OK)
		return s;
	for (int i = 0; i < x->rank + count; i++)
		rule_push(&y, added[i] ? 1 : x->dim[from++]);
	rule_set(&out[0], in[0]->type, &y);
	return STATUS_OK;
}

enum status view_eval(
    const struct node *n, const struct tensor *const *in, struct tensor *out, int width, struct error *err)
{
	(void)width;
	(void)err;
	if (tensor_bytes(&out[0]))
		memcpy(out[0].data, in[0]->data, tensor_bytes(&out[0]));
	if (n->n_out > 1 && n->out[1] >= 0)
		memset(out[1].data, 1, tensor_bytes(&out[1])); // Dropout's mask: everything is kept
	return STATUS_OK;
}
