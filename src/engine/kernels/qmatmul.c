// Fast integer matrix product: rows of a as the rows of a tile, columns of b as the channels of panels. A constant b is packed
// once, another one for every batch.
#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>
#include "qtile.h"

enum {
	TILE_BYTES = 96 * 1024,
	K_MOST = 1 << 22,
};

struct qmatmul {
	struct kernel base;
	struct qfinish finish;
	struct qscaling scaling;
	struct qsplit split;
	struct qentry entry;
	const struct qmicro *micro;
	struct qmatmul_task t;      // its pointers are not used
	bool constant;
	int64_t pitch, tile_m, panels, pairs;
	struct qrun *runs;
	int n_runs;
	float *scale, *fbias;       // [panel][QLANES]
	struct qdest *dest;         // [panel]
	char *packed;               // constant b: one struct packed a batch
};

// b as the inner loop reads it, in one piece of memory.
struct packed {
	int16_t *w;                 // [panel][pair][QLANES][2]
	int32_t *init;              // [panel][QLANES]
	double *bias;               // [panel][QLANES]
};

static size_t packed_size(const struct qmatmul *k)
{
	return (size_t)(k->panels * QLANES) * (size_t)(k->pairs * 2 * 2 + 4 + 8);
}

static struct packed packed_at(const struct qmatmul *k, char *p)
{
	struct packed b = { .w = (int16_t *)p };

	p += (size_t)(k->panels * QLANES) * (size_t)(k->pairs * 4);
	b.init = (int32_t *)p;
	b.bias = (double *)(p + (size_t)(k->panels * QLANES) * sizeof(int32_t));
	return b;
}

// One channel of a panel, value by value; returns the sum of its weights.
static int64_t pack_lane(const struct qmatmul *k, int16_t *w, int64_t lane, const void *b, enum dtype type, int64_t n)
{
	const struct qmatmul_task *t = &k->t;
	int64_t step = t->trans_b ? 1 : t->n, at = t->trans_b ? n * t->k : n, sum = 0;

	for (int64_t i = 0; i < t->k; i++, at += step) {
		int32_t v = qcode_at(b, type, at) - t->b_zero;
		qsplit_store(&k->split, w + i / 2 * 2 * QLANES, lane, (int)(i % 2), v);
		sum += v;
	}
	return sum;
}

// Sixteen whole channels from channel n on (unsplit weights), each in one piece: a pair at a time across the panel.
static void pack_along(const struct qmatmul *k, int16_t *w, const char *b, enum dtype type, int64_t n)
{
	enum { PART = 512 };
	int16_t part[PART] = { 0 };

	for (int64_t l = 0; l < QLANES; l++) {
		const char *row = b + (size_t)((n + l) * k->t.k) * dtype_size(type);
		for (int64_t i = 0; i < k->t.k / 8 * 8; i += PART) {
			int64_t m = k->t.k / 8 * 8 - i < PART ? k->t.k / 8 * 8 - i : PART;
			k->micro->widen[type](part, 8, row + (size_t)i * dtype_size(type), 8, m / 8, k->t.b_zero);
			for (int64_t j = 0; j < m; j += 2)
				memcpy(w + (i + j) * QLANES + 2 * l, part + j, 2 * sizeof(*part));
		}
		for (int64_t i = k->t.k / 8 * 8; i < k->t.k; i++)
			w[i / 2 * 2 * QLANES + 2 * l + i % 2] = (int16_t)(qcode_at(row, type, i) - k->t.b_zero);
	}
}

// The same where the channels lie side by side.
static void pack_across(const struct qmatmul *k, int16_t *w, const char *b, enum dtype type, int64_t n)
{
	int16_t even[QLANES], odd[QLANES] = { 0 };
	size_t elem = dtype_size(type);

	for (int64_t i = 0; i < k->t.k; i += 2, w += 2 * QLANES) {
		k->micro->widen[type](even, 8, b + (size_t)(i * k->t.n + n) * elem, 8, 2, k->t.b_zero);
		if (i + 1 < k->t.k)
			k->micro->widen[type](odd, 8, b + (size_t)((i + 1) * k->t.n + n) * elem, 8, 2, k->t.b_zero);
		else
			memset(odd, 0, sizeof(odd));
		for (int l = 0; l < QLANES; l++) {
			w[2 * l] = even[l];
			w[2 * l + 1] = odd[l];
		}
	}
}

static void pack_panel(const struct qmatmul *k, const struct packed *to, const void *b, enum dtype type, int64_t panel)
{
	int64_t lanes = qsplit_lanes(&k->split), first = panel * lanes;
	int64_t here = k->t.n - first < lanes ? k->t.n - first : lanes, sum[QLANES] = { 0 };
	int16_t *w = to->w + panel * k->pairs * 2 * QLANES;
	bool plain = here == QLANES && k->entry.pad == 0;

	if (plain && k->t.trans_b && k->t.k % 2 == 0) {
		pack_along(k, w, b, type, first);
	} else if (plain && !k->t.trans_b) {
		pack_across(k, w, b, type, first);
	} else {
		memset(w, 0, (size_t)(k->pairs * 2 * QLANES) * sizeof(*w));
		for (int64_t l = 0; l < here; l++)
			sum[l] = pack_lane(k, w, l, b, type, first + l);
	}
	for (int64_t l = 0; l < QLANES; l++) {
		int64_t bias = l < here ? k->finish.bias[first + l] - k->entry.pad * sum[l] : 0;
		to->bias[panel * QLANES + l] = (double)bias;
		to->init[panel * QLANES + l] = k->split.wide ? 0 : (int32_t)bias;
	}
}

// Rows row .. row + n of a batch of a, as int16.
static void fill_rows(const struct qmatmul *k, int16_t *tile, const void *a, int64_t row, int64_t n)
{
	const struct qmatmul_task *t = &k->t;
	int64_t groups = t->trans_a ? 0 : t->k / 8;

	for (int64_t r = row; r < row + n; r++, tile += k->pitch) {
		int64_t step = t->trans_a ? t->m : 1, at = t->trans_a ? r : r * t->k;
		if (groups)
			k->micro->widen[t->a_type](tile, 8, (const char *)a + (size_t)at * dtype_size(t->a_type), 8, groups, k->entry.shift);
		for (int64_t i = groups * 8; i < t->k; i++)
			tile[i] = (int16_t)(qcode_at(a, t->a_type, at + i * step) - k->entry.shift);
		memset(tile + t->k, 0, (size_t)(k->pitch - t->k) * sizeof(*tile));
	}
}

static size_t workspace_size(const struct qmatmul *k)
{
	return round_up((size_t)(k->tile_m * k->pitch) * sizeof(int16_t), 64) + round_up((size_t)k->tile_m * 16, 64);
}

struct share {
	const void *a;
	char *y;
	int64_t row, panel, panel_end;
};

static void run_share(const struct qmatmul *k, const struct packed *b, const struct share *x, char *space)
{
	int64_t n = k->t.m - x->row < k->tile_m ? k->t.m - x->row : k->tile_m;
	int16_t *tile = (int16_t *)space;
	const int16_t **row = (const int16_t **)(space + round_up((size_t)(k->tile_m * k->pitch) * sizeof(int16_t), 64));
	int64_t *at = (int64_t *)(row + k->tile_m);
	const struct qjob job = {
		.micro = k->micro, .scaling = &k->scaling, .finish = &k->finish, .split = &k->split, .runs = k->runs, .n_runs = k->n_runs,
	};

	fill_rows(k, tile, x->a, x->row, n);
	for (int64_t i = 0; i < n; i++) {
		row[i] = tile + i * k->pitch;
		at[i] = (x->row + i) * k->t.n;
	}
	for (int64_t p = x->panel; p < x->panel_end; p++) {
		const struct qpanel panel = {
			.w = b->w + p * k->pairs * 2 * QLANES, .init = b->init + p * QLANES, .bias = b->bias + p * QLANES,
			.scale = k->scale + p * QLANES, .fbias = k->fbias + p * QLANES, .dest = &k->dest[p],
		};
		qpanel_run(&job, &panel, x->y, row, at, n);
	}
}

static void run_batch(const struct qmatmul *k, const struct kernel_io *io, const struct packed *b, int64_t batch, char *space)
{
	int64_t tiles = (k->t.m + k->tile_m - 1) / k->tile_m, shares = 1;

	if (io->width > 1 && tiles < 2 * io->width)
		shares = 2 * io->width < k->panels ? 2 * io->width : k->panels;
#pragma omp parallel for num_threads(io->width) schedule(dynamic) if (io->width > 1)
	for (int64_t i = 0; i < tiles * shares; i++) {
		const struct share x = {
			.a = (const char *)io->x + (size_t)(batch * k->t.stride_a) * dtype_size(k->t.a_type),
			.y = (char *)io->y + (size_t)(batch * k->t.m * k->t.n) * dtype_size(k->finish.type),
			.row = i / shares * k->tile_m,
			.panel = k->panels * (i % shares) / shares,
			.panel_end = k->panels * (i % shares + 1) / shares,
		};
		run_share(k, b, &x, space + (size_t)omp_get_thread_num() * workspace_size(k));
	}
}

static void run(const struct kernel *base, const struct kernel_io *io)
{
	const struct qmatmul *k = (const struct qmatmul *)base;
	char *packed = k->constant ? k->packed : io->scratch;
	char *space = (char *)io->scratch + (k->constant ? 0 : round_up(packed_size(k), 64));

	for (int64_t i = 0; i < k->t.batch; i++) {
		bool shared = k->t.stride_b == 0;
		struct packed b = packed_at(k, packed + (k->constant && !shared ? (size_t)i * packed_size(k) : 0));
		if (!k->constant && (i == 0 || !shared)) {
			const char *w = (const char *)io->w + (size_t)(i * k->t.stride_b) * dtype_size(k->t.b_type);
#pragma omp parallel for num_threads(io->width) if (io->width > 1)
			for (int64_t p = 0; p < k->panels; p++)
				pack_panel(k, &b, w, k->t.b_type, p);
		}
		run_batch(k, io, &b, i, space);
	}
}

static size_t scratch(const struct kernel *base, int width)
{
	const struct qmatmul *k = (const struct qmatmul *)base;
	return (k->constant ? 0 : round_up(packed_size(k), 64)) + workspace_size(k) * (size_t)width;
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

static const struct kernel_ops ops = { .run = run, .scratch = scratch, .free = destroy };

// Constant batches of b.
static int64_t batches(const struct qmatmul_task *t)
{
	return t->stride_b == 0 ? 1 : t->batch;
}

static bool split_of(struct qmatmul *k, const struct qmatmul_task *t)
{
	int64_t most = 0;
	double bias = 0;

	for (int64_t b = 0; t->weight && b < batches(t); b++)
		for (int64_t i = 0; i < t->n * t->k; i++) {
			int64_t w = labs((long)t->weight[b * t->stride_b + i] - t->b_zero);
			most = w > most ? w : most;
		}
	if (!t->weight) {
		struct qentry e;
		if (!qentry_of(&e, t->b_type, t->b_zero))
			return false;
		most = e.reach + abs(e.pad);
	}
	for (int64_t n = 0; n < t->n; n++)
		bias = fmax(bias, fabs((double)k->finish.bias[n]));
	return qsplit_of(&k->split, &k->entry, most, (double)t->k * (double)most * (k->entry.reach + abs(k->entry.pad)) + bias);
}

static void plan_runs(struct qmatmul *k)
{
	int64_t chunk = k->split.chunk < k->pairs ? k->split.chunk : k->pairs;

	k->n_runs = (int)((k->pairs + chunk - 1) / chunk);
	k->runs = xcalloc((size_t)k->n_runs, sizeof(*k->runs));
	for (int i = 0; i < k->n_runs; i++) {
		int64_t left = k->pairs - i * chunk;
		k->runs[i] = (struct qrun) { .offset = 2 * i * chunk, .pairs = left < chunk ? left : chunk, .flush = true };
	}
}

static bool plan_panels(struct qmatmul *k)
{
	int64_t lanes = qsplit_lanes(&k->split);

	k->panels = (k->t.n + lanes - 1) / lanes;
	k->dest = mem_try_array((size_t)k->panels, sizeof(*k->dest));
	k->scale = qalloc((size_t)k->panels, QLANES * sizeof(float));
	k->fbias = qalloc((size_t)k->panels, QLANES * sizeof(float));
	if (!k->dest || !k->scale || !k->fbias)
		return false;
	for (int64_t n = 0; n < k->t.n; n++) {
		struct qdest *d = &k->dest[n / lanes];
		d->lane[n % lanes] = n;
		d->valid = d->lanes = (int)(n % lanes) + 1;
		d->packed = d->lanes % 8 == 0;
		k->scale[n / lanes * QLANES + n % lanes] = qscaling_scale(&k->scaling, &k->finish, n);
		k->fbias[n / lanes * QLANES + n % lanes] = qscaling_fbias(&k->finish, n);
	}
	return true;
}

static bool pack_constant(struct qmatmul *k, const int16_t *weight)
{
	int64_t count = batches(&k->t);

	k->packed = qalloc((size_t)count, packed_size(k));
	if (!k->packed)
		return false;
	k->base.bytes = (size_t)count * packed_size(k);
	for (int64_t b = 0; b < count; b++) {
		struct packed to = packed_at(k, k->packed + (size_t)b * packed_size(k));
		for (int64_t p = 0; p < k->panels; p++)
			pack_panel(k, &to, weight + b * k->t.stride_b, DT_I16, p);
	}
	return true;
}

enum status qfast_matmul(struct kernel **out, const struct qmatmul_task *t, struct error *err)
{
	struct qmatmul *k = xcalloc(1, sizeof(*k));
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
	k->pairs = (t->k + 1) / 2;
	k->pitch = (t->k + 7) / 8 * 8 + 8; // not a power of two: rows would meet in the same cache sets
	k->tile_m = TILE_BYTES / (k->pitch * (int64_t)sizeof(int16_t));
	k->tile_m = k->tile_m < k->micro->rows ? k->micro->rows : k->tile_m - k->tile_m % k->micro->rows;
	k->tile_m = k->tile_m < t->m ? k->tile_m : t->m;
	plan_runs(k);
	if (!plan_panels(k) || (t->weight && !pack_constant(k, t->weight))) {
		s = error_set(err, STATUS_NOMEM, "no memory for a matrix of %lld x %lld codes", (long long)t->k, (long long)t->n);
		goto fail;
	}
	*out = &k->base;
	return STATUS_OK;
fail:
	destroy(&k->base);
	return s;
}
