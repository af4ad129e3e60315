// Operators that only move or select elements work on codes as well as on floats: Concat, Resize to the
// nearest, and (in plain layout, through the operator's own code) Reshape, Transpose, Split, Gather and the like.
// Quantizing commutes with moving, so inputs are brought onto the output's grid first.
#include <stdlib.h>
#include "../../ops/movement/transpose.h"
#include "../../tensor/unblock.h"
#include "../places.h"
#include "exec.h"

// The quantizer of all outputs; NULL: they have several, or none.
static const struct quantizer *output_grid(const struct exec *x)
{
	const struct node *last = &x->g->node[x->step->last];
	const struct quantizer *first = exec_out_quantizer(x, 0);
	for (int i = 1; first && i < last->n_out; i++) {
		const struct quantizer *q = exec_out_quantizer(x, i);
		if (last->out[i] >= 0 && x->g->value[last->out[i]].type == DT_F32 && !(q && quantizer_same_grid(first, q)))
			return NULL;
	}
	return first;
}

enum status exec_on_output_grid(struct exec *x, int i, struct rep *out)
{
	const struct quantizer *oq = output_grid(x);
	if (oq && exec_float_input(x, i))
		return rep_apply(out, x->in[i], oq, x->width, x->err);
	*out = rep_share(x->in[i]);
	return STATUS_OK;
}

// May the data inputs 0..n-1 be moved as codes: all on one grid, or all float?
static bool same_form(struct rep *in, int n)
{
	for (int i = 1; i < n; i++) {
		if (in[i].coded != in[0].coded || in[i].t.type != in[0].t.type)
			return false;
		if (in[0].coded && !quantizer_same_grid(rep_quantizer(&in[0]), rep_quantizer(&in[i])))
			return false;
	}
	return true;
}

void exec_inherit(struct rep *y, struct rep *from)
{
	if (from->coded)
		rep_set_quantizer(y, rep_quantizer(from));
}

// Blocked Concat over channels: whole channel blocks, if every input but the last fills its blocks.
static bool concat_blocks(const struct exec *x, struct rep *in, int n)
{
	const struct axis_attrs *a = x->node->attrs;
	int64_t axis = a->axis < 0 ? a->axis + in[0].t.shape.rank : a->axis;
	if (axis != 1 || in[0].t.shape.rank != 4)
		return false;
	for (int i = 0; i < n; i++)
		if (in[i].t.layout != LAYOUT_BLOCK || (i + 1 < n && in[i].t.shape.dim[1] % layout_block() != 0))
			return false;
	return true;
}

static enum status concat_copy(struct exec *x, struct rep *in, int n, struct rep *y)
{
	struct shape s = in[0].t.shape;
	s.dim[1] = 0;
	for (int i = 0; i < n; i++)
		s.dim[1] += in[i].t.shape.dim[1];
	enum status st = exec_alloc(x, y, in[0].t.type, LAYOUT_BLOCK, &s);
	if (st != STATUS_OK)
		return st;
	size_t total = tensor_bytes(&y->t) / (size_t)s.dim[0], at = 0;
	for (int i = 0; i < n; i++) {
		size_t part = tensor_bytes(&in[i].t) / (size_t)s.dim[0];
		for (int64_t b = 0; b < s.dim[0]; b++)
			exec_copy((char *)y->t.data + (size_t)b * total + at, (const char *)in[i].t.data + (size_t)b * part, part, x->width);
		at += part;
	}
	exec_inherit(y, &in[0]);
	return STATUS_OK;
}

// The plain operator on moved inputs: integer and float elements alike.
static enum status move_plain(struct exec *x, struct rep *data, int n_data, struct rep *y)
{
	int n_in = x->node->n_in;
	struct rep *hold = xcalloc((size_t)n_in + 1, sizeof *hold);
	const struct tensor **in = xcalloc((size_t)n_in + 1, sizeof *in);
	enum status st = STATUS_OK;
	for (int i = 0; st == STATUS_OK && i < n_in; i++) {
		if (!x->in[i])
			continue;
		st = rep_to_layout(&hold[i], i < n_data ? &data[i] : x->in[i], LAYOUT_PLAIN, x->width, x->err);
		in[i] = &hold[i].t;
	}
	if (st == STATUS_OK)
		st = exec_eval(x, in, y);
	for (int i = 0; st == STATUS_OK && i < x->node->n_out; i++)
		if (y[i].t.type == data[0].t.type)
			exec_inherit(&y[i], &data[0]);
	for (int i = 0; i < n_in; i++)
		rep_drop(&hold[i]);
	free(hold);
	free(in);
	return st;
}

static int data_inputs(const struct node *n)
{
	return n->op->id == OP_Concat ? n->n_in : 1;
}

static bool moves_codes(const struct exec *x)
{
	unsigned flags = x->node->op->flags;
	bool moves = (flags & (OPF_MOVES | OPF_VIEW)) && !(flags & OPF_FILLS);
	return (moves || resize_selects(x)) && exec_float_input(x, 0) && !exec_is_pool(x);
}

// Split over channels in whole blocks: each part is a run of blocks of the input.
static bool splits_blocks(const struct exec *x, const struct tensor *in)
{
	if (x->node->op->id != OP_Split || in->layout != LAYOUT_BLOCK || in->shape.rank != 4 || in->shape.dim[0] != 1)
		return false;
	const struct axis_attrs *a = x->node->attrs;
	if ((a->axis < 0 ? a->axis + in->shape.rank : a->axis) != 1)
		return false;
	for (int i = 0; i < x->node->n_out; i++) {
		const struct value *v = x->node->out[i] < 0 ? NULL : &x->g->value[x->node->out[i]];
		if (!v || v->shape.rank != 4 || (i + 1 < x->node->n_out && v->shape.dim[1] % layout_block() != 0))
			return false;
	}
	return true;
}

static void split_share(const struct exec *x, struct rep *in, struct rep *y)
{
	size_t at = 0;
	for (int i = 0; i < x->node->n_out; i++) {
		y[i] = rep_part(in, &x->g->value[x->node->out[i]].shape, at);
		at += tensor_bytes(&y[i].t);
	}
}

// The inputs in one form: codes on the output's grid, or floats.
static enum status take_inputs(struct exec *x, struct rep *data, int n)
{
	enum status st = STATUS_OK;
	for (int i = 0; st == STATUS_OK && i < n; i++)
		st = exec_on_output_grid(x, i, &data[i]);
	bool as_they_are = st != STATUS_OK || same_form(data, n);
	for (int i = 0; st == STATUS_OK && !as_they_are && i < n; i++) {
		struct rep f = {0};
		st = rep_to_float(&f, &data[i], x->width, x->err);
		rep_drop(&data[i]);
		data[i] = f;
	}
	return st;
}

// A Transpose of blocks, seen as `seen`, that puts channels last.
static enum status transpose_blocks(struct exec *x, const struct node *n, struct rep *from, const struct shape *seen, struct rep *y)
{
	int64_t perm[SHAPE_MAX_RANK];
	struct unblock u;
	struct shape shape = *seen;
	if (n->op->id != OP_Transpose || from->t.layout != LAYOUT_BLOCK)
		return STATUS_UNSUPPORTED;
	enum status st = transpose_permutation(perm, n, seen->rank, x->err);
	if (st != STATUS_OK || !unblock_of(&u, &from->t, seen, perm))
		return st != STATUS_OK ? st : STATUS_UNSUPPORTED;
	for (int i = 0; i < shape.rank; i++)
		shape.dim[i] = seen->dim[perm[i]];
	st = exec_alloc(x, y, from->t.type, LAYOUT_PLAIN, &shape);
	if (st != STATUS_OK)
		return st;
	unblock_run(&u, &y->t, &from->t, x->width);
	exec_inherit(y, from);
	return STATUS_OK;
}

// A Reshape with the Transpose behind it, in one pass where blocks allow.
static enum status move_seen(struct exec *x, struct rep *data, struct rep *y)
{
	const struct node *last = &x->g->node[x->step->last];
	const struct shape *seen = &x->g->value[x->node->out[0]].shape;
	struct rep plain = {0};
	enum status st = transpose_blocks(x, last, data, seen, y);
	if (st != STATUS_UNSUPPORTED || x->err->text[0] != '\0')
		return st;
	st = rep_to_layout(&plain, data, LAYOUT_PLAIN, x->width, x->err);
	if (st == STATUS_OK) {
		struct exec behind = *x;
		behind.node = last;
		plain.t.shape = *seen;
		st = move_plain(&behind, &plain, 1, y);
	}
	rep_drop(&plain);
	return st;
}

static enum status move(struct exec *x, struct rep *data, int n, struct rep *y)
{
	if (x->step->node != x->step->last)
		return move_seen(x, data, y);
	if (x->whole && whole_take(x->whole, data, n, y, x->width)) {
		exec_inherit(y, &data[0]);
		return STATUS_OK;
	}
	if (x->node->op->id == OP_Concat && concat_blocks(x, data, n))
		return concat_copy(x, data, n, y);
	if (splits_blocks(x, &data[0].t)) {
		split_share(x, &data[0], y);
		return STATUS_OK;
	}
	enum status st = transpose_blocks(x, x->node, &data[0], &data[0].t.shape, y);
	if (st == STATUS_UNSUPPORTED && x->err->text[0] == '\0')
		st = resize_blocks(x, &data[0], y);
	return st == STATUS_UNSUPPORTED && x->err->text[0] == '\0' ? move_plain(x, data, n, y) : st;
}

enum status exec_move(struct exec *x)
{
	if (!moves_codes(x))
		return STATUS_UNSUPPORTED;
	int n = data_inputs(x->node), n_out = x->node->n_out;
	struct rep *data = xcalloc((size_t)n, sizeof *data), *y = xcalloc((size_t)n_out, sizeof *y);
	enum status st = take_inputs(x, data, n);
	if (st == STATUS_OK)
		st = move(x, data, n, y);
	for (int i = 0; st == STATUS_OK && i < n_out; i++)
		st = exec_finish(x, i, &y[i]);
	for (int i = 0; i < n; i++)
		rep_drop(&data[i]);
	for (int i = 0; i < n_out; i++)
		rep_drop(&y[i]);
	free(data);
	free(y);
	return st;
}
