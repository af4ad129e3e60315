// Resize in the blocked layout: to the nearest by a whole factor, where it selects elements,
// and by a filter (linear, cubic).
#include <stdlib.h>
#include <string.h>
#include "../../ops/spatial/resize.h"
#include "exec.h"

static bool is_one_of(const char *text, const char *const *list)
{
	for (; *list; list++)
		if (strcmp(text, *list) == 0)
			return true;
	return false;
}

bool resize_selects(const struct exec *x)
{
	const struct resize_attrs *a = x->node->attrs;
	return x->node->op->id == OP_Resize && strcmp(a->mode, "nearest") == 0 && strcmp(a->transform, "tf_crop_and_resize") != 0;
}

// The input that holds the scales, if they decide the coordinates: where sizes are given they do not.
static const struct tensor *scales(const struct exec *x)
{
	int i = x->node->op->since >= 11 ? 2 : 1;
	return i < x->node->n_in && x->in[i] && tensor_count(&x->in[i]->t) > 0 ? &x->in[i]->t : NULL;
}

static bool factor_is_scale(const struct exec *x, int axis, int64_t factor)
{
	const struct tensor *t = scales(x);
	return !t || (t->type == DT_F32 && tensor_count(t) == 4 && ((const float *)t->data)[axis] == (float)factor);
}

// Source indices along an axis that grows by a whole factor, where the rounding rules in use pick i / factor.
static bool whole_factor(const struct exec *x, int axis, int64_t in, int64_t out, int32_t *index)
{
	static const char *const halves[] = {"half_pixel", "pytorch_half_pixel", "half_pixel_symmetric", NULL};
	const struct resize_attrs *a = x->node->attrs;
	bool floors = strcmp(a->transform, "asymmetric") == 0 && strcmp(a->nearest_mode, "floor") == 0;
	bool rounds = is_one_of(a->transform, halves) && strcmp(a->nearest_mode, "round_prefer_floor") == 0;
	if (in <= 0 || out % in != 0 || !(floors || rounds) || !factor_is_scale(x, axis, out / in))
		return false;
	for (int64_t i = 0; i < out; i++)
		index[i] = (int32_t)(i / (out / in));
	return true;
}

enum status resize_blocks(struct exec *x, struct rep *in, struct rep *y)
{
	const struct resize_attrs *a = x->node->attrs;
	struct shape s;
	if (x->node->op->id != OP_Resize || in->t.layout != LAYOUT_BLOCK || in->t.shape.rank != 4 || exec_out_shape(x, &s) != STATUS_OK ||
	    (a->keep_aspect && strcmp(a->keep_aspect, "stretch") != 0))
		return STATUS_UNSUPPORTED;
	int32_t *at = xmalloc((size_t)(s.dim[2] + s.dim[3]) * sizeof *at);
	enum status st = STATUS_UNSUPPORTED;
	const int64_t *from = in->t.shape.dim;
	if (s.dim[0] == from[0] && s.dim[1] == from[1] && factor_is_scale(x, 0, 1) && factor_is_scale(x, 1, 1) &&
	    whole_factor(x, 2, from[2], s.dim[2], at) && whole_factor(x, 3, from[3], s.dim[3], at + s.dim[2]))
		st = exec_alloc(x, y, in->t.type, LAYOUT_BLOCK, &s);
	if (st == STATUS_OK) {
		struct blk_nearest r = {.elem = dtype_size(in->t.type), .blocks = s.dim[0] * ((s.dim[1] + layout_block() - 1) / layout_block()),
		    .h = from[2], .w = from[3], .oh = s.dim[2], .ow = s.dim[3], .row = at, .col = at + s.dim[2]};
		blk_resize_nearest(&r, in->t.data, y->t.data, x->width);
		if (in->coded)
			rep_set_quantizer(y, rep_quantizer(in));
	}
	free(at);
	return st;
}

// Inputs after the first (region, scales, sizes) are plain; of the first only the shape is asked.
static enum status resolve(struct exec *x, struct resize *r, struct resize_taps t[SHAPE_MAX_RANK], bool *any_outside)
{
	const struct tensor **in = xcalloc((size_t)x->node->n_in + 1, sizeof *in);
	for (int i = 0; i < x->node->n_in; i++)
		in[i] = x->in[i] ? &x->in[i]->t : NULL;
	enum status st = resize_resolve(r, x->node, in, x->err);
	free(in);
	return st == STATUS_OK ? resize_all_taps(t, any_outside, r, x->err) : st;
}

static enum status filter_blocks(struct exec *x, const struct interp *planes, struct rep *in, const struct resize *r, struct rep *y)
{
	struct interp blocks = *planes;
	struct shape s = shape_of(4, (int64_t[]){r->axis[0].out, r->axis[1].out, r->axis[2].out, r->axis[3].out});
	blocks.lanes = layout_block();
	blocks.planes = r->axis[0].in * ((r->axis[1].in + blocks.lanes - 1) / blocks.lanes);
	enum status st = rep_alloc(y, DT_F32, LAYOUT_BLOCK, &s, x->err);
	if (st != STATUS_OK)
		return st;
	float *buffer = exec_scratch(x, (size_t)interp_buffer(&blocks, x->width) * sizeof *buffer);
	if (!buffer)
		return error_set(x->err, STATUS_NOMEM, "no memory for a row of the input");
	interp_run(&blocks, in->t.data, y->t.data, buffer, x->width);
	return STATUS_OK;
}

enum status exec_resize(struct exec *x)
{
	struct rep in = {0}, y = {0};
	struct resize r;
	struct resize_taps t[SHAPE_MAX_RANK];
	struct interp planes;
	bool any_outside;
	if (x->node->op->id != OP_Resize || resize_selects(x) || x->in[0]->t.layout != LAYOUT_BLOCK || !exec_float_input(x, 0))
		return STATUS_UNSUPPORTED;
	enum status st = resolve(x, &r, t, &any_outside);
	if (st != STATUS_OK)
		return st;
	st = resize_planes(&planes, &r, t) ? rep_to_float(&in, x->in[0], x->width, x->err) : STATUS_UNSUPPORTED;
	if (st == STATUS_OK)
		st = filter_blocks(x, &planes, &in, &r, &y);
	if (st == STATUS_OK) {
		elt_act(&x->step->epi.act, y.t.data, y.t.data, tensor_stored(&y.t));
		st = exec_finish(x, 0, &y);
	}
	resize_free_all(t);
	rep_drop(&in);
	rep_drop(&y);
	return st;
}
