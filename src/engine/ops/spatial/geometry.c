// conv_geometry: the two-dimensional view of convolutions and poolings that prepared kernels are made from.
#include "conv.h"

static void fill(struct conv_geometry *g, const struct window *w, int64_t n, int64_t c, int64_t oc, int64_t group)
{
	*g = (struct conv_geometry){.n = n,
	    .c = c,
	    .oc = oc,
	    .group = group,
	    .h = w->in[1],
	    .w = w->in[2],
	    .kh = w->kernel[1],
	    .kw = w->kernel[2],
	    .oh = w->out[1],
	    .ow = w->out[2],
	    .stride_h = w->stride[1],
	    .stride_w = w->stride[2],
	    .dil_h = w->dilation[1],
	    .dil_w = w->dilation[2],
	    .pad_t = w->before[1],
	    .pad_l = w->before[2],
	    .pad_b = w->after[1],
	    .pad_r = w->after[2]};
}

static bool is_pool(enum op_id id)
{
	return id == OP_MaxPool || id == OP_AveragePool || id == OP_LpPool;
}

bool conv_geometry(struct conv_geometry *out, const struct node *n, const struct shape *x, const struct shape *w)
{
	struct error err;
	struct convolve t = {.group = 1};
	if (x->rank < 3 || x->rank > 4)
		return false;
	if (is_pool(n->op->id)) {
		struct window_spec spec = window_of_pool(n->attrs);
		if (window_resolve(&t.win, &spec, x, NULL, &err) != STATUS_OK)
			return false;
		t.n = x->dim[0];
		t.c = t.oc = x->dim[1];
	} else if (conv_resolve(&t, n->attrs, x, w, n->op->id == OP_ConvTranspose, &err) != STATUS_OK) {
		return false;
	}
	fill(out, &t.win, t.n, t.c, t.oc, t.group);
	return true;
}

bool conv_geometry_deep(struct conv_geometry *g, struct conv_depth *d, const struct node *n, const struct shape *x, const struct shape *w)
{
	struct error err;
	struct convolve t;
	const struct window *v = &t.win;
	if (n->op->id != OP_Conv || x->rank != 5 || conv_resolve(&t, n->attrs, x, w, false, &err) != STATUS_OK)
		return false;
	*d = (struct conv_depth){.n = t.n,
	    .c = t.c,
	    .in = v->in[0],
	    .out = v->out[0],
	    .taps = v->kernel[0],
	    .stride = v->stride[0],
	    .dil = v->dilation[0],
	    .pad = v->before[0]};
	fill(g, v, 1, t.c * d->taps, t.oc, t.group);
	return true;
}

bool pool_geometry_deep(struct conv_geometry *slices, struct conv_geometry *columns, const struct node *n, const struct shape *x)
{
	struct error err;
	struct window w;
	struct window_spec spec;
	if (n->op->id != OP_MaxPool || x->rank != 5)
		return false;
	spec = window_of_pool(n->attrs);
	if (window_resolve(&w, &spec, x, NULL, &err) != STATUS_OK)
		return false;
	int64_t channels = x->dim[1] * w.in[0], pixels = w.out[1] * w.out[2];
	fill(slices, &w, x->dim[0], channels, channels, 1);
	*columns = (struct conv_geometry){.n = x->dim[0],
	    .c = x->dim[1],
	    .oc = x->dim[1],
	    .group = 1,
	    .h = w.in[0],
	    .w = pixels,
	    .kh = w.kernel[0],
	    .kw = 1,
	    .oh = w.out[0],
	    .ow = pixels,
	    .stride_h = w.stride[0],
	    .stride_w = 1,
	    .dil_h = w.dilation[0],
	    .dil_w = 1,
	    .pad_t = w.before[0],
	    .pad_b = w.after[0]};
	return true;
}
