// DeformConv: convolution whose kernel positions are moved by offsets, with an optional mask, over two spatial
// dimensions.
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "../../kernels/product/product.h"
#include "../rule.h"
#include "qtui/base/mem.h"
#include "qtui/base/parts.h"
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

// Positions of the output and channels that are sampled at a time: their samples stay in the cache for the product.
enum { PIECE = 256, CHANNELS = 128, CORNERS = 4 };

// Where one position of the kernel falls: of each corner the place in the plane, -1 outside, and its share of the sample.
struct spot {
	int64_t at[CORNERS];
	float share[CORNERS];
};

struct operands {
	struct window w;
	const float *x, *weight, *offset, *mask, *bias;
	int64_t c, oc, group, offset_group;
	float *y;
};

struct piece {
	const struct operands *t;
	int64_t n, group, first, count; // positions of the output
	struct spot *spot;              // of each position
	float *samples, *sums;          // [channels, count], [output channels of the group, count]
};

static struct spot find_spot(const struct window *w, double y, double x, double mask)
{
	struct spot s = {.at = {-1, -1, -1, -1}};
	if (!(y > -1 && x > -1 && y < (double)w->in[1] && x < (double)w->in[2]))
		return s;
	int64_t top = (int64_t)floor(y), left = (int64_t)floor(x);
	double down = y - (double)top, right = x - (double)left;
	for (int i = 0; i < CORNERS; i++) {
		int64_t row = top + i / 2, column = left + i % 2;
		if (row >= 0 && column >= 0 && row < w->in[1] && column < w->in[2])
			s.at[i] = row * w->in[2] + column;
		s.share[i] = (float)(mask * (i / 2 ? down : 1 - down) * (i % 2 ? right : 1 - right));
	}
	return s;
}

static void find_spots(const struct piece *p, int64_t offset_group, int64_t tap)
{
	const struct operands *t = p->t;
	const struct window *w = &t->w;
	int64_t size = window_out(w), plane = (p->n * t->offset_group + offset_group) * window_kernel(w) + tap;
	for (int64_t i = 0; i < p->count; i++) {
		int64_t o = p->first + i, oy = o / w->out[2], ox = o % w->out[2];
		const float *offset = t->offset + plane * 2 * size + o;
		double y = (double)(oy * w->stride[1] - w->before[1] + tap / w->kernel[2] * w->dilation[1]) + (double)offset[0];
		double x = (double)(ox * w->stride[2] - w->before[2] + tap % w->kernel[2] * w->dilation[2]) + (double)offset[size];
		p->spot[i] = find_spot(w, y, x, t->mask ? (double)t->mask[plane * size + o] : 1);
	}
}

static void sample(const struct spot *spot, const float *plane, float *to, int64_t count)
{
	for (int64_t i = 0; i < count; i++) {
		to[i] = 0;
		for (int k = 0; k < CORNERS; k++)
			to[i] += spot[i].at[k] < 0 ? 0 : spot[i].share[k] * plane[spot[i].at[k]];
	}
}

// What one position of the kernel and `count` channels of the group, from `from` on, add to the sums.
static void add_tap(const struct piece *p, int64_t tap, int64_t from, int64_t count)
{
	const struct operands *t = p->t;
	int64_t cg = t->c / t->group, per = t->oc / t->group, taps = window_kernel(&t->w), shared = t->c / t->offset_group;
	const struct matrices m = {.m = per, .n = p->count, .k = count, .a_row = cg * taps, .a_col = taps, .b_row = p->count, .b_col = 1};
	for (int64_t i = 0; i < count; i++) {
		int64_t c = p->group * cg + from + i;
		if (i == 0 || c % shared == 0)
			find_spots(p, c / shared, tap);
		sample(p->spot, t->x + (p->n * t->c + c) * window_in(&t->w), p->samples + i * p->count, p->count);
	}
	product_floats(&m, t->weight + (p->group * per * cg + from) * taps + tap, p->samples, p->sums, 1);
}

static void one_piece(const struct piece *p)
{
	const struct operands *t = p->t;
	int64_t cg = t->c / t->group, per = t->oc / t->group, size = window_out(&t->w);
	for (int64_t i = 0; i < per * p->count; i++)
		p->sums[i] = t->bias ? t->bias[p->group * per + i / p->count] : 0;
	for (int64_t from = 0; from < cg; from += CHANNELS)
		for (int64_t tap = 0; tap < window_kernel(&t->w); tap++)
			add_tap(p, tap, from, cg - from < CHANNELS ? cg - from : CHANNELS);
	for (int64_t k = 0; k < per; k++)
		memcpy(t->y + (p->n * t->oc + p->group * per + k) * size + p->first, p->sums + k * p->count, (size_t)p->count * sizeof *t->y);
}

struct pieces {
	const struct operands *t;
	int64_t per_plane;
	float *scratch;
	size_t each; // floats of a thread's scratch
};

static void do_piece(void *arg, int64_t i, int thread)
{
	const struct pieces *c = arg;
	struct spot spot[PIECE];
	float *samples = c->scratch + (size_t)thread * c->each;
	int64_t plane = i / c->per_plane, first = i % c->per_plane * PIECE, left = window_out(&c->t->w) - first;
	one_piece(&(struct piece){.t = c->t,
	    .n = plane / c->t->group,
	    .group = plane % c->t->group,
	    .first = first,
	    .count = left < PIECE ? left : PIECE,
	    .spot = spot,
	    .samples = samples,
	    .sums = samples + CHANNELS * PIECE});
}

static enum status convolve(const struct operands *t, int64_t batch, int width, struct error *err)
{
	struct pieces c = {.t = t, .per_plane = (window_out(&t->w) + PIECE - 1) / PIECE, .each = (size_t)(CHANNELS + t->oc / t->group) * PIECE};
	c.scratch = mem_try_array(c.each * (size_t)width, sizeof *c.scratch);
	if (!c.scratch)
		return error_set(err, STATUS_NOMEM, "no memory for the samples of a convolution");
	parts_share(batch * t->group * c.per_plane, width, do_piece, &c);
	free(c.scratch);
	return STATUS_OK;
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
	    .bias = bias ? bias->data : NULL,
	    .c = in[0]->shape.dim[1],
	    .oc = in[1]->shape.dim[0],
	    .group = a->group,
	    .offset_group = a->offset_group,
	    .y = out[0].data};
	enum status s = resolve(&t.w, n, in, err);
	return s == STATUS_OK ? convolve(&t, in[0]->shape.dim[0], width, err) : s;
}
