// Split: lengths from the input (13), from the attribute, or equal parts (18: as many as outputs, the last one
// shorter).
#include <stdlib.h>
#include "../rule.h"
#include "rows.h"
#include "qtui/base/parts.h"

static enum status part_length(
    int64_t *length, const struct node *n, const struct tensor *parts, int i, int64_t total, struct error *err)
{
	const struct axis_attrs *a = n->attrs;
	int64_t each = (total + n->n_out - 1) / n->n_out;
	if (parts) {
		*length = ((const int64_t *)parts->data)[i];
	} else if (a->split.n >= 0 && a->split.at) {
		*length = a->split.at[i];
	} else {
		if (total % n->n_out && n->op->since < 13)
			return error_set(err, STATUS_FORMAT, "%lld elements cannot be split evenly into %d",
			    (long long)total, n->n_out);
		*length = total - i * each < each ? total - i * each : each;
		*length = *length < 0 ? 0 : *length;
	}
	return STATUS_OK;
}

enum status split_shape(const struct node *n, const struct tensor *const *in, struct tensor *out, struct error *err)
{
	const struct axis_attrs *a = n->attrs;
	const struct tensor *parts = rule_input(n, in, 1);
	struct shape y = in[0]->shape;
	int axis = 0;
	int64_t total, sum = 0;
	enum status s = rule_axis(&axis, a->axis, y.rank, err);
	if (s != STATUS_OK)
		return s;
	if (parts && parts->type != DT_I64)
		return error_set(err, STATUS_UNSUPPORTED, "input 1 must be int64");
	if (parts && !rule_known(parts))
		return rule_pending(err);
	if ((parts && tensor_count(parts) != n->n_out) ||
	    (!parts && a->split.n >= 0 && a->split.at && a->split.n != n->n_out))
		return error_set(err, STATUS_FORMAT, "split must have one length for each of the %d outputs", n->n_out);
	total = y.dim[axis];
	for (int i = 0; i < n->n_out; i++) {
		s = part_length(&y.dim[axis], n, parts, i, total, err);
		if (s == STATUS_OK && (y.dim[axis] < 0 || y.dim[axis] > total))
			s = error_set(err, STATUS_FORMAT, "split[%d] is %lld", i, (long long)y.dim[axis]);
		if (s != STATUS_OK)
			return s;
		sum += y.dim[axis];
		rule_set(&out[i], in[0]->type, &y);
	}
	if (sum != total)
		return error_set(err, STATUS_FORMAT, "the parts add up to %lld, but axis %d has %lld", (long long)sum,
		    axis, (long long)total);
	return STATUS_OK;
}

enum { ALONE = 1 << 17 }; // bytes that are not worth a second thread

struct splitting {
	const struct node *node;
	const char *from;
	struct tensor *out;
	const size_t *at; // where each part of a row begins
	size_t row;
	int64_t rows, together;
};

// Part p % n of some rows. Rows are outside: the input is read once, from its beginning to its end.
static void split_part(void *arg, int64_t p, int thread)
{
	const struct splitting *s = arg;
	int64_t r = p / s->node->n_out * s->together, i = p % s->node->n_out;
	size_t part = s->at[i + 1] - s->at[i];
	(void)thread;
	if (s->node->out[i] >= 0)
		rows_copy((char *)s->out[i].data + (size_t)r * part, part, s->from + (size_t)r * s->row + s->at[i], s->row, part,
		    s->rows - r < s->together ? s->rows - r : s->together);
}

enum status split_eval(
    const struct node *n, const struct tensor *const *in, struct tensor *out, int width, struct error *err)
{
	const struct shape *x = &in[0]->shape;
	int axis = 0;
	enum status s = rule_axis(&axis, ((const struct axis_attrs *)n->attrs)->axis, x->rank, err);
	int64_t outer = rule_product(x, 0, axis);
	size_t elem = dtype_size(in[0]->type), row = (size_t)rule_product(x, axis, x->rank) * elem, *at;
	if (s != STATUS_OK)
		return s;
	at = xcalloc((size_t)n->n_out + 1, sizeof *at); // where each part of a row begins
	for (int i = 0; i < n->n_out; i++)
		at[i + 1] = at[i] + (size_t)rule_product(&out[i].shape, axis, x->rank) * elem;
	struct splitting cut = {n, in[0]->data, out, at, row, outer, rows_together(row)};
	parts_share((outer + cut.together - 1) / cut.together * n->n_out, row * (size_t)outer > ALONE ? width : 1, split_part, &cut);
	free(at);
	return STATUS_OK;
}
