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

// Blocks of channels: outputs of a panel, and the inputs that any of them has.
struct panel_blocks {
	int64_t begin, end, from, to;
};

static struct panel_blocks panel_blocks(const struct conv_geometry *g, int64_t panel)
{
	int64_t out_blocks = (g->oc + LANES - 1) / LANES, c_group = g->c / g->group, oc_group = g->oc / g->group;
	struct panel_blocks b = {.begin = panel_begin(out_blocks, panel), .end = panel_begin(out_blocks, panel + 1)};
	int64_t last = (b.end * LANES < g->oc ? b.end * LANES : g->oc) - 1;
	b.from = b.begin * LANES / oc_group * c_group / LANES;
	b.to = ((last / oc_group + 1) * c_group + LANES - 1) / LANES;
	return b;
}

// The weights of the panel that begins with this block of outputs.
static float *weights_at(const struct pointwise *k, int64_t block)
{
	return k->weight + block * k->blocks * LANES * LANES;
}

struct call {
	const struct pointwise *k;
	const struct kernel_io *io;
	int64_t slices; // that a panel's pixels go in
};

// A part_fn of struct call.
static void run_slice(void *arg, int64_t part, int thread)
{
	const struct call *call = arg;
	const struct pointwise *k = call->k;
	const struct kernel_io *io = call->io;
	int64_t panels = panel_count(k->out_blocks), slice = part % call->slices, panel = part / call->slices % panels;
	int64_t image = part / call->slices / panels, pixels = k->task.g.oh * k->task.g.ow, plane = pixels * LANES;
	int64_t first = pixels * slice / call->slices, count = pixels * (slice + 1) / call->slices - first;
	const struct epilogue *e = &k->task.epi;
	struct panel_blocks b = panel_blocks(&k->task.g, panel);
	int64_t at = (image * k->out_blocks + b.begin) * plane + first * LANES;
	struct pointwise_panel p = {
	    .product = {.v = (const float *)io->x + (image * k->blocks + b.from) * plane + first * LANES, .v_step = plane,
	        .now = weights_at(k, b.begin), .next = weights_at(k, b.end < k->out_blocks ? b.end : 0), .blocks = b.to - b.from,
	        .tiles = count, .width = (int)(b.end - b.begin)},
	    .bias = k->bias + b.begin * LANES, .y = (float *)io->y + at, .y_step = plane,
	    .residual = e->add == ADD_NONE ? NULL : (const float *)io->residual + at};
	bool done = panel_finish_of(&p.finish, e);
	(void)thread;
	pointwise_avx512(&p);
	for (int64_t at_block = 0; !done && at_block < (b.end - b.begin) * plane; at_block += plane)
		kept_epilogue(e, p.y + at_block, p.residual ? p.residual + at_block : NULL, count * LANES);
}

// Panels that threads cannot share evenly, three by two, are sliced.
static void pointwise_run(const struct kernel *kernel, const struct kernel_io *io)
{
	const struct pointwise *k = (const struct pointwise *)kernel;
	int64_t panels = k->task.g.n * panel_count(k->out_blocks);
	struct call call = {k, io, io->width <= 1 || panels % io->width == 0 || k->task.g.oh * k->task.g.ow < io->width ? 1 : io->width};
	parts_share(panels * call.slices, io->width, run_slice, &call);
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
	int64_t c_group = g->c / g->group, oc_group = g->oc / g->group;
	for (int64_t panel = 0; panel < panel_count(k->out_blocks); panel++) {
		struct panel_blocks b = panel_blocks(g, panel);
		int64_t first = b.begin * LANES, width = b.end * LANES - first, outputs = width < g->oc - first ? width : g->oc - first;
		float *to = weights_at(k, b.begin);
		for (int64_t i = 0; i < outputs; i++) {
			int64_t oc = first + i, c0 = oc / oc_group * c_group - b.from * LANES;
			for (int64_t c = 0; c < c_group; c++)
				to[(c0 + c) * width + i] = weight[oc * c_group + c];
		}
	}
}

// Groups that do not fill blocks: oneDNN would take the zeros between them for weights.
static bool saves_products(const struct conv_geometry *g)
{
	struct grouping as;
	int64_t out_blocks = (g->oc + LANES - 1) / LANES, here = 0;
	if (!conv_desc_group(&as, g))
		return false;
	for (int64_t panel = 0; panel < panel_count(out_blocks); panel++) {
		struct panel_blocks b = panel_blocks(g, panel);
		here += (b.end - b.begin) * (b.to - b.from);
	}
	return here * as.group * LANES * LANES * 4 < as.c * as.oc * 3;
}

static bool serves(const struct conv_task *t)
{
	const struct conv_geometry *g = &t->g;
	return cpu_level() >= CPU_AVX512 && !t->transposed && !t->ordered && t->in == LAYOUT_BLOCK && t->out == LAYOUT_BLOCK &&
	    conv_is_pointwise(g) && (g->group == 1 ? g->oh * g->ow <= MOST_PIXELS : saves_products(g));
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
