// QLinearConcat: inputs y_scale, y_zero, then three for each part: codes, scale, zero point.
#include <stdlib.h>
#include "qlinear.h"

enum { QCAT_Y_SCALE, QCAT_Y_ZERO, QCAT_FIRST, QCAT_EACH = 3 };

static struct node concat_node(const struct node *n)
{
	struct node concat = *n;
	concat.n_in = (n->n_in - QCAT_FIRST) / QCAT_EACH;
	return concat;
}

enum status qlinear_concat_shape(
    const struct node *n, const struct tensor *const *in, struct tensor *out, struct error *err)
{
	struct node concat = concat_node(n);
	const struct tensor **part = xcalloc((size_t)concat.n_in + 1, sizeof *part);
	enum status s = STATUS_OK;
	if (n->n_in != QCAT_FIRST + concat.n_in * QCAT_EACH || concat.n_in == 0)
		s = error_set(err, STATUS_FORMAT, "has %d inputs, needs two and three for each part", n->n_in);
	for (int i = 0; s == STATUS_OK && i < concat.n_in; i++) {
		const struct tensor *const *each = in + QCAT_FIRST + i * QCAT_EACH;
		part[i] = each[0];
		if (!each[0] || !each[1] || each[0]->type != in[QCAT_Y_ZERO]->type || each[1]->type != DT_F32)
			s = error_set(
			    err, STATUS_FORMAT, "part %d must have codes of the output's type and a float32 scale", i);
	}
	if (s == STATUS_OK)
		s = concat_shape(&concat, part, out, err);
	free(part);
	return s;
}

enum status qlinear_concat_eval(
    const struct node *n, const struct tensor *const *in, struct tensor *out, int width, struct error *err)
{
	struct node concat = concat_node(n);
	struct tensor *part = xcalloc((size_t)concat.n_in, sizeof *part);
	const struct tensor **parts = xcalloc((size_t)concat.n_in, sizeof *parts);
	struct qlinear to;
	enum status s = qlinear_read(&to, n, in, QCAT_Y_SCALE, QCAT_Y_ZERO, err);
	for (int i = 0; s == STATUS_OK && i < concat.n_in; i++) {
		parts[i] = &part[i];
		s = qlinear_recode(&part[i], n, in, QCAT_FIRST + i * QCAT_EACH, &to, width, err);
	}
	if (s == STATUS_OK)
		s = concat_eval(&concat, parts, out, width, err);
	for (int i = 0; i < concat.n_in; i++)
		tensor_drop(&part[i]);
	free(parts);
	free(part);
	return s;
}
