// An image's tiles are taken in chunks whose transformed inputs stay in the second-level cache. For each panel
// of output channels, the sums of a chunk are made position by position and become outputs at once, epilogue included.
#include "winograd.h"

#include <stdlib.h>
#include <string.h>
#include "kept.h"
#include "onednn_conv.h"
#include "qtui/base/parts.h"

enum {
	CHUNK_FLOATS = 1 << 15, // of transformed inputs
	CHUNK_LEAST = 12,       // tiles: with fewer, reading the kernels takes longer than the products
	CHUNK_MOST = 96,
};

struct winograd {
	struct kernel base;
	const struct winograd_loops *loops;
	struct conv_task task;       // its weight and bias are not kept
	int64_t lanes;               // channels of a block
	int64_t blocks, out_blocks;
	int64_t tile_rows, tile_columns;
	float *weight, *bias;        // bias: of all blocks, zero where there is none
};

static int64_t most(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

// The kernels of the panel that begins with this block of outputs.
static float *kernels_at(const struct winograd *k, int64_t block)
{
	return k->weight + block * k->blocks * k->lanes * k->lanes * WINOGRAD_POSITIONS;
}

// How a run is cut: each piece is a chunk of an image's tiles and a part of the panels.
struct cut {
	int64_t tiles, chunks, chunk, parts;
	size_t v_step, m_step; // floats between positions
};

// Positions are written side by side: were their distance a multiple of the cache's way,
// they would push each other out.
static size_t apart(int64_t floats)
{
	return round_up((size_t)floats, 1024) + 32;
}

static struct cut cut_of(const struct winograd *k, int width)
{
	struct cut c = {.tiles = k->tile_rows * k->tile_columns};
	int64_t fit = CHUNK_FLOATS / (k->blocks * k->lanes * WINOGRAD_POSITIONS);
	int64_t chunks = ceil_div(c.tiles, least(CHUNK_MOST, most(CHUNK_LEAST, fit)));
	if (k->task.g.n < width)
		chunks = least(ceil_div(chunks, width) * width, ceil_div(c.tiles, CHUNK_LEAST));
	c.chunk = ceil_div(c.tiles, chunks);
	c.chunks = ceil_div(c.tiles, c.chunk);
	c.parts = least(panel_count(k->out_blocks), ceil_div(width, k->task.g.n * c.chunks));
	c.v_step = apart(k->blocks * c.chunk * k->lanes);
	c.m_step = apart(c.chunk * PANEL_WIDEST * k->lanes);
	return c;
}

// Tiles side by side of one row of tiles: what inputs and outputs are handled by.
struct run {
	int64_t row, column, tiles, done; // done: the chunk's tiles before these
};

// A chunk in work.
struct piece {
	const struct winograd *k;
	const struct kernel_io *io;
	struct cut cut;
	int64_t image, first, tiles;
	float *v, *m, *zeros; // zeros: a row above or below the image
};

static bool next_run(struct run *r, const struct piece *p)
{
	int64_t columns = p->k->tile_columns;
	r->done += r->tiles;
	r->row = (p->first + r->done) / columns;
	r->column = (p->first + r->done) % columns;
	r->tiles = least(columns - r->column, p->tiles - r->done);
	return r->tiles > 0;
}

static void transform(const struct piece *p)
{
	const struct winograd *k = p->k;
	const struct conv_geometry *g = &k->task.g;
	int64_t row = g->w * k->lanes;
	memset(p->zeros, 0, (size_t)row * sizeof(float));
	for (struct run r = {0}; next_run(&r, p);)
		for (int64_t b = 0; b < k->blocks; b++) {
			const float *plane = (const float *)p->io->x + (p->image * k->blocks + b) * g->h * row;
			struct winograd_rows from = {.pixels = g->w};
			for (int64_t i = 0, y = 2 * r.row - g->pad_t; i < 4; i++, y++)
				from.row[i] = y >= 0 && y < g->h ? plane + y * row : p->zeros;
			k->loops->input(p->v + (b * p->tiles + r.done) * k->lanes, (int64_t)p->cut.v_step, &from,
			    2 * r.column - g->pad_l, r.tiles);
		}
}

static void multiply(const struct piece *p, int64_t block, int width)
{
	const struct winograd *k = p->k;
	int64_t step = k->blocks * width * k->lanes * k->lanes;
	struct panel_product x = {.v_step = p->tiles * k->lanes, .now = kernels_at(k, block), .blocks = k->blocks,
	    .tiles = p->tiles, .width = width};
	for (int i = 0; i < WINOGRAD_POSITIONS; i++, x.now = x.next) {
		bool last = block + width == k->out_blocks && i + 1 == WINOGRAD_POSITIONS;
		x.v = p->v + (size_t)i * p->cut.v_step;
		x.next = last ? k->weight : x.now + step;
		k->loops->product(p->m + (size_t)i * p->cut.m_step, &x);
	}
}

static void finish_run(const struct piece *p, const struct run *r, int64_t block, const float *m, int width)
{
	const struct winograd *k = p->k;
	const struct conv_geometry *g = &k->task.g;
	const struct epilogue *e = &k->task.epi;
	struct winograd_output o = {.m = m, .m_step = (int64_t)p->cut.m_step, .m_tile = width * k->lanes,
	    .bias = k->bias + block * k->lanes, .pixels = least(2 * r->tiles, g->ow - 2 * r->column)};
	bool done = panel_finish_of(&o.finish, e);
	for (int i = 0; i < 2 && 2 * r->row + i < g->oh; i++) {
		int64_t at = (((p->image * k->out_blocks + block) * g->oh + 2 * r->row + i) * g->ow + 2 * r->column) * k->lanes;
		o.y[i] = (float *)p->io->y + at;
		o.residual[i] = e->add == ADD_NONE ? NULL : (const float *)p->io->residual + at;
	}
	k->loops->output(&o);
	for (int i = 0; !done && i < 2 && o.y[i]; i++)
		kept_epilogue(e, o.y[i], o.residual[i], o.pixels * k->lanes);
}

static void run_panel(const struct piece *p, int64_t panel)
{
	const struct winograd *k = p->k;
	int64_t block = panel_begin(k->out_blocks, panel);
	int width = (int)(panel_begin(k->out_blocks, panel + 1) - block);
	multiply(p, block, width);
	for (struct run r = {0}; next_run(&r, p);)
		for (int j = 0; j < width; j++)
			finish_run(p, &r, block + j, p->m + (r.done * width + j) * k->lanes, width);
}

static size_t thread_floats(const struct winograd *k, const struct cut *c)
{
	return (c->v_step + c->m_step) * WINOGRAD_POSITIONS + round_up((size_t)(k->task.g.w * k->lanes), 16);
}

struct call {
	const struct winograd *k;
	const struct kernel_io *io;
	struct cut cut;
};

// A part_fn of struct call.
static void run_piece(void *arg, int64_t i, int thread)
{
	const struct winograd *k = ((const struct call *)arg)->k;
	const struct kernel_io *io = ((const struct call *)arg)->io;
	const struct cut *c = &((const struct call *)arg)->cut;
	int64_t part = i % c->parts, chunk = i / c->parts % c->chunks, panels = panel_count(k->out_blocks);
	float *v = (float *)io->scratch + (size_t)thread * thread_floats(k, c), *m = v + c->v_step * WINOGRAD_POSITIONS;
	struct piece p = {.k = k, .io = io, .cut = *c, .image = i / c->parts / c->chunks, .first = chunk * c->chunk,
	    .tiles = least(c->chunk, c->tiles - chunk * c->chunk), .v = v, .m = m, .zeros = m + c->m_step * WINOGRAD_POSITIONS};
	transform(&p);
	for (int64_t panel = panels * part / c->parts; panel < panels * (part + 1) / c->parts; panel++)
		run_panel(&p, panel);
}

static void winograd_run(const struct kernel *kernel, const struct kernel_io *io)
{
	const struct winograd *k = (const struct winograd *)kernel;
	struct call c = {k, io, cut_of(k, io->width)};
	parts_deal(k->task.g.n * c.cut.chunks * c.cut.parts, io->width, run_piece, &c);
	conv_desc_clear_padding(io->y, &k->task.g, &k->task.epi.act);
}

static size_t winograd_scratch(const struct kernel *kernel, int width)
{
	const struct winograd *k = (const struct winograd *)kernel;
	const struct cut c = cut_of(k, width);
	return (size_t)width * thread_floats(k, &c) * sizeof(float);
}

static void winograd_free(struct kernel *kernel)
{
	struct winograd *k = (struct winograd *)kernel;
	free(k->weight);
	free(k->bias);
	free(k);
}

static const struct kernel_ops ops = {winograd_run, winograd_scratch, winograd_free};

static void pack(struct winograd *k, const float *weight)
{
	const struct conv_geometry *g = &k->task.g;
	for (int64_t panel = 0; panel < panel_count(k->out_blocks); panel++) {
		int64_t first = panel_begin(k->out_blocks, panel) * k->lanes, end = panel_begin(k->out_blocks, panel + 1) * k->lanes,
		        row = end - first;
		float *to = kernels_at(k, panel_begin(k->out_blocks, panel));
		for (int64_t c = 0; c < g->c; c++)
			for (int64_t oc = first; oc < least(end, g->oc); oc += k->lanes)
				k->loops->weights(to + c * row + oc - first, k->blocks * k->lanes * row, weight + (oc * g->c + c) * 9,
				    g->c * 9, (int)least(k->lanes, g->oc - oc));
	}
}

// In cycles for a pair of channels: a tile takes one, a pixel of the direct sum 9/16;
// to read the kernels takes 8 (64 bytes from the caches) and 4.5. What a tile's transforms take is less
// than what the direct sum loses where they count, with few channels.
static bool pays(const struct conv_geometry *g)
{
	int64_t tiles = ceil_div(g->oh, 2) * ceil_div(g->ow, 2);
	return 16 * (tiles + 8) < 9 * (g->oh * g->ow + 8);
}

// The loops for the blocks that tensors are in; NULL where this processor does not run them.
static const struct winograd_loops *loops_here(void)
{
	const struct winograd_loops *of_block = layout_block() == winograd_avx512.lanes ? &winograd_avx512 : &winograd_avx2;
	return cpu_level() >= of_block->level ? of_block : NULL;
}

static bool serves(const struct conv_task *t)
{
	const struct conv_geometry *g = &t->g;
	return loops_here() && !t->transposed && !t->ordered && !t->exact && t->in == LAYOUT_BLOCK && t->out == LAYOUT_BLOCK &&
	    g->group == 1 && g->kh == 3 && g->kw == 3 && g->stride_h == 1 && g->stride_w == 1 && g->dil_h == 1 && g->dil_w == 1 && pays(g);
}

static struct winograd *new_kernel(const struct conv_task *t)
{
	struct winograd *k = xcalloc(1, sizeof *k);
	k->base.ops = &ops;
	k->loops = loops_here();
	k->lanes = k->loops->lanes;
	k->task = *t;
	k->task.weight = k->task.bias = NULL;
	k->blocks = ceil_div(t->g.c, k->lanes);
	k->out_blocks = ceil_div(t->g.oc, k->lanes);
	k->tile_rows = ceil_div(t->g.oh, 2);
	k->tile_columns = ceil_div(t->g.ow, 2);
	return k;
}

enum status winograd_conv(struct kernel **out, const struct conv_task *t, struct error *err)
{
	if (!serves(t))
		return STATUS_UNSUPPORTED;
	struct winograd *k = new_kernel(t);
	*out = &k->base;
	k->base.bytes = (size_t)(k->out_blocks * k->blocks * k->lanes * k->lanes * WINOGRAD_POSITIONS) * sizeof *k->weight;
	enum status s = panel_memory(&k->weight, k->base.bytes, &k->bias, k->out_blocks * k->lanes, t, err);
	if (s == STATUS_OK)
		pack(k, t->weight);
	else
		kernel_free(out);
	return s;
}
