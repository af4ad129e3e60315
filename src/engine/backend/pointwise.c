#include "pointwise.h"

#include <stdlib.h>
#include "kept.h"
#include "onednn_conv.h"
#include "qtui/base/parts.h"

enum {
	LANES = 16,
	MOST_PIXELS = 400,
};

struct pointwise {
	struct kernel base;
	struct conv_task task; // its weight and bias are not kept
	int64_t blocks, out_blocks;
	float *weight, *bias;  // [panel][input channel][output channel]; of all blocks, zero where there is none
};

// The weights of the panel that begins with this block of outputs.
static float *weights_at(const struct pointwise *k, int64_t block)
{
	return k->weight + block * k->blocks * LANES * LANES;
}

struct call {
	const struct pointwise *k;
	const struct kernel_io *io;
};

// A part_fn of struct call.
static void run_panel(void *arg, int64_t part, int thread)
{
	const struct pointwise *k = ((const struct call *)arg)->k;
	const struct kernel_io *io = ((const struct call *)arg)->io;
	int64_t panels = panel_count(k->out_blocks), image = part / panels, panel = part % panels;
	const struct epilogue *e = &k->task.epi;
	int64_t pixels = k->task.g.oh * k->task.g.ow, plane = pixels * LANES;
	int64_t block = panel_begin(k->out_blocks, panel), end = panel_begin(k->out_blocks, panel + 1);
	int64_t at = (image * k->out_blocks + block) * plane;
	struct pointwise_panel p = {
	    .product = {.v = (const float *)io->x + image * k->blocks * plane, .v_step = plane, .now = weights_at(k, block),
	        .next = weights_at(k, end < k->out_blocks ? end : 0), .blocks = k->blocks, .tiles = pixels, .width = (int)(end - block)},
	    .bias = k->bias + block * LANES, .y = (float *)io->y + at, .y_step = plane,
	    .residual = e->add == ADD_NONE ? NULL : (const float *)io->residual + at};
	bool done = panel_finish_of(&p.finish, e);
	(void)thread;
	pointwise_avx512(&p);
	if (!done)
		kept_epilogue(e, p.y, p.residual, (end - block) * plane);
}

static void pointwise_run(const struct kernel *kernel, const struct kernel_io *io)
{
	const struct pointwise *k = (const struct pointwise *)kernel;
	parts_share(k->task.g.n * panel_count(k->out_blocks), io->width, run_panel, &(struct call){k, io});
	conv_desc_clear_padding(io->y, &k->task.g, &k->task.epi.act);
}

static void pointwise_free(struct kernel *kernel)
{
	struct pointwise *k = (struct pointwise *)kernel;
	free(k->weight);
	free(k->bias);
	free(k);
}

static const struct kernel_ops ops = {pointwise_run, NULL, pointwise_free};

static void pack(struct pointwise *k, const float *weight)
{
	const struct conv_geometry *g = &k->task.g;
	for (int64_t panel = 0; panel < panel_count(k->out_blocks); panel++) {
		int64_t begin = panel_begin(k->out_blocks, panel), first = begin * LANES;
		int64_t width = panel_begin(k->out_blocks, panel + 1) * LANES - first, outputs = width < g->oc - first ? width : g->oc - first;
		float *to = weights_at(k, begin);
		for (int64_t c = 0; c < g->c; c++)
			for (int64_t i = 0; i < outputs; i++)
				to[c * width + i] = weight[(first + i) * g->c + c];
	}
}

static bool serves(const struct conv_task *t)
{
	const struct conv_geometry *g = &t->g;
	return cpu_level() >= CPU_AVX512 && !t->transposed && !t->ordered && t->in == LAYOUT_BLOCK && t->out == LAYOUT_BLOCK &&
	    g->group == 1 && g->kh == 1 && g->kw == 1 && g->stride_h == 1 && g->stride_w == 1 && g->oh == g->h && g->ow == g->w &&
	    !g->pad_t && !g->pad_l && g->oh * g->ow <= MOST_PIXELS;
}

static struct pointwise *new_kernel(const struct conv_task *t)
{
	struct pointwise *k = xcalloc(1, sizeof *k);
	k->base.ops = &ops;
	k->task = *t;
	k->task.weight = k->task.bias = NULL;
	k->blocks = (t->g.c + LANES - 1) / LANES;
	k->out_blocks = (t->g.oc + LANES - 1) / LANES;
	k->base.bytes = (size_t)(k->blocks * k->out_blocks * LANES * LANES) * sizeof *k->weight;
	return k;
}

enum status pointwise_conv(struct kernel **out, const struct conv_task *t, struct error *err)
{
	if (!serves(t))
		return STATUS_UNSUPPORTED;
	struct pointwise *k = new_kernel(t);
	*out = &k->base;
	enum status s = panel_memory(&k->weight, k->base.bytes, &k->bias, k->out_blocks * LANES, t, err);
	if (s == STATUS_OK)
		pack(k, t->weight);
	else
		kernel_free(out);
	return s;
}
