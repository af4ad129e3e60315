// Depthwise integer convolution in LAYOUT_BLOCK, a vector of channels at a time:
// input rows, several together, are expanded once to numbers into a ring of as many as two output rows see;
// a tap is then a multiplication and an addition.
#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include "../../tensor/cpu.h"
#include "qdepthwise_impl.h"
#include "qtui/base/parts.h"

enum {
	RING_MOST = 16 << 20,       // bytes; beyond it the other kernel takes over
	PART_LEAST = 2,             // bands that a thread takes at the least
	SIZE_MOST = 1 << 16,
	PIECE = QROWS * QLANES,     // values that are summed and finished at a time
};

// For sums that fit int32 (`narrow`), of weights that fit 8 bits (`bytes`).
static const struct qdw_loops *loops_here(enum dtype type, bool narrow, bool bytes)
{
#if defined(__x86_64__)
	const struct qdw_table *t = cpu_level() >= CPU_AVX2 ? &qdw_avx2 : &qdw_plain;
	if (cpu_level() >= CPU_VNNI && narrow && bytes && qdw_vnni.spread[type])
		return &qdw_vnni;
#else
	const struct qdw_table *t = &qdw_plain;
	(void)type, (void)bytes;
#endif
	return narrow ? &t->narrow : &t->wide;
}

// Stored element of the first pixel of vector v of image n.
static int64_t element(const struct qdw *k, int64_t plane, int64_t n, int64_t v)
{
	return act_offset(LAYOUT_BLOCK, k->block, k->g.c, plane, n, v * k->lanes, 0);
}

// Channels of a vector past the tensor's last.
static void set_padding(const struct qdw *k, void *codes, int64_t v, int64_t n)
{
	int64_t valid = k->g.oc - v * k->lanes < 0 ? 0 : k->g.oc - v * k->lanes;
	qfinish_pad(&k->finish, codes, valid, k->lanes - valid, n, k->lanes);
}

static void store(const struct qdw *k, char *to, const char *codes, int64_t n)
{
	size_t elem = dtype_size(k->finish.type), group = elem * (size_t)k->lanes, step = elem * (size_t)k->block;
	if (step == group)
		memcpy(to, codes, (size_t)n * group);
	else
		for (int64_t p = 0; p < n; p++)
			memcpy(to + (size_t)p * step, codes + (size_t)p * group, group);
}

static void sums_to_codes(const struct qdw *k, void *codes, const char *acc, int64_t v, int rows)
{
	const float *scale = k->scale + v * QLANES, *fbias = k->fbias + v * QLANES;
	float narrowed[PIECE];
	if (k->loops->to_float) {
		k->loops->to_float(narrowed, acc, rows * QLANES / k->lanes);
		k->micro->finish_wide(codes, narrowed, &k->scaling, scale, fbias, rows);
	} else {
		k->micro->finish(codes, (const int32_t *)(const void *)acc, &k->scaling, scale, fbias, rows);
	}
}

static size_t sum_size(const struct qdw *k)
{
	return k->loops->to_float ? sizeof(double) : sizeof(int32_t);
}

// n pixels of an output row from their sums, PIECE values at the most.
static void finish_piece(const struct qdw *k, char *y, const char *acc, int64_t v, int64_t n)
{
	_Alignas(64) char codes[PIECE * sizeof(float)];
	int rows = (int)((n + 3) / 4 * 4 * k->lanes / QLANES);

	if (k->block == k->lanes && n % 4 == 0 && (v + 1) * k->lanes <= k->g.oc) {
		sums_to_codes(k, y, acc, v, rows);
		return;
	}
	sums_to_codes(k, codes, acc, v, rows);
	if ((v + 1) * k->lanes > k->g.oc)
		set_padding(k, codes, v, n);
	store(k, y, codes, n);
}

static void run_pieces(const struct qdw *k, char *y, const struct qdw_band *band, int64_t v)
{
	_Alignas(64) char acc[QDW_ROWS * PIECE * sizeof(double)];
	size_t pixel = (size_t)k->block * dtype_size(k->finish.type), sums = PIECE * sum_size(k);
	int64_t most = PIECE / k->lanes;

	for (int64_t j = 0; j < k->g.ow; j += most) {
		int64_t n = k->g.ow - j < most ? k->g.ow - j : most;
		k->loops->taps(acc, most, band, j, n);
		for (int64_t r = 0; r < band->rows; r++)
			finish_piece(k, y + (size_t)(r * k->g.ow + j) * pixel, acc + (size_t)r * sums, v, n);
	}
}

// Of all rows of vector v.
static struct qdw_band band_of(const struct qdw *k, int64_t v)
{
	size_t weights = (size_t)(k->taps * (k->shared ? QDW_ROWS : 1));
	return (struct qdw_band){.shared = k->shared, .n_taps = k->taps, .step = k->g.stride_w * (int64_t)k->number,
		.weight = k->weight + (size_t)v * weights * k->number, .bias = k->bias + (size_t)(v * k->lanes) * sum_size(k)};
}

// The band's output rows from y on.
static void run_band(const struct qdw *k, char *y, const struct qdw_band *band, int64_t v)
{
	uint8_t *to = (uint8_t *)y;
	if (k->direct)
		k->loops->direct((uint8_t *const[]){to, to + k->g.ow * k->block}, k->block, band, k->g.ow, &k->scaling,
		    k->scale + v * QLANES, k->fbias + v * QLANES);
	else
		run_pieces(k, y, band, v);
}

static size_t blank_size(const struct qdw *k)
{
	return round_up((size_t)((k->inside ? k->inside : 1) * k->block) * k->in_size, 64);
}

static size_t ring_size(const struct qdw *k)
{
	return round_up((size_t)k->span * k->row_size, 64);
}

static size_t workspace_size(const struct qdw *k)
{
	return blank_size(k) + ring_size(k) + round_up((size_t)(k->span * k->tap_sets * k->taps) * sizeof(char *), 64);
}

// Output rows first .. last - 1 of vector v of image n.
static void run_part(const struct qdw *k, const struct kernel_io *io, struct qdw_ring *ring, int64_t n, int64_t v, int64_t first, int64_t last)
{
	const struct conv_geometry *g = &k->g;
	size_t out_size = dtype_size(k->finish.type), row = (size_t)(g->ow * k->block) * out_size;
	char *y = (char *)io->y + (size_t)element(k, g->oh * g->ow, n, v) * out_size;
	ring->x = (const char *)io->x + (size_t)element(k, g->h * g->w, n, v) * k->in_size;
	ring->top = first * g->stride_h - g->pad_t;
	ring->first = ring->head = ring->next = 0;
	struct qdw_band band = band_of(k, v);
	for (int64_t i = first; i < last; i += QDW_ROWS, qdw_ring_advance(k, ring)) {
		qdw_ring_fill(k, ring);
		band.rows = last - i < QDW_ROWS ? (int)(last - i) : QDW_ROWS;
		band.tap = ring->tap + ring->head * k->tap_sets * k->taps;
		run_band(k, y + (size_t)i * row, &band, v);
	}
}

static int64_t bands_of(const struct qdw *k)
{
	return (k->g.oh + QDW_ROWS - 1) / QDW_ROWS;
}

// Parts of a plane, so that every thread gets several; each expands the rows that it shares with its neighbour.
static int64_t parts_of(const struct qdw *k, int width)
{
	int64_t planes = k->g.n * k->vectors, parts = width > 1 ? (4 * width + planes - 1) / planes : 1;
	int64_t most = (bands_of(k) + PART_LEAST - 1) / PART_LEAST;
	return parts < most ? parts : most;
}

// Output row where part i of the plane begins.
static int64_t part_begin(const struct qdw *k, int64_t i, int64_t parts)
{
	int64_t row = i * bands_of(k) / parts * QDW_ROWS;
	return row < k->g.oh ? row : k->g.oh;
}

static struct qdw_ring ring_in(const struct qdw *k, char *workspace)
{
	struct qdw_ring ring = {.blank = workspace, .rows = workspace + blank_size(k),
		.tap = (const char **)(void *)(workspace + blank_size(k) + ring_size(k))};
	qdw_ring_begin(k, &ring);
	return ring;
}

struct call {
	const struct qdw *k;
	const struct kernel_io *io;
	int64_t parts;     // of a plane
	atomic_llong next; // part that nobody has begun
};

// A part_fn of struct call, one for each thread, with a ring of its own.
static void draw_parts(void *arg, int64_t drawer, int thread)
{
	struct call *c = arg;
	const struct qdw *k = c->k;
	struct qdw_ring ring = ring_in(k, (char *)c->io->scratch + (size_t)drawer * workspace_size(k));
	int64_t n = c->parts;
	(void)thread;
	for (int64_t i; (i = atomic_fetch_add(&c->next, 1)) < k->g.n * k->vectors * n;)
		run_part(k, c->io, &ring, i / n / k->vectors, i / n % k->vectors, part_begin(k, i % n, n), part_begin(k, i % n + 1, n));
}

static void run(const struct kernel *base, const struct kernel_io *io)
{
	const struct qdw *k = (const struct qdw *)base;
	parts_share(io->width, io->width, draw_parts, &(struct call){k, io, parts_of(k, io->width), 0});
}

static size_t scratch(const struct kernel *base, int width)
{
	return workspace_size((const struct qdw *)base) * (size_t)width;
}

static void destroy(struct kernel *base)
{
	struct qdw *k = (struct qdw *)base;
	qfinish_done(&k->finish);
	free(k->weight);
	free(k->bias);
	free(k->scale);
	free(k->fbias);
	free(k);
}

static const struct kernel_ops ops = {.run = run, .scratch = scratch, .free = destroy};

static bool is_depthwise(const struct qconv_task *t)
{
	const struct conv_geometry *g = &t->g;
	const int64_t sizes[] = {g->kh, g->kw, g->stride_h, g->stride_w, g->dil_h, g->dil_w, g->pad_t, g->pad_l};
	for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
		if (sizes[i] < (i < 6 ? 1 : 0) || sizes[i] > SIZE_MOST)
			return false;
	return !t->transposed && g->group == g->c && g->c == g->oc && g->c > 1 && t->in == LAYOUT_BLOCK && t->out == LAYOUT_BLOCK;
}

// Where sums are exact, in int32 or else in double; false when in neither.
static bool choose_numbers(struct qdw *k, const struct qconv_task *t)
{
	struct qentry e;
	double all = 0;
	bool bytes = true;
	if (!qentry_of(&e, t->in_type, t->in_zero))
		return false;
	k->shift = e.shift;
	for (int64_t c = 0; c < t->g.oc; c++) {
		double sum = 0;
		for (int64_t i = 0; i < t->g.kh * t->g.kw; i++) {
			int16_t w = t->weight[c * t->g.kh * t->g.kw + i];
			sum += abs(w);
			bytes = bytes && w >= INT8_MIN && w <= INT8_MAX;
		}
		sum *= e.reach + abs(e.pad);
		qfinish_tame(&k->finish, c, sum);
		all = fmax(all, sum + fabs((double)k->finish.bias[c]));
	}
	k->loops = loops_here(t->in_type, all < 0x1p31, bytes);
	k->lanes = k->loops->lanes;
	k->vectors = (t->g.c + k->block - 1) / k->block * (k->block / k->lanes);
	if (k->loops->together == 4)
		k->shift = t->in_type == DT_I8 ? INT8_MIN : 0; // bytes without a sign
	return all < 0x1p53;
}

static int64_t common_divisor(int64_t a, int64_t b)
{
	return b ? common_divisor(b, a % b) : a;
}

static bool plan(struct qdw *k)
{
	const struct conv_geometry *g = &k->g;
	int64_t together = k->loops->together, most = (g->ow + QDW_ROUND - 1) / QDW_ROUND * QDW_ROUND;
	int64_t across = (most - 1) * g->stride_w + (g->kw - 1) * g->dil_w + 1;
	// Of two neighbouring output rows the second sees the pairs of the first one row off:
	// its weights lie in other halves of them.
	k->shared = together >= QDW_ROWS && g->stride_h == 1 && g->dil_h == 1;
	k->unit = k->shared ? QDW_ROWS : common_divisor(g->stride_h, together * g->dil_h);
	k->apart = together * g->dil_h / k->unit;
	k->rise = k->shared ? 0 : g->stride_h / k->unit;
	k->pace = QDW_ROWS * g->stride_h / k->unit;
	k->tap_rows = (g->kh + k->shared + together - 1) / together;
	k->tap_sets = k->shared ? 1 : QDW_ROWS;
	k->span = (k->tap_rows - 1) * k->apart + 1 + k->rise;
	k->cols = across < g->pad_l ? g->pad_l : across;
	k->taps = k->tap_rows * g->kw;
	k->inside = g->w < k->cols - g->pad_l ? g->w : k->cols - g->pad_l;
	k->number = (size_t)k->lanes * k->loops->size;
	k->row_size = (size_t)k->cols * k->number;
	return (double)k->span * ((double)k->row_size + (double)(k->tap_sets * k->taps) * sizeof(char *)) <= RING_MOST;
}

static bool allocate(struct qdw *k)
{
	size_t lanes = (size_t)(k->vectors * k->lanes), numbers = lanes * (size_t)(k->taps * (k->shared ? QDW_ROWS : 1));
	k->weight = qalloc(numbers, k->loops->size);
	k->bias = qalloc(lanes, sum_size(k));
	k->scale = qalloc((size_t)(k->vectors * QLANES), sizeof(float));
	k->fbias = qalloc((size_t)(k->vectors * QLANES), sizeof(float));
	k->base.bytes = numbers * k->loops->size;
	return k->weight && k->bias && k->scale && k->fbias;
}

// Weight w of channel c as output row `of` of a band meets it, `row` below what the band sees first.
static void put_weight(struct qdw *k, int64_t c, int64_t of, int64_t row, int64_t col, int16_t w)
{
	int64_t together = k->loops->together, each = k->shared ? QDW_ROWS : 1;
	int64_t tap = c / k->lanes * k->taps + row / together * k->g.kw + col, at = (tap * each + of) * k->lanes + c % k->lanes;
	if (together == 4)
		((int8_t *)k->weight)[4 * at + row % 4] = (int8_t)w;
	else if (together == 2)
		((int16_t *)(void *)k->weight)[2 * at + row % 2] = w;
	else
		((double *)(void *)k->weight)[at] = w;
}

static void put_bias(struct qdw *k, int64_t c, int64_t bias)
{
	if (k->loops->to_float)
		((double *)(void *)k->bias)[c] = (double)bias;
	else
		((int32_t *)(void *)k->bias)[c] = (int32_t)(uint32_t)(uint64_t)bias; // the sum that it begins may wrap
}

static void pack_channel(struct qdw *k, const int16_t *weight, int64_t c)
{
	int64_t v = c / k->lanes, lane = c % k->lanes, sum = 0;
	for (int64_t i = 0; i < k->g.kh * k->g.kw; i++) {
		int16_t w = weight[c * k->g.kh * k->g.kw + i];
		for (int64_t of = 0; of < (k->shared ? QDW_ROWS : 1); of++)
			put_weight(k, c, of, i / k->g.kw + of, i % k->g.kw, w);
		sum += w;
	}
	put_bias(k, c, k->finish.bias[c] - (k->in_zero - k->shift) * sum);
	for (; lane < QLANES; lane += k->lanes) {
		k->scale[v * QLANES + lane] = qscaling_scale(&k->scaling, &k->finish, c);
		k->fbias[v * QLANES + lane] = qscaling_fbias(&k->finish, c);
	}
}

enum status qfast_depthwise(struct kernel **out, const struct qconv_task *t, struct error *err)
{
	if (!is_depthwise(t))
		return STATUS_UNSUPPORTED;
	struct qdw *k = xcalloc(1, sizeof *k);
	enum status s = qfinish_of_conv(&k->finish, t, err);

	k->base.ops = &ops;
	k->g = t->g;
	k->in_type = t->in_type;
	k->in_size = dtype_size(t->in_type);
	k->in_zero = t->in_zero;
	k->micro = qmicro_here();
	k->block = layout_block();
	if (s != STATUS_OK)
		goto fail;
	s = STATUS_UNSUPPORTED;
	if (!qfinish_is_plain(&k->finish) || !choose_numbers(k, t) || !plan(k))
		goto fail;
	k->scaling = qscaling_of(&k->finish);
	k->direct = k->loops->direct && k->scaling.simple && (k->g.oc % k->lanes == 0 || qscaling_pads(&k->scaling));
	if (!allocate(k)) {
		s = error_set(err, STATUS_NOMEM, "no memory to pack the weights of %lld channels", (long long)t->g.oc);
		goto fail;
	}
	for (int64_t c = 0; c < t->g.oc; c++)
		pack_channel(k, t->weight, c);
	*out = &k->base;
	return STATUS_OK;
fail:
	destroy(&k->base);
	return s;
}
