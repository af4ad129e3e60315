// Slice, with steps of either sign; starts and ends are clamped to the input as NumPy does.
#include "../rule.h"
#include "../strided.h"

struct range {
	int64_t start, step, count;
};

struct slice_lists {
	int64_t start[SHAPE_MAX_RANK], end[SHAPE_MAX_RANK], axis[SHAPE_MAX_RANK], step[SHAPE_MAX_RANK];
	int n;
};

static enum status list_from_input(int64_t *out, int n, const struct node *node, const struct tensor *const *in, int i,
    const char *what, struct error *err)
{
	int count;
	if (i >= node->n_in || !in[i])
		return STATUS_OK;
	enum status s = rule_ints(out, &count, SHAPE_MAX_RANK, in[i], what, err);
	if (s == STATUS_OK && count != n)
		s = error_set(err, STATUS_FORMAT, "%s has %d values, starts has %d", what, count, n);
	return s;
}

static enum status lists_from_attrs(struct slice_lists *l, const struct slice_attrs *a, struct error *err)
{
	if (a->starts.n < 0 || a->starts.n > SHAPE_MAX_RANK || a->ends.n != a->starts.n ||
	    (a->axes.n > 0 && a->axes.n != a->starts.n))
		return error_set(err, STATUS_FORMAT, "attributes starts, ends and axes do not agree");
	l->n = a->starts.n;
	for (int i = 0; i < l->n; i++) {
		l->start[i] = a->starts.at[i];
		l->end[i] = a->ends.at[i];
		if (a->axes.n > 0)
			l->axis[i] = a->axes.at[i];
	}
	return STATUS_OK;
}

static enum status read_lists(
    struct slice_lists *l, const struct node *n, const struct tensor *const *in, struct error *err)
{
	enum status s;
	for (int i = 0; i < SHAPE_MAX_RANK; i++) {
		l->axis[i] = i;
		l->step[i] = 1;
	}
	if (n->op->since < 10)
		return lists_from_attrs(l, n->attrs, err);
	s = rule_ints(l->start, &l->n, SHAPE_MAX_RANK, in[1], "starts", err);
	if (s == STATUS_OK)
		s = list_from_input(l->end, l->n, n, in, 2, "ends", err);
	if (s == STATUS_OK)
		s = list_from_input(l->axis, l->n, n, in, 3, "axes", err);
	if (s == STATUS_OK)
		s = list_from_input(l->step, l->n, n, in, 4, "steps", err);
	return s;
}

static int64_t clamp(int64_t v, int64_t low, int64_t high)
{
	return v < low ? low : v > high ? high : v;
}

static struct range make_range(int64_t start, int64_t end, int64_t step, int64_t dim)
{
	struct range r = {.step = clamp(step, -RULE_MAX_DIM, RULE_MAX_DIM)};
	int64_t low = r.step < 0 ? -1 : 0, high = r.step < 0 ? dim - 1 : dim;
	start = clamp(start < 0 ? start + dim : start, r.step < 0 ? 0 : low, high);
	if (r.step < 0 && (end == INT32_MAX || end == INT64_MAX)) // "to the end", as ONNX Runtime reads it in either direction
		end = INT64_MIN;
	end = clamp(end < 0 ? end + dim : end, low, high);
	if (dim > 0 && r.step > 0 && end > start)
		r.count = (end - start + r.step - 1) / r.step;
	if (dim > 0 && r.step < 0 && start > end)
		r.count = (start - end - r.step - 1) / -r.step;
	r.start = r.count ? start : 0;
	return r;
}

static enum status ranges(
    struct range r[SHAPE_MAX_RANK], const struct node *n, const struct tensor *const *in, struct error *err)
{
	const struct shape *x = &in[0]->shape;
	struct slice_lists l;
	bool seen[SHAPE_MAX_RANK];
	enum status s = read_lists(&l, n, in, err);
	if (s == STATUS_OK)
		s = rule_axes(seen, l.axis, l.n, x->rank, err);
	if (s != STATUS_OK)
		return s;
	for (int i = 0; i < x->rank; i++)
		r[i] = (struct range){0, 1, x->dim[i]};
	for (int i = 0; i < l.n; i++) {
		int axis = (int)(l.axis[i] < 0 ? l.axis[i] + x->rank : l.axis[i]);
		if (l.step[i] == 0)
			return error_set(err, STATUS_FORMAT, "steps[%d] is 0", i);
		r[axis] = make_range(l.start[i], l.end[i], l.step[i], x->dim[axis]);
	}
	return STATUS_OK;
}

enum status slice_shape(const struct node *n, const struct tensor *const *in, struct tensor *out, struct error *err)
{
	struct range r[SHAPE_MAX_RANK];
	struct shape y = in[0]->shape;
	enum status s = ranges(r, n, in, err);
	if (s != STATUS_OK)
		return s;
	for (int i = 0; i < y.rank; i++)
		y.dim[i] = r[i].count;
	rule_set(&out[0], in[0]->type, &y);
	return STATUS_OK;
}

enum status slice_eval(
    const struct node *n, const struct tensor *const *in, struct tensor *out, int width, struct error *err)
{
	struct range r[SHAPE_MAX_RANK];
	struct strided s = {.rank = out[0].shape.rank, .arrays = 2};
	int64_t stride[SHAPE_MAX_RANK];
	enum status st = ranges(r, n, in, err);
	(void)width;
	if (st != STATUS_OK)
		return st;
	rule_strides(s.stride[0], &out[0].shape);
	rule_strides(stride, &in[0]->shape);
	for (int i = 0; i < s.rank; i++) {
		s.dim[i] = out[0].shape.dim[i];
		s.stride[1][i] = r[i].count > 1 ? stride[i] * r[i].step : 0;
		s.start[1] += stride[i] * r[i].start;
	}
	strided_copy(&s, out[0].data, in[0]->data, dtype_size(in[0]->type));
	return STATUS_OK;
}
