// Fast integer convolution: creation, and running tiles against panels.
#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include "qconv.h"
#include "qtui/base/parts.h"

// The limits of the weights, and a bound of |sum| over the channels.
static bool split_of(struct qconv *k, const struct qconv_task *t)
{
	const struct qentry *e = &k->image.entry;
	int64_t cg = t->g.c / t->g.group, taps = t->g.kh * t->g.kw, low = 0, high = 0;
	double worst = 0;
	for (int64_t oc = 0; oc < t->g.oc; oc++) {
		int64_t weights = 0;
		for (int64_t c = 0; c < cg; c++) {
			const int16_t *w = t->weight + qweight_offset(t, oc, c);
			for (int64_t i = 0; i < taps; i++) {
				low = w[i] < low ? w[i] : low;
				high = w[i] > high ? w[i] : high;
				weights += abs(w[i]);
			}
		}
		double sum = (double)weights * (e->reach + abs(e->pad));
		qfinish_tame(&k->finish, oc, sum);
		worst = fmax(worst, sum + fabs((double)k->finish.bias[oc]));
	}
	return qsplit_of(&k->split, e, low, high, worst);
}

static int64_t tiles_of(const struct qphase *p)
{
	return ((p->nh + p->tile_h - 1) / p->tile_h) * ((p->nw + p->tile_w - 1) / p->tile_w);
}

static int64_t tiles_all(const struct qconv *k)
{
	int64_t n = 0;
	for (int i = 0; i < k->n_phases; i++)
		n += tiles_of(&k->phases[i]);
	return n * k->g.n;
}

struct workspace {
	char *tile;
	const char **row;
	int64_t *at;
};

// A tile that a thread has filled, and may run several panels against: number `tile` of all, -1 before the first.
struct opened {
	int64_t tile;
	const struct qphase *p;
	int64_t pixels;
	struct workspace ws;
};

// First phase pixel of a tile.
struct corner {
	const struct qphase *p;
	int64_t n, i, j;
};

static struct corner corner_of(const struct qconv *k, int64_t tile)
{
	int64_t tiles = tiles_all(k) / k->g.n;
	struct corner x = {.n = tile / tiles};
	tile %= tiles;
	for (x.p = k->phases; tile >= tiles_of(x.p); x.p++)
		tile -= tiles_of(x.p);
	int64_t across = (x.p->nw + x.p->tile_w - 1) / x.p->tile_w;
	x.i = tile / across * x.p->tile_h;
	x.j = tile % across * x.p->tile_w;
	return x;
}

static size_t workspace_size(const struct qconv *k)
{
	return round_up(k->tile_bytes + QTILE_SLACK, 64) + round_up(k->tile_pixels * (sizeof(char *) + sizeof(int64_t)), 64);
}

static struct workspace workspace_at(const struct qconv *k, void *scratch, int thread)
{
	char *p = (char *)scratch + (size_t)thread * workspace_size(k);
	struct workspace ws = {.tile = p};
	p += round_up(k->tile_bytes + QTILE_SLACK, 64);
	ws.row = (const char **)p;
	ws.at = (int64_t *)(p + k->tile_pixels * sizeof(char *));
	return ws;
}

// Fills the tile and lists its pixels: where each lies in the tile and in the output.
static void open_tile(const struct qconv *k, const struct kernel_io *io, int64_t tile, struct opened *t)
{
	const struct corner x = corner_of(k, tile);
	const struct qphase *p = x.p;
	int64_t rows = p->nh - x.i < p->tile_h ? p->nh - x.i : p->tile_h, cols = p->nw - x.j < p->tile_w ? p->nw - x.j : p->tile_w;
	int64_t block = k->out == LAYOUT_BLOCK ? layout_block() : 1, plane = k->g.oh * k->g.ow, n = 0;
	int64_t image = (k->g.oc + block - 1) / block * block * plane * x.n, pixel = k->image.pitch * k->micro->size;
	const struct qarea area = {.n = x.n,
	    .row = x.i * p->stride_h + p->top,
	    .rows = (rows - 1) * p->stride_h + p->span_h,
	    .col = x.j * p->stride_w + p->left,
	    .cols = p->cols};
	qtile_fill(t->ws.tile, &k->image, k->micro, io->x, &area);
	for (int64_t i = 0; i < rows; i++) {
		const char *from = t->ws.tile + i * p->stride_h * p->cols * pixel;
		int64_t to = image + ((p->oh + (x.i + i) * p->step_h) * k->g.ow + p->ow + x.j * p->step_w) * block;
		for (int64_t j = 0; j < cols; j++, n++, from += p->stride_w * pixel, to += p->step_w * block) {
			t->ws.row[n] = from;
			t->ws.at[n] = to;
		}
	}
	t->tile = tile;
	t->p = p;
	t->pixels = n;
}

static void run_panels(const struct qconv *k, void *y, const struct opened *t, int64_t first, int64_t last)
{
	const struct qphase *p = t->p;
	const struct qjob job = {
		.micro = k->micro, .scaling = &k->scaling, .finish = &k->finish, .split = &k->split, .runs = p->runs, .n_runs = p->n_runs,
	};
	int64_t step = p->words * QWORD * QLANES;
	for (int64_t i = first, end; i < last; i = end) {
		int64_t group = i / k->panels;
		const struct qpanel panel = {
			.w = p->weight + i * step, .init = p->init + i * QLANES, .bias = p->bias + i * QLANES, .scale = k->scale + i * QLANES,
			.fbias = k->fbias + i * QLANES, .dest = &k->dest[i], .step = step,
			.first = group * (k->g.c / k->g.group) * k->micro->size,
		};
		end = (group + 1) * k->panels < last ? (group + 1) * k->panels : last;
		qpanel_run(&job, &panel, end - i, y, t->ws.row, t->ws.at, t->pixels);
	}
}

void qconv_pad_channels(const struct qconv *k, void *y)
{
	int64_t block = layout_block(), plane = k->g.oh * k->g.ow, oc = k->g.oc;
	for (int64_t n = 0; k->pads_last && oc % block != 0 && n < k->g.n; n++)
		qfinish_pad(&k->finish, y, act_offset(LAYOUT_BLOCK, block, oc, plane, n, oc, 0), block - oc % block, plane, block);
}

struct qshares qconv_shares(int64_t tiles, int64_t panels, int together, int width)
{
	const int64_t each = 4; // pieces that a thread should get at the least
	int64_t units = (panels + together - 1) / together, shares = 1;
	if (width > 1 && tiles < each * width)
		shares = (each * width + tiles - 1) / tiles;
	return (struct qshares){.n = shares < units ? shares : units, .units = units, .together = together, .panels = panels};
}

struct call {
	const struct qconv *k;
	const struct kernel_io *io;
	struct qshares shares; // of a tile
	atomic_llong next;     // share of a tile that nobody has begun
};

// A part_fn of struct call, one for each thread: draws shares, and fills a tile once for all that it has of it.
static void draw_shares(void *arg, int64_t drawer, int thread)
{
	struct call *c = arg;
	struct opened t = {.tile = -1, .ws = workspace_at(c->k, c->io->scratch, (int)drawer)};
	int64_t n = c->shares.n, all = tiles_all(c->k) * n;
	(void)thread;
	for (int64_t i; (i = atomic_fetch_add(&c->next, 1)) < all;) {
		if (t.tile != i / n)
			open_tile(c->k, c->io, i / n, &t);
		run_panels(c->k, c->io->y, &t, qshares_begin(&c->shares, i % n), qshares_begin(&c->shares, i % n + 1));
	}
}

static void run(const struct kernel *base, const struct kernel_io *io)
{
	const struct qconv *k = (const struct qconv *)base;
	struct call c = {k, io, qconv_shares(tiles_all(k), k->panels * k->g.group, k->micro->panels, io->width), 0};
	qconv_pad_channels(k, io->y);
	parts_share(io->width, io->width, draw_shares, &c);
}

static size_t scratch(const struct kernel *base, int width)
{
	return workspace_size((const struct qconv *)base) * (size_t)width;
}

void qconv_done(struct qconv *k)
{
	free(k->scale);
	free(k->fbias);
	free(k->dest);
	qfinish_done(&k->finish);
}

static void destroy(struct kernel *base)
{
	struct qconv *k = (struct qconv *)base;
	for (int i = 0; i < k->n_phases; i++) {
		free(k->phases[i].runs);
		free(k->phases[i].weight);
		free(k->phases[i].init);
		free(k->phases[i].bias);
	}
	free(k->phases);
	qconv_done(k);
	free(k);
}

static const struct kernel_ops ops = {.run = run, .scratch = scratch, .free = destroy};

// How many groups of few channels fill the lanes of a panel together.
static int64_t groups_together(const struct conv_geometry *g)
{
	int64_t most = QLANES / (g->oc / g->group), n = 1;
	for (int64_t i = 2; i <= most; i++)
		if (g->group % i == 0)
			n = i;
	return n;
}

// The same convolution in fewer groups, with weights of zero between those that are not
// together in the task; *own is the caller's.
static enum status merge_groups(struct qconv_task *wide, int16_t **own, const struct qconv_task *t, struct error *err)
{
	const struct conv_geometry *g = &t->g;
	int64_t n = groups_together(g), cg = g->c / g->group, ocg = g->oc / g->group, taps = g->kh * g->kw;
	*wide = *t;
	*own = NULL;
	if (n == 1)
		return STATUS_OK;
	*own = qalloc((size_t)(g->oc * cg), (size_t)(n * taps) * sizeof(int16_t));
	if (!*own)
		return error_set(err, STATUS_NOMEM, "no memory for the weights of %lld groups", (long long)g->group);
	wide->g.group /= n;
	wide->weight = *own;
	for (int64_t oc = 0; oc < g->oc; oc++)
		for (int64_t c = 0; c < cg; c++)
			memcpy(*own + qweight_offset(wide, oc, oc / ocg % n * cg + c), t->weight + qweight_offset(t, oc, c),
			    (size_t)taps * sizeof(int16_t));
	return STATUS_OK;
}

enum status qconv_init(struct qconv *k, const struct qconv_task *t, struct error *err)
{
	const struct conv_geometry *g = &t->g;
	enum status s = qfinish_of_conv(&k->finish, t, err);
	k->g = *g;
	k->out = t->out;
	k->micro = qmicro_here();
	k->image = (struct qimage){.layout = t->in, .type = t->in_type, .c = g->c, .h = g->h, .w = g->w};
	k->image.pitch = qimage_pitch(&k->image, k->micro);
	if (s == STATUS_OK && (!qfinish_is_plain(&k->finish) || !qentry_of(&k->image.entry, t->in_type, t->in_zero) || !split_of(k, t)))
		s = STATUS_UNSUPPORTED;
	if (s == STATUS_OK)
		k->scaling = qscaling_of(&k->finish);
	return s;
}

// Values of 8 bits, where the processor multiplies them and the weights allow it.
static void take_bytes(struct qconv *k, const struct qconv_task *t)
{
	const struct qmicro *bytes = qmicro_bytes();
	if (!bytes || !k->split.bytes || dtype_size(t->in_type) != 1)
		return;
	k->micro = bytes;
	k->image.entry = qentry_bytes(t->in_type, t->in_zero);
	k->image.pitch = qimage_pitch(&k->image, bytes);
}

static enum status make(struct kernel **out, const struct qconv_task *t, struct error *err)
{
	struct qconv *k = xcalloc(1, sizeof *k);
	enum status s = qconv_init(k, t, err);
	k->base.ops = &ops;
	if (s == STATUS_OK) {
		take_bytes(k, t);
		s = qconv_plan(k, t);
	}
	if (s == STATUS_NOMEM)
		error_set(err, s, "no memory to plan a convolution of %lldx%lld", (long long)t->g.kh, (long long)t->g.kw);
	if (s == STATUS_OK)
		s = qconv_pack(k, t, err);
	if (s != STATUS_OK) {
		destroy(&k->base);
		return s;
	}
	*out = &k->base;
	return STATUS_OK;
}

enum status qfast_conv(struct kernel **out, const struct qconv_task *t, struct error *err)
{
	struct qconv_task wide;
	int16_t *own;
	enum status s = merge_groups(&wide, &own, t, err);
	if (s == STATUS_OK)
		s = make(out, &wide, err);
	free(own);
	return s;
}
