// Concat.
#include <stdlib.h>
#include "../rule.h"
#include "rows.h"
#include "qtui/base/parts.h"

enum status concat_shape(const struct node *n, const struct tensor *const *in, struct tensor *out, struct error *err)
{
	struct shape y = in[0]->shape;
	int axis = 0;
	enum status s = rule_axis(&axis, ((const struct axis_attrs *)n->attrs)->axis, y.rank, err);
	if (s != STATUS_OK)
		return s;
	for (int i = 1; i < n->n_in; i++) {
		if (!in[i])
			return error_set(err, STATUS_FORMAT, "input %d is missing", i);
		struct shape expected = in[i]->shape;
		if (expected.rank > axis)
			expected.dim[axis] = in[0]->shape.dim[axis];
		if (!shape_equal(&expected, &in[0]->shape)) {
			char a[96], b[96];
			return error_set(err, STATUS_FORMAT,
			    "inputs 0 and %d have shapes %s and %s, which differ off axis %d", i,
			    shape_text(&in[0]->shape, a, sizeof a), shape_text(&in[i]->shape, b, sizeof b), axis);
		}
		y.dim[axis] += in[i]->shape.dim[axis];
		if (y.dim[axis] > RULE_MAX_DIM)
			return error_set(err, STATUS_FORMAT, "the output would be too long along axis %d", axis);
	}
	rule_set(&out[0], in[0]->type, &y);
	return STATUS_OK;
}

enum { ALONE = 1 << 17 }; // bytes that are not worth a second thread

struct joining {
	const struct tensor *const *in;
	char *to;
	const size_t *at; // where the part of each input begins in a row
	size_t row;
	int64_t rows, together;
	int n;
};

// Input p % n of some rows. Rows are outside: the result is written once, from its beginning to its end.
static void join_part(void *arg, int64_t p, int thread)
{
	const struct joining *j = arg;
	int64_t r = p / j->n * j->together, i = p % j->n;
	size_t part = j->at[i + 1] - j->at[i];
	(void)thread;
	rows_copy(j->to + (size_t)r * j->row + j->at[i], j->row, (const char *)j->in[i]->data + (size_t)r * part, part, part,
	    j->rows - r < j->together ? j->rows - r : j->together);
}

enum status concat_eval(
    const struct node *n, const struct tensor *const *in, struct tensor *out, int width, struct error *err)
{
	int axis = 0;
	enum status s = rule_axis(&axis, ((const struct axis_attrs *)n->attrs)->axis, out[0].shape.rank, err);
	int64_t outer = rule_product(&out[0].shape, 0, axis);
	size_t elem = dtype_size(out[0].type),
	       row = (size_t)rule_product(&out[0].shape, axis, out[0].shape.rank) * elem, *at;
	if (s != STATUS_OK)
		return s;
	at = xcalloc((size_t)n->n_in + 1, sizeof *at); // where each part of a row begins
	for (int i = 0; i < n->n_in; i++)
		at[i + 1] = at[i] + (size_t)rule_product(&in[i]->shape, axis, in[i]->shape.rank) * elem;
	struct joining j = {.in = in, .to = out[0].data, .at = at, .row = row, .rows = outer, .n = n->n_in};
	j.together = rows_together(row);
	parts_share((outer + j.together - 1) / j.together * j.n, row * (size_t)outer > ALONE ? width : 1, join_part, &j);
	free(at);
	return STATUS_OK;
}
