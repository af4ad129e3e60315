// Fast integer matrix product: rows of a as the rows of a tile, columns of b as the channels of panels. A constant b is packed
// once, another one for every batch.
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "qtile.h"
#include "qtui/base/parts.h"

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
	int64_t pitch, tile_m, panels, words; // pitch: values of a row in a tile
	struct qrun *runs;
	int n_runs;
	float *scale, *fbias;       // [panel][QLANES]
	struct qdest *dest;         // [panel]
	char *packed;               // constant b: one struct packed a batch
};

// b as the inner loop reads it, in one piece of memory.
struct packed {
	char *w;                    // [panel][word][QLANES][QWORD]
	int32_t *init;              // [panel][QLANES]
	double *bias;               // [panel][QLANES]
};

static size_t packed_size(const struct qmatmul *k)
{
	return (size_t)(k->panels * QLANES) * (size_t)(k->words * QWORD + 4 + 8);
}

static struct packed packed_at(const struct qmatmul *k, char *p)
{
	struct packed b = {.w = p};

	p += (size_t)(k->panels * QLANES) * (size_t)(k->words * QWORD);
	b.init = (int32_t *)p;
	b.bias = (double *)(p + (size_t)(k->panels * QLANES) * sizeof(int32_t));
	return b;
}

// One channel of a panel, value by value; returns the sum of its weights.
static int64_t pack_lane(const struct qmatmul *k, char *w, int64_t lane, const void *b, enum dtype type, int64_t n)
{
	const struct qmatmul_task *t = &k->t;
	int64_t step = t->trans_b ? 1 : t->n, at = t->trans_b ? n * t->k : n, sum = 0;

	for (int64_t i = 0; i < t->k; i++, at += step) {
		int32_t v = qcode_at(b, type, at) - t->b_zero;
		qsplit_store(&k->split, k->micro, w, lane, i, v);
		sum += v;
	}
	return sum;
}

// Sixteen whole channels from channel n on (unsplit weights), each in one piece: a word at a time across the panel.
static void pack_along(const struct qmatmul *k, char *w, const char *b, enum dtype type, int64_t n)
{
	enum { PART = 1024 };
	_Alignas(64) char part[PART];
	int64_t size = k->micro->size, lot = k->micro->lot, whole = k->t.k / lot * lot;

	for (int64_t l = 0; l < QLANES; l++) {
		const char *row = b + (size_t)((n + l) * k->t.k) * dtype_size(type);
		char *to = w + l * QWORD;
		for (int64_t i = 0; i < whole; i += PART / size) {
			int64_t m = whole - i < PART / size ? whole - i : PART / size;
			k->micro->widen[type](part, lot, row + (size_t)i * dtype_size(type), lot, m / lot, k->t.b_zero);
			for (int64_t j = 0; j < m * size; j += QWORD, to += QWORD * QLANES)
				memcpy(to, part + j, QWORD);
		}
		for (int64_t i = whole; i < k->t.k; i++)
			qsplit_store(&k->split, k->micro, w, l, i, qcode_at(row, type, i) - k->t.b_zero);
	}
}

typedef uint8_t vbytes __attribute__((vector_size(16)));
typedef uint16_t vwords __attribute__((vector_size(16)));

// Values of a and b in turn, as two vectors.
static inline void zip_bytes(vbytes y[2], vbytes a, vbytes b)
{
	y[0] = __builtin_shufflevector(a, b, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
	y[1] = __builtin_shufflevector(a, b, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31);
}

static inline void zip_words(vwords y[2], vwords a, vwords b)
{
	y[0] = __builtin_shufflevector(a, b, 0, 8, 1, 9, 2, 10, 3, 11);
	y[1] = __builtin_shufflevector(a, b, 4, 12, 5, 13, 6, 14, 7, 15);
}

// Words of QLANES lanes from a row of lanes for each value of a word.
static void words_of_bytes(char *w, const char *rows)
{
	vbytes v[4], low[2], high[2];
	vwords y[4];

	memcpy(v, rows, sizeof(v));
	zip_bytes(low, v[0], v[1]);
	zip_bytes(high, v[2], v[3]);
	zip_words(y, (vwords)low[0], (vwords)high[0]);
	zip_words(y + 2, (vwords)low[1], (vwords)high[1]);
	memcpy(w, y, sizeof(y));
}

static void words_of_pairs(char *w, const char *rows)
{
	vwords v[4], y[4];

	memcpy(v, rows, sizeof(v));
	zip_words(y, v[0], v[2]);
	zip_words(y + 2, v[1], v[3]);
	memcpy(w, y, sizeof(y));
}

// The same where the channels lie side by side.
static void pack_across(const struct qmatmul *k, char *w, const char *b, enum dtype type, int64_t n)
{
	int64_t size = k->micro->size, values = QWORD / size, lot = k->micro->lot;
	size_t row = (size_t)k->t.n * dtype_size(type);

	b += (size_t)n * dtype_size(type);
	for (int64_t i = 0; i < k->t.k; i += values, w += QWORD * QLANES, b += (size_t)values * row) {
		_Alignas(64) char part[QWORD * QLANES] = {0};
		for (int64_t j = 0; j < values && i + j < k->t.k; j++)
			k->micro->widen[type](part + j * QLANES * size, lot, b + (size_t)j * row, lot, QLANES / lot, k->t.b_zero);
		(size == 1 ? words_of_bytes : words_of_pairs)(w, part);
	}
}

// Adds up the lanes of a panel: its products with ones.
static void sums_of(const struct qmatmul *k, int64_t sum[QLANES], const char *w)
{
	static const char ones[] = {
#define EIGHT 1, 1, 1, 1, 1, 1, 1, 1
		EIGHT, EIGHT, EIGHT, EIGHT, EIGHT, EIGHT, EIGHT, EIGHT,
	};
	int32_t acc[QROWS * QLANES];
	const char *row[QROWS];

	for (int r = 0; r < QROWS; r++)
		row[r] = ones;
	for (int64_t i = 0; i < k->words; i += (int64_t)sizeof(ones) / QWORD, w += sizeof(ones) * QLANES) {
		int64_t left = k->words - i, most = sizeof(ones) / QWORD;
		k->micro->gemm(acc, 0, 1, row, &(struct qrun){.words = left < most ? left : most}, 1, w, 0);
		for (int l = 0; l < QLANES; l++)
			sum[l] += acc[l];
	}
}

static void pack_panel(const struct qmatmul *k, const struct packed *to, const void *b, enum dtype type, int64_t panel)
{
	int64_t lanes = qsplit_lanes(&k->split), first = panel * lanes, values = QWORD / k->micro->size;
	int64_t here = k->t.n - first < lanes ? k->t.n - first : lanes, sum[QLANES] = {0};
	char *w = to->w + panel * k->words * QWORD * QLANES;
	bool bytes = k->micro->size == 1, fast = here == QLANES && (k->entry.pad == 0 || bytes) && k->micro->widen[type];

	if (fast && k->t.trans_b && k->t.k % values == 0) {
		pack_along(k, w, b, type, first);
	} else if (fast && !k->t.trans_b) {
		pack_across(k, w, b, type, first);
	} else {
		fast = false;
		memset(w, 0, (size_t)(k->words * QWORD * QLANES));
		for (int64_t l = 0; l < here; l++)
			sum[l] = pack_lane(k, w, l, b, type, first + l);
	}
	if (fast && bytes)
		sums_of(k, sum, w);
	for (int64_t l = 0; l < QLANES; l++) {
		int64_t bias = l < here ? k->finish.bias[first + l] - k->entry.pad * sum[l] : 0;
		to->bias[panel * QLANES + l] = (double)bias;
		to->init[panel * QLANES + l] = k->split.wide ? 0 : (int32_t)(uint32_t)bias; // modulo 2^32, as the sums
	}
}

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

static void run_share(const struct qmatmul *k, const struct packed *b, const struct share *x, char *space)
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
	const struct packed *b;
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

static void run_batch(const struct qmatmul *k, const struct kernel_io *io, const struct packed *b, int64_t batch, char *space)
{
	struct call c = {k, io, b, batch, 1, space};
	int64_t tiles = (k->t.m + k->tile_m - 1) / k->tile_m;
	int width = k->t.m * k->t.n * k->t.k > ALONE ? io->width : 1;

	if (width > 1 && tiles < 2 * width)
		c.shares = 2 * width < k->panels ? 2 * width : k->panels;
	parts_deal(tiles * c.shares, width, one_share, &c);
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

static const struct kernel_ops ops = {.run = run, .scratch = scratch, .free = destroy};

// Constant batches of b.
static int64_t batches(const struct qmatmul_task *t)
{
	return t->stride_b == 0 ? 1 : t->batch;
}

// The limits of b without its zero point.
static void limits_of(const struct qmatmul_task *t, int64_t *low, int64_t *high)
{
	int64_t signs = t->b_type == DT_I8 || t->b_type == DT_I16, codes = dtype_size(t->b_type) == 1 ? UINT8_MAX : UINT16_MAX;

	*low = t->weight ? 0 : -signs * (codes + 1) / 2 - t->b_zero;
	*high = t->weight ? 0 : *low + codes;
	for (int64_t b = 0; t->weight && b < batches(t); b++)
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
	k->runs = xcalloc((size_t)k->n_runs, sizeof(*k->runs));
	for (int i = 0; i < k->n_runs; i++) {
		int64_t left = k->words - i * chunk;
		k->runs[i] = (struct qrun){.offset = QWORD * i * chunk, .words = left < chunk ? left : chunk, .flush = true};
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
		d->whole = d->lanes == QLANES;
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
	plan_tile(k);
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
