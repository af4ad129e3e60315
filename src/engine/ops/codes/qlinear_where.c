// QLinearWhere: both branches are brought to the output's scale, then chosen from.
#include "qlinear.h"

// A branch is followed by its scale and its zero point.
enum { QWHERE_CONDITION, QWHERE_X, QWHERE_Y = 4, QWHERE_Z_SCALE = 7, QWHERE_Z_ZERO };

enum status qlinear_where_shape(
    const struct node *n, const struct tensor *const *in, struct tensor *out, struct error *err)
{
	const struct tensor *const chosen[] = {in[QWHERE_CONDITION], in[QWHERE_X], in[QWHERE_Y]};
	enum status s = qlinear_counts(n, in,
	    (const int[]){QWHERE_X + 1, QWHERE_X + 2, QWHERE_Y + 1, QWHERE_Y + 2, QWHERE_Z_SCALE, QWHERE_Z_ZERO}, 6, 0, err);
	return s ? s : where_shape(n, chosen, out, err);
}

enum status qlinear_where_eval(
    const struct node *n, const struct tensor *const *in, struct tensor *out, int width, struct error *err)
{
	struct tensor x = {0}, y = {0};
	const struct tensor *const chosen[] = {in[QWHERE_CONDITION], &x, &y};
	struct qlinear to;
	enum status s = qlinear_read(&to, n, in, QWHERE_Z_SCALE, QWHERE_Z_ZERO, err);
	if (s == STATUS_OK)
		s = qlinear_recode(&x, n, in, QWHERE_X, &to, width, err);
	if (s == STATUS_OK)
		s = qlinear_recode(&y, n, in, QWHERE_Y, &to, width, err);
	if (s == STATUS_OK)
		s = where_eval(n, chosen, out, width, err);
	tensor_drop(&x);
	tensor_drop(&y);
	return s;
}
