// Conv over three spatial dimensions, a slice of the output at a time, by the kernels for two: the planes that
// a slice's taps see are its channels. What a kernel gives is the definition's: the same products are summed.
#include <string.h>
#include "exec_conv.h"
#include "qtui/base/parts.h"

struct deep {
	struct conv_geometry g;
	struct conv_depth d;
	struct shape shape; // of the output
	bool integer;
	struct prepared p;
};

static void blank(void *plane, const struct rep *like, int64_t pixels)
{
	if (dtype_size(like->t.type) == 1)
		memset(plane, like->zero, (size_t)pixels);
	else if (!like->coded)
		memset(plane, 0, (size_t)pixels * sizeof(float));
	else
		for (int64_t i = 0; i < pixels; i++)
			((int16_t *)plane)[i] = (int16_t)like->zero;
}

// Planes that go from one tensor to another: those of slice `slice` of image n.
struct moving {
	struct rep *to;
	const struct rep *from;
	const struct deep *k;
	int64_t n, slice;
};

static void spread_plane(void *arg, int64_t i, int thread)
{
	const struct moving *m = arg;
	const struct conv_depth *d = &m->k->d;
	int64_t pixels = m->k->g.h * m->k->g.w, c = i / d->taps, z = m->slice * d->stride + i % d->taps * d->dil - d->pad;
	size_t plane = (size_t)pixels * dtype_size(m->from->t.type);
	char *at = (char *)m->to->t.data + (size_t)i * plane;
	(void)thread;
	if (z >= 0 && z < d->in)
		memcpy(at, (const char *)m->from->t.data + (size_t)((m->n * d->c + c) * d->in + z) * plane, plane);
	else
		blank(at, m->from, pixels);
}

// The planes that the slice sees, side by side; where taps lie outside of the input, what stands for zero.
static void spread(struct moving m, int width)
{
	parts_share(m.k->d.c * m.k->d.taps, width, spread_plane, &m);
}

static void gather_plane(void *arg, int64_t c, int thread)
{
	const struct moving *m = arg;
	const struct conv_geometry *g = &m->k->g;
	size_t plane = (size_t)(g->oh * g->ow) * dtype_size(m->to->t.type);
	(void)thread;
	memcpy((char *)m->to->t.data + (size_t)((m->n * g->oc + c) * m->k->d.out + m->slice) * plane,
	    (const char *)m->from->t.data + (size_t)c * plane, plane);
}

// Puts the planes of the slice where they lie in the output.
static void gather(struct moving m, int width)
{
	parts_share(m.k->g.oc, width, gather_plane, &m);
}

static enum status run_slice(struct exec *x, const struct deep *k, struct rep *planes, struct rep *out, struct rep *y, int64_t n, int64_t slice)
{
	struct rep in = {0}, plain = {0};
	enum status st = rep_to_layout(&in, planes, k->p.in, x->width, x->err);
	if (st == STATUS_OK)
		st = exec_kernel(x, k->p.kernel, &(struct kernel_io){.x = in.t.data, .y = out->t.data});
	if (st == STATUS_OK)
		st = rep_to_layout(&plain, out, LAYOUT_PLAIN, x->width, x->err);
	if (st == STATUS_OK)
		gather((struct moving){y, &plain, k, n, slice}, x->width);
	rep_drop(&in);
	rep_drop(&plain);
	return st;
}

static enum status run(struct exec *x, const struct deep *k, struct rep *in, struct rep *y)
{
	const struct conv_geometry *g = &k->g;
	struct shape of_planes = shape_of(4, (int64_t[]){1, g->c, g->h, g->w}), of_slice = shape_of(4, (int64_t[]){1, g->oc, g->oh, g->ow});
	struct rep planes = {0}, out = {0};
	enum status st = rep_alloc(&planes, in->t.type, LAYOUT_PLAIN, &of_planes, x->err);
	if (st == STATUS_OK && in->coded)
		rep_set_quantizer(&planes, rep_quantizer(in));
	if (st == STATUS_OK)
		st = rep_alloc(&out, y->t.type, k->p.out, &of_slice, x->err);
	for (int64_t i = 0; st == STATUS_OK && i < k->d.n * k->d.out; i++) {
		spread((struct moving){&planes, in, k, i / k->d.out, i % k->d.out}, x->width);
		st = run_slice(x, k, &planes, &out, y, i / k->d.out, i % k->d.out);
	}
	rep_drop(&planes);
	rep_drop(&out);
	return st;
}

// A file that is quantized already has its floats summed by the operator, in the order that it says.
static bool serves(struct exec *x, struct deep *k)
{
	if (x->node->op->id != OP_Conv || x->e->quantized_file || x->residual || !exec_float_input(x, 0))
		return false;
	const struct tensor *w = exec_conv_weights(x);
	return w && exec_out_shape(x, &k->shape) == STATUS_OK && shape_count(&k->shape) > 0 &&
	    conv_geometry_deep(&k->g, &k->d, x->node, &x->in[0]->t.shape, &w->shape) &&
	    shape_count(&k->shape) == k->d.n * k->d.out * k->g.oc * k->g.oh * k->g.ow;
}

enum status exec_conv_deep(struct exec *x)
{
	struct deep k;
	struct rep in = {0}, y = {0};
	enum status st = STATUS_OK;
	if (!serves(x, &k))
		return STATUS_UNSUPPORTED;
	k.integer = affine_possible(x);
	if (k.integer)
		in = rep_share(x->in[0]);
	else
		st = rep_to_float(&in, x->in[0], x->width, x->err);
	if (st == STATUS_OK)
		st = exec_conv_kernel(x, &k.g, k.integer, &k.p);
	if (st == STATUS_OK)
		st = exec_alloc(x, &y, exec_kernel_type(x, k.integer), LAYOUT_PLAIN, &k.shape);
	if (st == STATUS_OK)
		st = run(x, &k, &in, &y);
	if (st == STATUS_OK)
		st = exec_finish_kernel(x, k.integer, &y);
	rep_drop(&in);
	rep_drop(&y);
	return st;
}
