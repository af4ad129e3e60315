#include "rule.h"

bool rule_within(int64_t v, int64_t low, int64_t high)
{
	return v >= low && v <= high;
}

bool rule_known(const struct tensor *t)
{
	return t->data || shape_count(&t->shape) == 0;
}

enum status rule_pending(struct error *err)
{
	err->status = STATUS_UNSUPPORTED;
	err->text[0] = '\0';
	return STATUS_UNSUPPORTED;
}

enum status rule_axis(int *out, int64_t axis, int rank, struct error *err)
{
	if (axis < -rank || axis >= rank)
		return error_set(err, STATUS_FORMAT, "axis %lld is out of range for rank %d", (long long)axis, rank);
	*out = (int)(axis < 0 ? axis + rank : axis);
	return STATUS_OK;
}

enum status rule_axes(bool out[SHAPE_MAX_RANK], const int64_t *axes, int n, int rank, struct error *err)
{
	for (int i = 0; i < SHAPE_MAX_RANK; i++)
		out[i] = false;
	for (int i = 0; i < n; i++) {
		int axis = 0;
		enum status s = rule_axis(&axis, axes[i], rank, err);
		if (s != STATUS_OK)
			return s;
		if (out[axis])
			return error_set(err, STATUS_FORMAT, "axis %lld is given twice", (long long)axes[i]);
		out[axis] = true;
	}
	return STATUS_OK;
}

enum status rule_ints(int64_t *out, int *n, int max, const struct tensor *t, const char *what, struct error *err)
{
	int64_t count = shape_count(&t->shape);
	if (count > max || t->shape.rank > 1)
		return error_set(
		    err, STATUS_FORMAT, "%s has %lld values, at most %d make sense", what, (long long)count, max);
	if (!rule_known(t))
		return rule_pending(err);
	for (int64_t i = 0; i < count; i++)
		out[i] = t->type == DT_I32 ? ((const int32_t *)t->data)[i] : ((const int64_t *)t->data)[i];
	*n = (int)count;
	return STATUS_OK;
}

enum status rule_axes_list(
    int64_t out[SHAPE_MAX_RANK], int *n, const struct tensor *t, const struct ints *attr, struct error *err)
{
	*n = -1;
	if (t)
		return rule_ints(out, n, SHAPE_MAX_RANK, t, "axes", err);
	if (attr->n > SHAPE_MAX_RANK)
		return error_set(
		    err, STATUS_FORMAT, "axes has %d values, at most %d make sense", attr->n, SHAPE_MAX_RANK);
	for (int i = 0; i < attr->n; i++)
		out[i] = attr->at[i];
	if (attr->n >= 0 && attr->at)
		*n = attr->n;
	return STATUS_OK;
}

enum status rule_broadcast(struct shape *out, const struct shape *a, const struct shape *b, struct error *err)
{
	struct shape y = {.rank = a->rank > b->rank ? a->rank : b->rank};
	for (int i = 1; i <= y.rank; i++) {
		int64_t da = i <= a->rank ? a->dim[a->rank - i] : 1;
		int64_t db = i <= b->rank ? b->dim[b->rank - i] : 1;
		if (da != db && da != 1 && db != 1) {
			char ta[96], tb[96];
			return error_set(err, STATUS_FORMAT, "shapes %s and %s do not broadcast",
			    shape_text(a, ta, sizeof ta), shape_text(b, tb, sizeof tb));
		}
		y.dim[y.rank - i] = da == 1 ? db : da;
	}
	*out = y;
	return STATUS_OK;
}

bool rule_push(struct shape *s, int64_t dim)
{
	if (s->rank >= SHAPE_MAX_RANK)
		return false;
	s->dim[s->rank++] = dim;
	return true;
}

void rule_set(struct tensor *out, enum dtype type, const struct shape *shape)
{
	out->type = type;
	out->layout = LAYOUT_PLAIN;
	out->shape = *shape;
}

enum dtype rule_dtype(int64_t onnx_type)
{
	static const enum dtype map[] = {
	    [1] = DT_F32,
	    [2] = DT_U8,
	    [3] = DT_I8,
	    [4] = DT_U16,
	    [5] = DT_I16,
	    [6] = DT_I32,
	    [7] = DT_I64,
	    [9] = DT_BOOL,
	    [10] = DT_F32,
	    [11] = DT_F32,
	    [12] = DT_U32,
	    [13] = DT_U64,
	    [16] = DT_F32,
	    [17] = DT_F32,
	    [18] = DT_F32,
	    [19] = DT_F32,
	    [20] = DT_F32,
	    [21] = DT_U4,
	    [22] = DT_I4,
	    [23] = DT_F32,
	    [24] = DT_F32,
	};
	return onnx_type >= 0 && onnx_type < (int64_t)(sizeof map / sizeof *map) ? map[onnx_type] : DT_NONE;
}

int64_t rule_product(const struct shape *s, int from, int to)
{
	int64_t p = 1;
	for (int i = from; i < to; i++)
		p *= s->dim[i];
	return p;
}

void rule_strides(int64_t stride[SHAPE_MAX_RANK], const struct shape *s)
{
	int64_t p = 1;
	for (int i = s->rank - 1; i >= 0; i--) {
		stride[i] = p;
		p *= s->dim[i];
	}
}

enum status rule_rank_at_least(const struct tensor *t, int i, int rank, struct error *err)
{
	if (t->shape.rank >= rank)
		return STATUS_OK;
	return error_set(err, STATUS_FORMAT, "input %d has rank %d, needs at least %d", i, t->shape.rank, rank);
}
