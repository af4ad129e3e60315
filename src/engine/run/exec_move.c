// Operators that only move or select elements work on codes as well as on floats: pooling by maximum, Concat, Resize to the
// nearest, and (in plain layout, through the operator's own code) Reshape, Transpose, Split, Gather and the like.
// Quantizing commutes with moving, so inputs are brought onto the output's grid first.
#include <stdlib.h>
#include <string.h>
#include "../ops/reduce.h"
#include "attr.h"
#include "exec.h"
#include "places.h"

// Input i on the grid of the step's output: codes of the output quantizer if it has one; without one, as it is.
static enum status on_output_grid(struct exec *x, int i, struct rep *out)
{
	const struct quantizer *oq = exec_out_quantizer(x, 0);
	if (oq && x->in[i]->t.type == DT_F32 && !x->in[i]->coded)
		return rep_apply(out, x->in[i], oq, x->width, x->err);
	if (oq && x->in[i]->coded)
		return rep_apply(out, x->in[i], oq, x->width, x->err);
	*out = rep_share(x->in[i]);
	return STATUS_OK;
}

// May the data inputs 0..n-1 be moved as codes: all on one grid, or all float?
static bool same_form(struct rep *const *in, int n)
{
	for (int i = 1; i < n; i++) {
		if (in[i]->coded != in[0]->coded || in[i]->t.type != in[0]->t.type)
			return false;
		if (in[0]->coded && !quantizer_same_grid(rep_quantizer(in[0]), rep_quantizer(in[i])))
			return false;
	}
	return true;
}

// The result of moving `from`: its codes mean what they meant.
static void inherit(struct rep *y, struct rep *from)
{
	if (from->coded)
		rep_set_quantizer(y, rep_quantizer(from));
}

// A mean over rows and columns is what GlobalAveragePool gives.
static bool is_plane_mean(const struct exec *x)
{
	const struct node *n = x->node;
	const struct tensor *in[2] = {x->in[0] ? &x->in[0]->t : NULL, n->n_in > 1 && x->in[1] ? &x->in[1]->t : NULL};
	bool gone[SHAPE_MAX_RANK] = {false};
	if (n->op->id != OP_ReduceMean || !in[0] || in[0]->layout != LAYOUT_BLOCK || in[0]->shape.rank != 4)
		return false;
	struct error err;
	return reduce_axes(gone, n, in, &err) == STATUS_OK && !gone[0] && !gone[1] && gone[2] && gone[3];
}

static bool is_pool(const struct exec *x)
{
	enum op_id id = x->node->op->id;
	return ((id == OP_MaxPool || id == OP_AveragePool || id == OP_GlobalAveragePool || id == OP_GlobalMaxPool) && x->node->n_out == 1) ||
	    is_plane_mean(x);
}

static bool pool_task_of(struct exec *x, struct rep *in, struct pool_task *t, struct shape *shape)
{
	enum op_id id = x->node->op->id;
	bool global = id == OP_GlobalAveragePool || id == OP_GlobalMaxPool || id == OP_ReduceMean;
	const int rank = in->t.shape.rank;
	if (rank < 3 || rank > 4 || exec_out_shape(x, shape) != STATUS_OK || shape_count(shape) <= 0)
		return false;
	*t = (struct pool_task){.layout = in->t.layout, .type = in->t.type};
	t->max = x->node->op->id == OP_MaxPool || x->node->op->id == OP_GlobalMaxPool;
	if (global) {
		const int64_t *d = in->t.shape.dim, h = rank == 4 ? d[2] : 1, w = d[rank - 1];
		*shape = shape_of(rank, (int64_t[]){d[0], d[1], 1, 1});
		t->g = (struct conv_geometry){.n = d[0], .c = d[1], .h = h, .w = w, .oc = d[1], .kh = h, .kw = w, .oh = 1, .ow = 1,
		    .stride_h = 1, .stride_w = 1, .dil_h = 1, .dil_w = 1, .group = d[1]};
		return true;
	}
	const struct pool_attrs *a = x->node->attrs;
	t->count_include_pad = a->count_include_pad != 0;
	return a->storage_order == 0 && conv_geometry(&t->g, x->node, &in->t.shape, NULL, shape);
}

// The result in the shape that the operator gives it: a mean may leave the dimensions out that it takes.
static enum status finish_pool(struct exec *x, struct rep *y)
{
	struct shape shape;
	struct rep plain = {0};
	enum status st = exec_out_shape(x, &shape);
	if (st == STATUS_OK && shape.rank == y->t.shape.rank)
		return exec_finish(x, 0, y);
	if (st == STATUS_OK)
		st = rep_to_layout(&plain, y, LAYOUT_PLAIN, x->width, x->err);
	if (st != STATUS_OK)
		return st;
	plain.t.shape = shape;
	return exec_finish(x, 0, &plain);
}

struct making {
	struct exec *x;
	const struct pool_task *t;
};

static enum status make_pool(void *arg, struct prepared *p)
{
	const struct making *m = arg;
	return kernel_pool(&p->kernel, m->t, m->x->err);
}

static enum status pool(struct exec *x, const char *kind, const struct pool_task *t, const struct rep *in, struct rep *y)
{
	struct prepared p;
	struct key k = key_add_int(key_add_int(exec_kernel_key(x, kind), t->layout), t->type);
	enum status st = kernels_get(x->e->kernels, x->worker, k, make_pool, &(struct making){x, t}, &p);
	return st == STATUS_OK ? exec_kernel(x, p.kernel, &(struct kernel_io){.x = in->t.data, .y = y->t.data}) : st;
}

// Over three dimensions: of every slice, then of what that gives along the depth.
static enum status pool_deep(struct exec *x, struct rep *in, struct rep *y)
{
	struct conv_geometry slices, columns;
	struct shape shape;
	struct rep flat = {0};
	if (((const struct pool_attrs *)x->node->attrs)->storage_order != 0 || in->t.layout != LAYOUT_PLAIN ||
	    exec_out_shape(x, &shape) != STATUS_OK || shape_count(&shape) <= 0 || !pool_geometry_deep(&slices, &columns, x->node, &in->t.shape))
		return STATUS_UNSUPPORTED;
	struct shape of_slices = shape_of(4, (int64_t[]){columns.n, columns.c, columns.h, columns.w});
	struct pool_task t = {.g = slices, .max = true, .layout = LAYOUT_PLAIN, .type = in->t.type};
	enum status st = rep_alloc(&flat, in->t.type, LAYOUT_PLAIN, &of_slices, x->err);
	if (st == STATUS_OK)
		st = pool(x, "pool of slices", &t, in, &flat);
	if (st == STATUS_OK)
		st = exec_alloc(x, y, in->t.type, LAYOUT_PLAIN, &shape);
	t.g = columns;
	if (st == STATUS_OK)
		st = pool(x, "pool of columns", &t, &flat, y);
	rep_drop(&flat);
	return st;
}

static enum status pool_flat(struct exec *x, struct rep *in, struct rep *y)
{
	struct pool_task t;
	struct shape shape;
	if (!pool_task_of(x, in, &t, &shape))
		return STATUS_UNSUPPORTED;
	enum status st = exec_alloc(x, y, in->t.type, in->t.layout, &shape);
	return st == STATUS_OK ? pool(x, "pool", &t, in, y) : st;
}

enum status exec_pool(struct exec *x)
{
	struct rep in = {0}, y = {0};
	if (!is_pool(x) || !exec_float_input(x, 0) || x->step->epi.act.kind != ACT_NONE)
		return STATUS_UNSUPPORTED;
	bool max = x->node->op->id == OP_MaxPool || x->node->op->id == OP_GlobalMaxPool;
	enum status st = max ? on_output_grid(x, 0, &in) : rep_to_float(&in, x->in[0], x->width, x->err);
	if (st == STATUS_OK)
		st = (x->node->op->id == OP_MaxPool && in.t.shape.rank == 5 ? pool_deep : pool_flat)(x, &in, &y);
	if (st == STATUS_OK) {
		inherit(&y, &in);
		exec_gain(x, &y);
		st = finish_pool(x, &y);
	}
	rep_drop(&in);
	rep_drop(&y);
	return st;
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
	inherit(y, &in[0]);
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
			inherit(&y[i], &data[0]);
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

// Pad writes a value of its own; Where and Scatter mix tensors: they go through floats.
static bool moves_codes(const struct exec *x)
{
	static const enum op_id other[] = {OP_Pad, OP_Where, OP_ScatterND, OP_ScatterElements};
	for (size_t i = 0; i < sizeof other / sizeof *other; i++)
		if (x->node->op->id == other[i])
			return false;
	return ((x->node->op->flags & (OPF_MOVES | OPF_VIEW)) || resize_selects(x)) && exec_float_input(x, 0) &&
	    x->step->epi.act.kind == ACT_NONE && !is_pool(x);
}

// Split over channels in whole blocks: each part is a run of blocks of the input.
static enum status split_blocks(struct exec *x, struct rep *in)
{
	if (x->node->op->id != OP_Split || in->t.layout != LAYOUT_BLOCK || in->t.shape.rank != 4 || in->t.shape.dim[0] != 1)
		return STATUS_UNSUPPORTED;
	const struct axis_attrs *a = x->node->attrs;
	if ((a->axis < 0 ? a->axis + in->t.shape.rank : a->axis) != 1)
		return STATUS_UNSUPPORTED;
	for (int i = 0; i < x->node->n_out; i++) {
		const struct shape *s = &x->g->value[x->node->out[i]].shape;
		if (s->rank != 4 || (i + 1 < x->node->n_out && s->dim[1] % layout_block() != 0))
			return STATUS_UNSUPPORTED;
	}
	size_t at = 0;
	for (int i = 0; i < x->node->n_out; i++) {
		struct rep *y = &x->out[i];
		*y = rep_share(in);
		y->t.shape = x->g->value[x->node->out[i]].shape;
		y->t.data = (char *)in->t.data + at;
		at += tensor_bytes(&y->t);
	}
	return STATUS_OK;
}

enum status exec_move(struct exec *x)
{
	if (!moves_codes(x))
		return STATUS_UNSUPPORTED;
	int n = data_inputs(x->node), n_out = x->node->n_out;
	struct rep *data = xcalloc((size_t)n, sizeof *data), *y = xcalloc((size_t)n_out, sizeof *y);
	struct rep **form = xcalloc((size_t)n, sizeof *form);
	enum status st = STATUS_OK;
	for (int i = 0; st == STATUS_OK && i < n; i++) {
		st = on_output_grid(x, i, &data[i]);
		form[i] = &data[i];
	}
	for (int i = 0; st == STATUS_OK && !same_form(form, n) && i < n; i++) {
		struct rep f = {0};
		st = rep_to_float(&f, &data[i], x->width, x->err);
		rep_drop(&data[i]);
		data[i] = f;
	}
	bool done = false;
	if (st == STATUS_OK && x->whole && whole_take(x->whole, data, n, y, x->width)) {
		inherit(y, &data[0]);
		done = true;
	}
	if (st == STATUS_OK && !done && x->node->op->id == OP_Concat && concat_blocks(x, data, n)) {
		st = concat_copy(x, data, n, y);
		done = true;
	}
	if (st == STATUS_OK && !done && split_blocks(x, &data[0]) == STATUS_OK) {
		memcpy(y, x->out, (size_t)n_out * sizeof *y);
		memset(x->out, 0, (size_t)n_out * sizeof *y);
		done = true;
	}
	if (st == STATUS_OK && !done) {
		st = resize_blocks(x, &data[0], y);
		if (st == STATUS_UNSUPPORTED && x->err->text[0] == '\0')
			st = move_plain(x, data, n, y);
	}
	for (int i = 0; st == STATUS_OK && i < n_out; i++)
		st = exec_finish(x, i, &y[i]);
	for (int i = 0; i < n; i++)
		rep_drop(&data[i]);
	for (int i = 0; i < n_out; i++)
		rep_drop(&y[i]);
	free(data);
	free(form);
	free(y);
	return st;
}
