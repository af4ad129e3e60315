// Poolings by the kernels for them, and what comes to the same: a mean or a maximum over all pixels.
// Maxima work on codes as on floats.
#include "../../ops/reduction/reduce.h"
#include "exec.h"

enum { MAXIMUM = 1, GLOBAL = 2, REDUCES = 4 };
static const unsigned char kinds[OP_COUNT] = {
	[OP_GlobalAveragePool] = GLOBAL,
	[OP_GlobalMaxPool] = MAXIMUM | GLOBAL,
	[OP_MaxPool] = MAXIMUM,
	[OP_ReduceMax] = MAXIMUM | GLOBAL | REDUCES,
	[OP_ReduceMean] = GLOBAL | REDUCES,
};

static bool is(const struct exec *x, int what)
{
	return (kinds[x->node->op->id] & what) != 0;
}

// Whether a reduction takes all pixels of every channel, and no more. In plain layout its own code is as good.
static bool reduces_planes(const struct exec *x)
{
	const struct node *n = x->node;
	const struct tensor *in[2] = {&x->in[0]->t, n->n_in > 1 && x->in[1] ? &x->in[1]->t : NULL};
	bool gone[SHAPE_MAX_RANK] = {false}, all = true;
	struct error err;
	if (in[0]->layout != LAYOUT_BLOCK || reduce_axes(gone, n, in, &err) != STATUS_OK)
		return false;
	for (int i = 2; i < in[0]->shape.rank; i++)
		all &= gone[i];
	return !gone[0] && !gone[1] && all;
}

bool exec_is_pool(const struct exec *x)
{
	enum op_id id = x->node->op->id;
	if (x->node->n_out != 1 || !exec_float_input(x, 0))
		return false;
	return is(x, REDUCES) ? reduces_planes(x) : id == OP_AveragePool || kinds[id];
}

static bool pool_task_of(struct exec *x, struct rep *in, struct pool_task *t, struct shape *shape)
{
	const int rank = in->t.shape.rank;
	if (rank < 3 || rank > 4 || exec_out_shape(x, shape) != STATUS_OK || shape_count(shape) <= 0)
		return false;
	*t = (struct pool_task){.layout = in->t.layout, .type = in->t.type, .max = is(x, MAXIMUM), .max_nan = is(x, REDUCES)};
	if (is(x, GLOBAL)) {
		const int64_t *d = in->t.shape.dim, h = rank == 4 ? d[2] : 1, w = d[rank - 1];
		*shape = shape_of(rank, (int64_t[]){d[0], d[1], 1, 1});
		t->g = (struct conv_geometry){.n = d[0], .c = d[1], .h = h, .w = w, .oc = d[1], .kh = h, .kw = w, .oh = 1, .ow = 1,
		    .stride_h = 1, .stride_w = 1, .dil_h = 1, .dil_w = 1, .group = d[1]};
		return true;
	}
	const struct pool_attrs *a = x->node->attrs;
	t->count_include_pad = a->count_include_pad != 0;
	return a->storage_order == 0 && conv_geometry(&t->g, x->node, &in->t.shape, NULL);
}

// The result in the shape that the operator gives it: a reduction may leave the dimensions out that it takes.
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
	if (!exec_is_pool(x))
		return STATUS_UNSUPPORTED;
	enum status st = is(x, MAXIMUM) ? exec_on_output_grid(x, 0, &in) : rep_to_float(&in, x->in[0], x->width, x->err);
	if (st == STATUS_OK)
		st = (x->node->op->id == OP_MaxPool && in.t.shape.rank == 5 ? pool_deep : pool_flat)(x, &in, &y);
	if (st == STATUS_OK) {
		exec_inherit(&y, &in);
		exec_gain(x, &y);
		st = finish_pool(x, &y);
	}
	rep_drop(&in);
	rep_drop(&y);
	return st;
}
