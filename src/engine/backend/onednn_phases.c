// Transposed convolution as ordinary convolutions: the outputs whose position leaves the same remainder (phase)
// modulo the stride meet the same taps of the kernel, every stride-th one, and no two phases share a tap.
// A phase is a convolution of stride 1 by those taps in reverse, whose pixels then go to their places in the output.
// (oneDNN's own transposed convolution runs at a tenth to a fifth of the speed of its convolution.)
//
// Where it costs no more, all phases are the channels of one convolution, whose window holds the windows of all:
// where the kernel is as wide as the stride, and where the channels of one phase would leave most of a block empty.
#include <stdlib.h>
#include <string.h>
#include "kept.h"
#include "onednn_conv.h"
#include "qtui/base/parts.h"

// Along one axis, output j of a phase is made of inputs j + first, j + first + 1, ...
struct window {
	int64_t first, taps, outputs, pad_after;
};

// One convolution and the phases that it computes, phase[from] to phase[from + n - 1].
struct part {
	struct window y, x;
	int from, n;
	struct kernel *conv;
};

struct phases {
	struct kernel base;
	struct conv_task task; // its weight and bias are not kept
	bool apart;            // the epilogue is done on the whole output
	int n, n_parts;
	struct part part[];
};

// An axis of the transposed convolution, in pixels and taps.
struct axis {
	int64_t in, out, taps, stride, pad;
};

// The window of the outputs at, at + stride, ... for n positions from `at` on;
// false when it has no taps or would crop its input.
static bool find_window(struct window *w, int64_t at, int64_t n, const struct axis *a)
{
	int64_t tap = (at + a->pad) % a->stride, taps = (a->taps - tap + a->stride - 1) / a->stride;
	w->first = (at + a->pad) / a->stride - taps + 1;
	w->taps = (at + n - 1 + a->pad) / a->stride - w->first + 1;
	w->outputs = (a->out - at + a->stride - 1) / a->stride;
	w->pad_after = w->outputs - a->in + w->first + w->taps - 1;
	return w->taps > 0 && w->outputs > 0 && w->first <= 0 && w->pad_after >= 0;
}

static bool find_windows(struct part *p, const struct conv_geometry *g)
{
	int64_t columns = g->stride_w, n_y = p->n > 1 ? g->stride_h : 1, n_x = p->n > 1 ? columns : 1;
	const struct axis y = {g->h, g->oh, g->kh, g->stride_h, g->pad_t}, x = {g->w, g->ow, g->kw, g->stride_w, g->pad_l};
	return find_window(&p->y, p->from / columns, n_y, &y) && find_window(&p->x, p->from % columns, n_x, &x);
}

static struct conv_geometry part_geometry(const struct conv_geometry *g, const struct part *p)
{
	return (struct conv_geometry){
		.n = g->n, .c = g->c, .h = g->h, .w = g->w, .oc = p->n * g->oc, .group = g->group,
		.kh = p->y.taps, .kw = p->x.taps, .oh = p->y.outputs, .ow = p->x.outputs,
		.stride_h = 1, .stride_w = 1, .dil_h = 1, .dil_w = 1,
		.pad_t = -p->y.first, .pad_b = p->y.pad_after, .pad_l = -p->x.first, .pad_r = p->x.pad_after,
	};
}

// Multiply-adds of a pixel and an input channel, those with the padding of the channels included.
static int64_t work(const struct conv_geometry *g, const struct part *p)
{
	return (int64_t)round_up((size_t)(p->n * g->oc), (size_t)layout_block()) * p->y.taps * p->x.taps;
}

// The taps of the part's phases in reverse, 0 where a phase has none, as [phase, OC, C / group, rows, columns].
static void fill_taps(float *dst, const struct conv_task *t, const struct part *p)
{
	const struct conv_geometry *g = &t->g;
	int64_t c_group = g->c / g->group, oc_group = g->oc / g->group, pairs = g->oc * c_group;
	for (int64_t i = 0; i < p->n * pairs; i++) {
		int64_t oc = i % pairs / c_group, phase = p->from + i / pairs;
		const float *w = kept_weights(t, oc, oc / oc_group * c_group + i % c_group);
		for (int64_t y = 0; y < p->y.taps; y++)
			for (int64_t x = 0; x < p->x.taps; x++) {
				int64_t ky = phase / g->stride_w + g->pad_t - (y + p->y.first) * g->stride_h;
				int64_t kx = phase % g->stride_w + g->pad_l - (x + p->x.first) * g->stride_w;
				*dst++ = ky >= 0 && ky < g->kh && kx >= 0 && kx < g->kw ? w[ky * g->kw + kx] : 0.0f;
			}
	}
}

static void fill_bias(float *dst, const struct conv_task *t, const struct part *p)
{
	for (int i = 0; i < p->n && t->bias; i++)
		memcpy(dst + i * t->g.oc, t->bias, (size_t)t->g.oc * sizeof *dst);
}

static enum status make_part(struct phases *k, struct part *p, const struct conv_task *t, struct error *err)
{
	struct conv_task task = {.g = part_geometry(&t->g, p), .in = LAYOUT_BLOCK, .out = LAYOUT_BLOCK, .exact = t->exact};
	int64_t weights = conv_weight_count(&task.g);
	float *constants = mem_try_array((size_t)(weights + task.g.oc), sizeof *constants);
	if (!constants)
		return error_set(err, STATUS_NOMEM, "no memory for the weights of a transposed convolution");
	fill_taps(constants, t, p);
	fill_bias(constants + weights, t, p);
	task.weight = constants;
	task.bias = t->bias ? constants + weights : NULL;
	if (!k->apart)
		task.epi = t->epi;
	enum status s = onednn_conv(&p->conv, &task, err);
	free(constants);
	if (s == STATUS_OK)
		k->base.bytes += kernel_bytes(p->conv);
	return s;
}

// A row of a phase's pixels as they lie in a part's result, and where they go:
// every `step`-th pixel of a row of the output.
struct pixels {
	const float *from;
	float *to;
	int64_t n, step;
};

static void place_blocks(const struct pixels *p, int64_t block)
{
	for (int64_t i = 0; i < p->n; i++)
		memcpy(p->to + i * p->step * block, p->from + i * block, (size_t)block * sizeof *p->to);
}

static void place_lane(const struct pixels *p, int64_t block)
{
	for (int64_t i = 0; i < p->n; i++)
		p->to[i * p->step] = p->from[i * block];
}

// One phase, the i-th of its part, whose result is at `from`: whole blocks of channels where the output is blocked,
// else one channel after the other.
struct placing {
	const struct phases *k;
	const struct part *p;
	int i;
	float *y;
	const float *from;
	int64_t unit, planes, rows; // channels of a plane of the output; planes; the phase's rows of each
	int64_t at_y, at_x;         // where it begins
};

static void place_row(void *arg, int64_t i, int thread)
{
	const struct placing *w = arg;
	const struct conv_geometry *g = &w->k->task.g;
	const struct part *p = w->p;
	int64_t block = layout_block(), stored = (p->n * g->oc + block - 1) / block; // blocks of the part's result
	int64_t plane = i / w->rows, row = i % w->rows, c = w->i * g->oc + plane % w->planes * w->unit;
	int64_t source = ((plane / w->planes * stored + c / block) * p->y.outputs + row) * p->x.outputs;
	struct pixels line = {
		.from = w->from + source * block + c % block, .n = (g->ow - w->at_x + g->stride_w - 1) / g->stride_w, .step = g->stride_w,
		.to = w->y + ((plane * g->oh + w->at_y + row * g->stride_h) * g->ow + w->at_x) * w->unit,
	};
	(void)thread;
	(w->k->task.out == LAYOUT_BLOCK ? place_blocks : place_lane)(&line, block);
}

static void place(const struct phases *k, const struct part *p, int i, const struct kernel_io *io)
{
	const struct conv_geometry *g = &k->task.g;
	struct placing w = {.k = k, .p = p, .i = i, .y = io->y, .from = io->scratch, .unit = k->task.out == LAYOUT_BLOCK ? layout_block() : 1,
		.at_y = (p->from + i) / g->stride_w, .at_x = (p->from + i) % g->stride_w};
	w.planes = (g->oc + w.unit - 1) / w.unit;
	w.rows = (g->oh - w.at_y + g->stride_h - 1) / g->stride_h;
	parts_share(g->n * w.planes * w.rows, io->width, place_row, &w);
}

static size_t result_bytes(const struct phases *k, const struct part *p)
{
	size_t channels = round_up((size_t)(p->n * k->task.g.oc), (size_t)layout_block());
	return round_up((size_t)(k->task.g.n * p->y.outputs * p->x.outputs) * channels * sizeof(float), 64);
}

static void phases_run(const struct kernel *kernel, const struct kernel_io *io)
{
	const struct phases *k = (const struct phases *)kernel;
	const struct conv_geometry *g = &k->task.g;
	int64_t unit = k->task.out == LAYOUT_BLOCK ? layout_block() : 1;
	for (const struct part *p = k->part; p < k->part + k->n_parts; p++) {
		struct kernel_io one = {io->x, NULL, NULL, io->scratch, (char *)io->scratch + result_bytes(k, p), io->width};
		kernel_run(p->conv, &one);
		for (int i = 0; i < p->n; i++)
			place(k, p, i, io);
	}
	if (!k->apart)
		return;
	conv_epilogue(&k->task.epi, io->y, io->residual, g->n * (int64_t)round_up((size_t)g->oc, (size_t)unit) * g->oh * g->ow, io->width);
	if (k->task.out == LAYOUT_BLOCK)
		conv_desc_clear_padding(io->y, g, &k->task.epi.act);
}

static size_t phases_scratch(const struct kernel *kernel, int width)
{
	const struct phases *k = (const struct phases *)kernel;
	size_t most = 0;
	for (const struct part *p = k->part; p < k->part + k->n_parts; p++) {
		size_t one = result_bytes(k, p) + kernel_scratch(p->conv, width);
		most = one > most ? one : most;
	}
	return most;
}

static void phases_free(struct kernel *kernel)
{
	struct phases *k = (struct phases *)kernel;
	for (int i = 0; i < k->n_parts; i++)
		kernel_free(&k->part[i].conv);
	free(k);
}

static const struct kernel_ops ops = {phases_run, phases_scratch, phases_free};

// More phases than this are not worth a kernel each.
#define MAX_PHASES 16

// An input of one row or column meets each tap once, whatever the stride: as wide as the kernel,
// it leaves no taps that meet nothing. (Phases of no output can only be computed together with others.)
static struct conv_geometry widest_strides(struct conv_geometry g)
{
	if (g.group != 1)
		return g;
	if (g.h == 1)
		g.stride_h = g.kh > g.stride_h ? g.kh : g.stride_h;
	if (g.w == 1)
		g.stride_w = g.kw > g.stride_w ? g.kw : g.stride_w;
	return g;
}

// Each phase is a convolution of its own; -1 where one would have no taps or crop its input, else the work of all.
static int64_t plan_each(struct phases *k)
{
	int64_t all = 0;
	k->n_parts = k->n;
	for (int i = 0; i < k->n; i++) {
		k->part[i] = (struct part){.from = i, .n = 1};
		if (!find_windows(&k->part[i], &k->task.g))
			return -1;
		all += work(&k->task.g, &k->part[i]);
	}
	return all;
}

// False when the phases can be computed neither each by itself nor together.
static bool plan_parts(struct phases *k)
{
	const struct conv_geometry *g = &k->task.g;
	int64_t each = plan_each(k);
	struct part joint = {.n = k->n};
	bool aligned = k->task.out == LAYOUT_PLAIN || g->oc % layout_block() == 0; // a block of the output comes from one block
	if (g->group == 1 && aligned && find_windows(&joint, g) && (each < 0 || work(g, &joint) <= each)) {
		k->part[0] = joint;
		k->n_parts = 1;
		return true;
	}
	return each >= 0;
}

enum status onednn_phases(struct kernel **out, const struct conv_task *t, struct error *err)
{
	struct conv_task task = *t;
	task.g = widest_strides(t->g);
	int64_t n = task.g.stride_h * task.g.stride_w;
	if (t->in != LAYOUT_BLOCK || n > MAX_PHASES || t->g.dil_h * t->g.dil_w != 1)
		return STATUS_UNSUPPORTED;
	struct phases *k = xcalloc(1, sizeof *k + (size_t)n * sizeof *k->part);
	k->base.ops = &ops;
	k->task = task;
	k->task.weight = k->task.bias = NULL;
	k->apart = t->epi.add != ADD_NONE || t->out == LAYOUT_PLAIN;
	k->n = (int)n;
	enum status s = plan_parts(k) ? STATUS_OK : STATUS_UNSUPPORTED;
	for (int i = 0; i < k->n_parts && s == STATUS_OK; i++)
		s = make_part(k, &k->part[i], &task, err);
	*out = &k->base;
	if (s != STATUS_OK)
		kernel_free(out);
	return s;
}
