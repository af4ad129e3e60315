// A layer normalisation that its step holds whole: rows of the last axis, in plain layout.
#include "../../kernels/rows/norm.h"
#include "exec.h"

enum status exec_norm(struct exec *x)
{
	const struct step_norm *s = &x->step->norm;
	struct rep in = {0}, y = {0};
	if (!s->on)
		return STATUS_UNSUPPORTED;
	enum status st = rep_to_float_layout(&in, x->in[0], LAYOUT_PLAIN, x->width, x->err);
	if (st == STATUS_OK)
		st = rep_alloc(&y, DT_F32, LAYOUT_PLAIN, &in.t.shape, x->err);
	if (st == STATUS_OK) {
		int64_t n = in.t.shape.dim[in.t.shape.rank - 1];
		const struct norm k = {.rows = tensor_count(&in.t) / n, .n = n, .epsilon = s->epsilon, .gain = s->gain ? s->gain->data : NULL,
		    .shift = s->shift ? s->shift->data : NULL};
		norm_run(&k, in.t.data, y.t.data, x->width);
		st = exec_finish(x, 0, &y);
	}
	rep_drop(&in);
	rep_drop(&y);
	return st;
}
