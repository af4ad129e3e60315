// Conv over three spatial dimensions, a slice of the output at a time, by the kernels for two: the planes that
// a slice's taps see are its channels. What a kernel gives is the definition's: the same products are summed.
#include <string.h>
#include "exec_conv.h"

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

// The planes that slice `slice` of image n sees, side by side;
// where taps lie outside of the input, what stands for zero.
static void spread(struct rep *to, const struct rep *from, const struct deep *k, int64_t n, int64_t slice, int width)
{
	const struct conv_depth *d = &k->d;
	int64_t pixels = k->g.h * k->g.w;
	size_t plane = (size_t)pixels * dtype_size(from->t.type);

#pragma omp parallel for num_threads(width) if (width > 1)
	for (int64_t i = 0; i < d->c * d->taps; i++) {
		int64_t c = i / d->taps, z = slice * d->stride + i % d->taps * d->dil - d->pad;
		char *at = (char *)to->t.data + (size_t)i * plane;
		if (z >= 0 && z < d->in)
			memcpy(at, (const char *)from->t.data + (size_t)((n * d->c + c) * d->in + z) * plane, plane);
		else
			blank(at, from, pixels);
	}
}

// Puts the planes of a slice where they lie in the output.
static void gather(struct rep *y, const struct rep *slice, const struct deep *k, int64_t n, int64_t at, int width)
{
	size_t plane = (size_t)(k->g.oh * k->g.ow) * dtype_size(y->t.type);

#pragma omp parallel for num_threads(width) if (width > 1)
	for (int64_t c = 0; c < k->g.oc; c++)
		memcpy((char *)y->t.data + (size_t)((n * k->g.oc + c) * k->d.out + at) * plane, (const char *)slice->t.data + (size_t)c * plane, plane);
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
		gather(y, &plain, k, n, slice, x->width);
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
		spread(&planes, in, k, i / k->d.out, i % k->d.out, x->width);
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
