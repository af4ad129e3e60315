// DeformConv: convolution whose kernel positions are moved by offsets, with an optional mask, over two spatial
// dimensions.
#include <math.h>
#include "../rule.h"
#include "window.h"

static enum status resolve(struct window *w, const struct node *n, const struct tensor *const *in, struct error *err)
{
	const struct deform_attrs *a = n->attrs;
	const struct shape *x = &in[0]->shape, *k = &in[1]->shape;
	struct window_spec spec = {.auto_pad = "NOTSET",
	    .strides = &a->strides,
	    .dilations = &a->dilations,
	    .pads = &a->pads,
	    .kernel_shape = &a->kernel_shape};
	if (x->rank != 4 || k->rank != 4)
		return error_set(err, STATUS_UNSUPPORTED, "the input has rank %d, only 4 is supported", x->rank);
	if (!rule_within(a->group, 1, RULE_MAX_DIM) || !rule_within(a->offset_group, 1, RULE_MAX_DIM) ||
	    k->dim[1] * a->group != x->dim[1] || k->dim[0] % a->group || x->dim[1] % a->offset_group)
		return error_set(err, STATUS_FORMAT, "channels, group and offset_group do not fit together");
	return window_resolve(w, &spec, x, k->dim + 2, err);
}

enum status deform_shape(const struct node *n, const struct tensor *const *in, struct tensor *out, struct error *err)
{
	int64_t groups = ((const struct deform_attrs *)n->attrs)->offset_group;
	const struct tensor *bias = rule_input(n, in, 3), *mask = rule_input(n, in, 4);
	struct window w;
	struct shape y, wanted;
	enum status s = resolve(&w, n, in, err);
	if (s != STATUS_OK)
		return s;
	y = window_shape(&w, in[0]->shape.dim[0], in[1]->shape.dim[0]);
	wanted = window_shape(&w, in[0]->shape.dim[0], groups * window_kernel(&w) * 2);
	if (!shape_equal(&in[2]->shape, &wanted))
		return error_set(err, STATUS_FORMAT, "the offsets do not have the shape of the output's positions");
	wanted.dim[1] /= 2;
	if ((mask && !shape_equal(&mask->shape, &wanted)) || (bias && tensor_count(bias) != y.dim[1]))
		return error_set(err, STATUS_FORMAT, "mask or bias does not fit the output");
	rule_set(&out[0], DT_F32, &y);
	return STATUS_OK;
}

static double pixel(const struct window *w, const float *plane, int64_t y, int64_t x)
{
	return y < 0 || x < 0 || y >= w->in[1] || x >= w->in[2] ? 0 : (double)plane[y * w->in[2] + x];
}

static double sample(const struct window *w, const float *plane, double y, double x)
{
	double fy, fx;
	int64_t y0, x0;
	if (!(y > -1 && x > -1 && y < (double)w->in[1] && x < (double)w->in[2]))
		return 0;
	y0 = (int64_t)floor(y);
	x0 = (int64_t)floor(x);
	fy = y - (double)y0;
	fx = x - (double)x0;
	return (1 - fy) * ((1 - fx) * pixel(w, plane, y0, x0) + fx * pixel(w, plane, y0, x0 + 1)) +
	       fy * ((1 - fx) * pixel(w, plane, y0 + 1, x0) + fx * pixel(w, plane, y0 + 1, x0 + 1));
}

struct operands {
	struct window w;
	const float *x, *weight, *offset, *mask;
	int64_t c, per_offset; // channels of the input, and those that share offsets
};

// One input channel's share of one output element.
static double channel_sum(const struct operands *t, int64_t n, int64_t c, int64_t o, const float *weight)
{
	int64_t taps = window_kernel(&t->w), size = window_out(&t->w), oy = o / t->w.out[2], ox = o % t->w.out[2];
	int64_t group = n * (t->c / t->per_offset) + c / t->per_offset;
	const float *plane = t->x + (n * t->c + c) * window_in(&t->w);
	double sum = 0;
	for (int64_t k = 0; k < taps; k++) {
		const float *offset = t->offset + (group * taps + k) * 2 * size + o;
		double y = (double)(oy * t->w.stride[1] - t->w.before[1] + k / t->w.kernel[2] * t->w.dilation[1]) +
		           (double)offset[0];
		double x = (double)(ox * t->w.stride[2] - t->w.before[2] + k % t->w.kernel[2] * t->w.dilation[2]) +
		           (double)offset[size];
		double m = t->mask ? (double)t->mask[(group * taps + k) * size + o] : 1;
		sum += (double)weight[k] * m * sample(&t->w, plane, y, x);
	}
	return sum;
}

enum status deform_eval(
    const struct node *n, const struct tensor *const *in, struct tensor *out, int width, struct error *err)
{
	const struct deform_attrs *a = n->attrs;
	const struct tensor *bias = rule_input(n, in, 3), *mask = rule_input(n, in, 4);
	struct operands t = {.x = in[0]->data,
	    .weight = in[1]->data,
	    .offset = in[2]->data,
	    .mask = mask ? mask->data : NULL,
	    .c = in[0]->shape.dim[1],
	    .per_offset = in[0]->shape.dim[1] / a->offset_group};
	int64_t oc = in[1]->shape.dim[0], cg = in[1]->shape.dim[1], per = oc / a->group, size;
	enum status s = resolve(&t.w, n, in, err);
	if (s != STATUS_OK)
		return s;
	size = window_out(&t.w);
#pragma omp parallel for num_threads(width) if (width > 1)
	for (int64_t i = 0; i < tensor_count(&out[0]); i++) {
		int64_t k = i / size % oc, first = k / per * cg;
		double sum = bias ? (double)((const float *)bias->data)[k] : 0;
		for (int64_t c = 0; c < cg; c++)
			sum += channel_sum(
			    &t, i / size / oc, first + c, i % size, t.weight + (k * cg + c) * window_kernel(&t.w));
		((float *)out[0].data)[i] = (float)sum;
	}
	return STATUS_OK;
}
