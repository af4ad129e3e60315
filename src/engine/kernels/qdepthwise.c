// Depthwise integer convolution in LAYOUT_BLOCK, eight channels at a time: input rows are expanded to numbers with the zero point taken
// away, into a ring of as many rows as an output row sees; every one or two taps are then a multiplication and an addition.
#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>
#include "cpu.h"
#include "qdepthwise.h"

enum {
	RING_MOST = 16 << 20,       // bytes; beyond it the other kernel takes over
	PART_LEAST = 4,             // output rows that a thread takes at the least
	SIZE_MOST = 1 << 16,
	PIECE = 2 * QROWS,          // pixels that are summed and finished at a time
};

struct qdw {
	struct kernel base;
	struct qfinish finish;
	struct qscaling scaling;
	struct conv_geometry g;
	const struct qmicro *micro;
	const struct qdw_loops *loops;
	enum dtype in_type;
	int32_t in_zero, shift;     // of codes; what is taken away from them, and is not the zero point where that does not fit int16
	bool dense;                 // pixels of a vector are neighbours in memory
	int64_t vectors;            // of QDW_LANES channels, padding included
	int64_t span;               // input rows from the first that an output row sees to the last
	int64_t cols, pace;         // places of an expanded row, pixels from one to the next
	int64_t across, taps;       // numbers of a row that a sum takes, and of all rows
	int64_t apart, step;        // numbers from one to the next, from an output pixel's first to the next pixel's
	char *weight;               // [vector][tap][QDW_LANES] numbers
	char *bias;                 // [vector][QDW_LANES] sums
	float *scale, *fbias;       // [vector][QLANES]: eight channels twice, two pixels are finished as one row
};

static const struct qdw_loops *loops_here(bool wide)
{
#if defined(__x86_64__)
	const struct qdw_table *t = cpu_level() >= CPU_AVX2 ? &qdw_avx2 : &qdw_plain;
#else
	const struct qdw_table *t = &qdw_plain;
#endif
	return wide ? &t->wide : &t->narrow;
}

// Stored element of pixel p of the eight channels of vector v of image n.
static int64_t element(int64_t channels, int64_t plane, int64_t n, int64_t v, int64_t p)
{
	return act_offset(LAYOUT_BLOCK, layout_block(), channels, plane, n, v * QDW_LANES, p);
}

// Pixels that a row holds: those that outputs see and what stands beside the last.
static int64_t row_pixels(const struct qdw *k)
{
	return (k->cols - 1) * k->pace + 1 + k->g.dil_w;
}

// n pixels of what stands for zero.
static void blank(const struct qdw *k, char *line, int64_t n)
{
	if (dtype_size(k->in_type) == 1)
		memset(line, k->in_zero, (size_t)(n * QDW_LANES));
	else
		for (int64_t i = 0; i < n * QDW_LANES; i++)
			((int16_t *)(void *)line)[i] = (int16_t)(uint16_t)k->in_zero;
}

static void copy_pixels(const struct qdw *k, char *line, const char *x, int64_t n)
{
	size_t elem = dtype_size(k->in_type), group = elem * QDW_LANES, step = elem * (size_t)layout_block();

	if (k->dense)
		memcpy(line, x, (size_t)n * group);
	else
		for (int64_t p = 0; p < n; p++)
			memcpy(line + (size_t)p * group, x + (size_t)p * step, group);
}

// The rows that outputs are made from, for one vector of one image.
struct ring {
	const char *x;
	char *line;         // codes of a row with what lies beside the image
	char *rows;         // [span] expanded
	const char **tap;   // what each tap meets, for the first pixel of an output row
	int64_t next;       // first input row that is not yet in the ring
};

static size_t row_size(const struct qdw *k)
{
	return (size_t)(k->cols * QDW_LANES) * k->loops->size;
}

static char *ring_slot(const struct qdw *k, const struct ring *ring, int64_t row)
{
	return ring->rows + (size_t)((row + k->g.pad_t) % k->span) * row_size(k);
}

// The line is blank, or holds a row before: what lies beside the image stays as it is.
static void expand_row(const struct qdw *k, const struct ring *ring, int64_t row)
{
	const struct conv_geometry *g = &k->g;
	size_t elem = dtype_size(k->in_type);
	int64_t room = row_pixels(k) - g->pad_l, inside = g->w < room ? g->w : room;

	if (row < 0 || row >= g->h)
		blank(k, ring->line, row_pixels(k));
	else if (inside > 0)
		copy_pixels(k, ring->line + (size_t)(g->pad_l * QDW_LANES) * elem, ring->x + (size_t)(row * g->w * layout_block()) * elem,
		    inside);
	k->loops->spread[k->in_type](ring_slot(k, ring, row), ring->line, k->cols, k->pace, g->dil_w, k->shift);
}

// Brings in what output row i sees.
static void advance(const struct qdw *k, struct ring *ring, int64_t i)
{
	int64_t first = i * k->g.stride_h - k->g.pad_t;

	ring->next = ring->next > first ? ring->next : first;
	for (; ring->next < first + k->span; ring->next++)
		expand_row(k, ring, ring->next);
	const char **tap = ring->tap;
	for (int64_t r = 0; r < k->g.kh; r++) {
		const char *place = ring_slot(k, ring, first + r * k->g.dil_h);
		for (int64_t t = 0; t < k->across; t++, place += (size_t)k->apart * k->loops->size)
			*tap++ = place;
	}
}

// Channels of a vector past the tensor's last.
static void set_padding(const struct qdw *k, void *codes, int64_t v, int64_t n)
{
	for (int64_t c = k->g.oc - v * QDW_LANES < 0 ? 0 : k->g.oc - v * QDW_LANES; c < QDW_LANES; c++)
		for (int64_t p = 0; p < n; p++)
			qfinish_store_pad(&k->finish, codes, p * QDW_LANES + c);
}

static void store(const struct qdw *k, void *y, const char *codes, int64_t at, int64_t n)
{
	size_t elem = dtype_size(k->finish.type), group = elem * QDW_LANES, step = elem * (size_t)layout_block();
	char *to = (char *)y + (size_t)at * elem;

	if (k->dense)
		memcpy(to, codes, (size_t)n * group);
	else
		for (int64_t p = 0; p < n; p++)
			memcpy(to + (size_t)p * step, codes + (size_t)p * group, group);
}

static void sums_to_codes(const struct qdw *k, void *codes, const char *acc, int64_t v, int rows)
{
	const float *scale = k->scale + v * QLANES, *fbias = k->fbias + v * QLANES;
	float narrowed[PIECE * QDW_LANES];

	if (k->loops->to_float) {
		k->loops->to_float(narrowed, acc, rows * 2);
		k->micro->finish_wide(codes, narrowed, &k->scaling, scale, fbias, rows);
	} else {
		k->micro->finish(codes, (const int32_t *)(const void *)acc, &k->scaling, scale, fbias, rows);
	}
}

// n <= PIECE pixels of an output row from pixel j on.
static void run_pixels(const struct qdw *k, void *y, const struct ring *ring, int64_t j, int64_t v, int64_t at, int64_t n)
{
	_Alignas(64) char acc[PIECE * QDW_LANES * sizeof(double)], codes[PIECE * QDW_LANES * sizeof(float)];
	size_t vector = (size_t)(v * QDW_LANES) * k->loops->size;
	int rows = (int)(n + 3) / 4 * 2;

	k->loops->taps(acc, ring->tap, j, k->taps, k->weight + vector * (size_t)k->taps, k->bias + vector, k->step, n);
	if (k->dense && n % 4 == 0 && (v + 1) * QDW_LANES <= k->g.oc) {
		sums_to_codes(k, (char *)y + (size_t)at * dtype_size(k->finish.type), acc, v, rows);
		return;
	}
	sums_to_codes(k, codes, acc, v, rows);
	if ((v + 1) * QDW_LANES > k->g.oc)
		set_padding(k, codes, v, n);
	store(k, y, codes, at, n);
}

static size_t line_size(const struct qdw *k)
{
	return round_up((size_t)(row_pixels(k) * QDW_LANES) * dtype_size(k->in_type), 64);
}

// Places past the last are read for pixels that are thrown away.
static size_t ring_size(const struct qdw *k)
{
	return round_up((size_t)k->span * row_size(k) + (size_t)((QDW_ROUND - 1) * k->step) * k->loops->size, 64);
}

static size_t workspace_size(const struct qdw *k)
{
	return line_size(k) + ring_size(k) + round_up((size_t)k->taps * sizeof(char *), 64);
}

// Output rows first .. last - 1 of vector v of image n.
static void run_part(const struct qdw *k, const struct kernel_io *io, int64_t n, int64_t v, int64_t first, int64_t last, char *workspace)
{
	const struct conv_geometry *g = &k->g;
	struct ring ring = {
		.x = (const char *)io->x + (size_t)element(g->c, g->h * g->w, n, v, 0) * dtype_size(k->in_type),
		.line = workspace, .rows = workspace + line_size(k),
		.tap = (const char **)(void *)(workspace + line_size(k) + ring_size(k)), .next = -g->pad_t,
	};

	blank(k, ring.line, row_pixels(k));
	for (int64_t i = first; i < last; i++) {
		advance(k, &ring, i);
		for (int64_t j = 0; j < g->ow; j += PIECE)
			run_pixels(k, io->y, &ring, j, v, element(g->oc, g->oh * g->ow, n, v, i * g->ow + j),
			    g->ow - j < PIECE ? g->ow - j : PIECE);
	}
}

// Parts of a plane, so that every thread gets several; each expands the rows that it shares with its neighbour.
static int64_t parts_of(const struct qdw *k, int width)
{
	int64_t planes = k->g.n * k->vectors, parts = width > 1 ? (4 * width + planes - 1) / planes : 1;
	int64_t most = (k->g.oh + PART_LEAST - 1) / PART_LEAST;
	return parts < most ? parts : most;
}

static void run(const struct kernel *base, const struct kernel_io *io)
{
	const struct qdw *k = (const struct qdw *)base;
	int64_t parts = parts_of(k, io->width), oh = k->g.oh;

#pragma omp parallel for num_threads(io->width) schedule(dynamic) if (io->width > 1)
	for (int64_t i = 0; i < k->g.n * k->vectors * parts; i++)
		run_part(k, io, i / parts / k->vectors, i / parts % k->vectors, i % parts * oh / parts, (i % parts + 1) * oh / parts,
		    (char *)io->scratch + (size_t)omp_get_thread_num() * workspace_size(k));
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

static const struct kernel_ops ops = { .run = run, .scratch = scratch, .free = destroy };

static bool is_depthwise(const struct qconv_task *t)
{
	const struct conv_geometry *g = &t->g;
	const int64_t sizes[] = { g->kh, g->kw, g->stride_h, g->stride_w, g->dil_h, g->dil_w, g->pad_t, g->pad_l };

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
		if (sizes[i] < 0 || sizes[i] > SIZE_MOST)
			return false;
	return !t->transposed && g->group == g->c && g->c == g->oc && g->c > 1 && t->in == LAYOUT_BLOCK && t->out == LAYOUT_BLOCK;
}

// Whether sums are exact in int32, else in double; false when in neither.
static bool choose_numbers(struct qdw *k, const struct qconv_task *t)
{
	struct qentry e;
	double all = 0;

	if (!qentry_of(&e, t->in_type, t->in_zero))
		return false;
	k->shift = e.shift;
	for (int64_t c = 0; c < t->g.oc; c++) {
		double sum = 0;
		for (int64_t i = 0; i < t->g.kh * t->g.kw; i++)
			sum += abs(t->weight[c * t->g.kh * t->g.kw + i]);
		all = fmax(all, sum * (e.reach + abs(e.pad)) + fabs((double)k->finish.bias[c]));
	}
	k->loops = loops_here(all >= 2147483648.0);
	return all < 9007199254740992.0;
}

static bool plan(struct qdw *k)
{
	const struct conv_geometry *g = &k->g;
	int together = k->loops->together;
	int64_t across = (g->ow - 1) * g->stride_w + (g->kw - 1) * g->dil_w + 1;

	// With an even stride no output begins at an odd pixel, nor does a pair of neighbours.
	k->pace = together == 2 && g->stride_w % 2 == 0 && g->dil_w == 1 ? 2 : 1;
	k->span = (g->kh - 1) * g->dil_h + 1;
	across = across < g->pad_l ? g->pad_l : across;
	k->cols = (across + k->pace - 1) / k->pace;
	k->across = (g->kw + together - 1) / together;
	k->taps = g->kh * k->across;
	k->dense = layout_block() == QDW_LANES;
	k->apart = together * g->dil_w / k->pace * QDW_LANES;
	k->step = g->stride_w / k->pace * QDW_LANES;
	return (double)k->span * (double)k->cols * QDW_LANES * (double)k->loops->size <= RING_MOST;
}

static bool allocate(struct qdw *k)
{
	size_t lanes = (size_t)(k->vectors * QDW_LANES), taps = (size_t)k->taps;

	k->weight = qalloc(lanes, taps * k->loops->size);
	k->bias = qalloc(lanes, k->loops->size);
	k->scale = qalloc(2 * lanes, sizeof(float));
	k->fbias = qalloc(2 * lanes, sizeof(float));
	k->base.bytes = lanes * taps * k->loops->size;
	return k->weight && k->bias && k->scale && k->fbias;
}

// Weight (row, col) of channel c.
static void put_weight(struct qdw *k, int64_t c, int64_t row, int64_t col, int16_t w)
{
	int together = k->loops->together;
	int64_t tap = row * k->across + col / together, at = (c / QDW_LANES * k->taps + tap) * QDW_LANES + c % QDW_LANES;

	if (together == 2)
		((int16_t *)(void *)k->weight)[2 * at + col % 2] = w;
	else
		((double *)(void *)k->weight)[at] = w;
}

static void put_bias(struct qdw *k, int64_t c, int64_t bias)
{
	if (k->loops->to_float)
		((double *)(void *)k->bias)[c] = (double)bias;
	else
		((int32_t *)(void *)k->bias)[c] = (int32_t)bias;
}

static void pack_channel(struct qdw *k, const int16_t *weight, int64_t c)
{
	int64_t v = c / QDW_LANES, lane = c % QDW_LANES, sum = 0;

	for (int64_t i = 0; i < k->g.kh * k->g.kw; i++) {
		int16_t w = weight[c * k->g.kh * k->g.kw + i];
		put_weight(k, c, i / k->g.kw, i % k->g.kw, w);
		sum += w;
	}
	put_bias(k, c, k->finish.bias[c] - (k->in_zero - k->shift) * sum);
	for (int64_t half = 0; half < QLANES; half += QDW_LANES) {
		k->scale[v * QLANES + half + lane] = qscaling_scale(&k->scaling, &k->finish, c);
		k->fbias[v * QLANES + half + lane] = qscaling_fbias(&k->finish, c);
	}
}

enum status qfast_depthwise(struct kernel **out, const struct qconv_task *t, struct error *err)
{
	if (!is_depthwise(t))
		return STATUS_UNSUPPORTED;
	struct qdw *k = xcalloc(1, sizeof(*k));
	enum status s = qfinish_of_conv(&k->finish, t, err);

	k->base.ops = &ops;
	k->g = t->g;
	k->in_type = t->in_type;
	k->in_zero = t->in_zero;
	k->micro = qmicro_here();
	k->vectors = (t->g.c + layout_block() - 1) / layout_block() * (layout_block() / QDW_LANES);
	if (s != STATUS_OK)
		goto fail;
	s = STATUS_UNSUPPORTED;
	if (!qfinish_is_plain(&k->finish) || !choose_numbers(k, t) || !plan(k))
		goto fail;
	k->scaling = qscaling_of(&k->finish);
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
