// Fast integer matrix product: rows of a as the rows of a tile, columns of b as the channels of panels.
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "qmatmul.h"
#include "qtui/base/parts.h"

enum {
	TILE_BYTES = 96 * 1024,
	K_MOST = 1 << 22,
};

// Rows row .. row + n of a batch of a, as values.
static void fill_rows(const struct qmatmul *k, char *tile, const void *a, int64_t row, int64_t n)
{
	const struct qmatmul_task *t = &k->t;
	int64_t size = k->micro->size, lot = k->micro->lot, groups = t->trans_a ? 0 : t->k / lot;
	for (int64_t r = row; r < row + n; r++, tile += k->pitch * size) {
		int64_t step = t->trans_a ? t->m : 1, at = t->trans_a ? r : r * t->k;
		if (groups)
			k->micro->widen[t->a_type](tile, lot, (const char *)a + (size_t)at * dtype_size(t->a_type), lot, groups, k->entry.shift);
		for (int64_t i = groups * lot; i < t->k; i++)
			qvalue_put(tile, k->micro, i, qcode_at(a, t->a_type, at + i * step) - k->entry.shift);
		memset(tile + t->k * size, 0, (size_t)((k->pitch - t->k) * size));
	}
}

static size_t tile_size(const struct qmatmul *k)
{
	return round_up((size_t)(k->tile_m * k->pitch * k->micro->size), 64);
}

static size_t workspace_size(const struct qmatmul *k)
{
	return tile_size(k) + round_up((size_t)k->tile_m * (sizeof(char *) + sizeof(int64_t)), 64);
}

struct share {
	const void *a;
	char *y;
	int64_t row, panel, panel_end;
};

static void run_share(const struct qmatmul *k, const struct qmatmul_packed *b, const struct share *x, char *space)
{
	int64_t n = k->t.m - x->row < k->tile_m ? k->t.m - x->row : k->tile_m, step = k->words * QWORD * QLANES, p = x->panel;
	const char **row = (const char **)(space + tile_size(k));
	int64_t *at = (int64_t *)(row + k->tile_m);
	const struct qjob job = {
		.micro = k->micro, .scaling = &k->scaling, .finish = &k->finish, .split = &k->split, .runs = k->runs, .n_runs = k->n_runs,
	};
	const struct qpanel panel = {
		.w = b->w + p * step, .init = b->init + p * QLANES, .bias = b->bias + p * QLANES, .scale = k->scale + p * QLANES,
		.fbias = k->fbias + p * QLANES, .dest = &k->dest[p], .step = step,
	};
	fill_rows(k, space, x->a, x->row, n);
	for (int64_t i = 0; i < n; i++) {
		row[i] = space + i * k->pitch * k->micro->size;
		at[i] = (x->row + i) * k->t.n;
	}
	qpanel_run(&job, &panel, x->panel_end - p, x->y, row, at, n);
}

struct call {
	const struct qmatmul *k;
	const struct kernel_io *io;
	const struct qmatmul_packed *b;
	int64_t batch, shares; // shares of a tile
	char *space;
};

// A part_fn of struct call.
static void one_share(void *arg, int64_t i, int thread)
{
	const struct call *c = arg;
	const struct qmatmul *k = c->k;
	const struct share x = {
		.a = (const char *)c->io->x + (size_t)(c->batch * k->t.stride_a) * dtype_size(k->t.a_type),
		.y = (char *)c->io->y + (size_t)(c->batch * k->t.m * k->t.n) * dtype_size(k->finish.type),
		.row = i / c->shares * k->tile_m,
		.panel = k->panels * (i % c->shares) / c->shares,
		.panel_end = k->panels * (i % c->shares + 1) / c->shares,
	};
	run_share(k, c->b, &x, c->space + (size_t)thread * workspace_size(k));
}

// What is done before another thread has begun.
#define ALONE (1 << 16) // multiply-adds

static void run_batch(const struct qmatmul *k, const struct kernel_io *io, const struct qmatmul_packed *b, int64_t batch, char *space)
{
	struct call c = {k, io, b, batch, 1, space};
	int64_t tiles = (k->t.m + k->tile_m - 1) / k->tile_m;
	int width = k->t.m * k->t.n * k->t.k > ALONE ? io->width : 1;
	if (width > 1 && tiles < 2 * width)
		c.shares = 2 * width < k->panels ? 2 * width : k->panels;
	parts_deal(tiles * c.shares, width, one_share, &c);
}

struct packing {
	const struct qmatmul *k;
	struct qmatmul_packed *to;
	const char *w;
};

static void pack_one(void *arg, int64_t panel, int thread)
{
	const struct packing *p = arg;
	(void)thread;
	qmatmul_pack_panel(p->k, p->to, p->w, p->k->t.b_type, panel);
}

static void run(const struct kernel *base, const struct kernel_io *io)
{
	const struct qmatmul *k = (const struct qmatmul *)base;
	char *packed = k->constant ? k->packed : io->scratch;
	char *space = (char *)io->scratch + (k->constant ? 0 : round_up(qmatmul_packed_size(k), 64));
	for (int64_t i = 0; i < k->t.batch; i++) {
		bool shared = k->t.stride_b == 0;
		struct qmatmul_packed b = qmatmul_packed_at(k, packed + (k->constant && !shared ? (size_t)i * qmatmul_packed_size(k) : 0));
		if (!k->constant && (i == 0 || !shared)) {
			const char *w = (const char *)io->w + (size_t)(i * k->t.stride_b) * dtype_size(k->t.b_type);
			parts_share(k->panels, io->width, pack_one, &(struct packing){k, &b, w});
		}
		run_batch(k, io, &b, i, space);
	}
}

static size_t scratch(const struct kernel *base, int width)
{
	const struct qmatmul *k = (const struct qmatmul *)base;
	return (k->constant ? 0 : round_up(qmatmul_packed_size(k), 64)) + workspace_size(k) * (size_t)width;
}

static void destroy(struct kernel *base)
{
	struct qmatmul *k = (struct qmatmul *)base;
	qfinish_done(&k->finish);
	free(k->runs);
	free(k->scale);
	free(k->fbias);
	free(k->dest);
	free(k->packed);
	free(k);
}

static const struct kernel_ops ops = {.run = run, .scratch = scratch, .free = destroy};

// The limits of b without its zero point.
static void limits_of(const struct qmatmul_task *t, int64_t *low, int64_t *high)
{
	int64_t signs = t->b_type == DT_I8 || t->b_type == DT_I16, codes = dtype_size(t->b_type) == 1 ? UINT8_MAX : UINT16_MAX;
	*low = t->weight ? 0 : -signs * (codes + 1) / 2 - t->b_zero;
	*high = t->weight ? 0 : *low + codes;
	for (int64_t b = 0; t->weight && b < qmatmul_batches(t); b++)
		for (int64_t i = 0; i < t->n * t->k; i++) {
			int64_t w = (int64_t)t->weight[b * t->stride_b + i] - t->b_zero;
			*low = w < *low ? w : *low;
			*high = w > *high ? w : *high;
		}
}

static bool split_of(struct qmatmul *k, const struct qmatmul_task *t)
{
	struct qentry e;
	int64_t low, high;
	double bias = 0;
	if (!t->weight && !qentry_of(&e, t->b_type, t->b_zero))
		return false;
	limits_of(t, &low, &high);
	for (int64_t n = 0; n < t->n; n++)
		bias = fmax(bias, fabs((double)k->finish.bias[n]));
	double most = (double)(-low > high ? -low : high);
	return qsplit_of(&k->split, &k->entry, low, high, (double)t->k * most * (k->entry.reach + abs(k->entry.pad)) + bias);
}

static void plan_runs(struct qmatmul *k)
{
	int64_t chunk = k->split.chunk < k->words ? k->split.chunk : k->words;
	k->n_runs = (int)((k->words + chunk - 1) / chunk);
	k->runs = xcalloc((size_t)k->n_runs, sizeof *k->runs);
	for (int i = 0; i < k->n_runs; i++) {
		int64_t left = k->words - i * chunk;
		k->runs[i] = (struct qrun){.offset = QWORD * i * chunk, .words = left < chunk ? left : chunk, .flush = true};
	}
}

static bool plan_panels(struct qmatmul *k)
{
	int64_t lanes = qsplit_lanes(&k->split);
	k->panels = (k->t.n + lanes - 1) / lanes;
	k->dest = mem_try_array((size_t)k->panels, sizeof *k->dest);
	k->scale = qalloc((size_t)k->panels, QLANES * sizeof(float));
	k->fbias = qalloc((size_t)k->panels, QLANES * sizeof(float));
	if (!k->dest || !k->scale || !k->fbias)
		return false;
	for (int64_t n = 0; n < k->t.n; n++) {
		struct qdest *d = &k->dest[n / lanes];
		d->lane[n % lanes] = n;
		d->valid = d->lanes = (int)(n % lanes) + 1;
		d->packed = d->lanes % 8 == 0;
		d->whole = d->lanes == QLANES;
		k->scale[n / lanes * QLANES + n % lanes] = qscaling_scale(&k->scaling, &k->finish, n);
		k->fbias[n / lanes * QLANES + n % lanes] = qscaling_fbias(&k->finish, n);
	}
	return true;
}

// Values of 8 bits where the processor multiplies them, and how many rows a tile has.
static void plan_tile(struct qmatmul *k)
{
	const struct qmicro *bytes = qmicro_bytes();
	if (bytes && k->split.bytes && dtype_size(k->t.a_type) == 1) {
		k->micro = bytes;
		k->entry = qentry_bytes(k->t.a_type, k->t.a_zero);
	}
	int64_t lot = k->micro->lot, rows = k->micro->rows;
	k->words = qmicro_words(k->micro, k->t.k);
	k->pitch = (k->t.k + lot - 1) / lot * lot + lot; // not a power of two: rows would meet in the same cache sets
	k->tile_m = TILE_BYTES / (k->pitch * k->micro->size);
	k->tile_m = k->tile_m < rows ? rows : k->tile_m - k->tile_m % rows;
	k->tile_m = k->tile_m < k->t.m ? k->tile_m : k->t.m;
}

enum status qfast_matmul(struct kernel **out, const struct qmatmul_task *t, struct error *err)
{
	struct qmatmul *k = xcalloc(1, sizeof *k);
	enum status s = qfinish_of_matmul(&k->finish, t, err);
	k->base.ops = &ops;
	k->t = *t;
	k->constant = t->weight != NULL;
	k->micro = qmicro_here();
	if (s != STATUS_OK)
		goto fail;
	s = STATUS_UNSUPPORTED;
	if (t->k < 1 || t->k > K_MOST || t->n < 1 || t->m < 1 || !qfinish_is_plain(&k->finish) ||
	    !qentry_of(&k->entry, t->a_type, t->a_zero) || !split_of(k, t))
		goto fail;
	k->scaling = qscaling_of(&k->finish);
	plan_tile(k);
	plan_runs(k);
	if (!plan_panels(k) || (t->weight && !qmatmul_pack_constant(k, t->weight))) {
		s = error_set(err, STATUS_NOMEM, "no memory for a matrix of %lld x %lld codes", (long long)t->k, (long long)t->n);
		goto fail;
	}
	*out = &k->base;
	return STATUS_OK;
fail:
	destroy(&k->base);
	return s;
}
