// Depthwise integer convolution in LAYOUT_BLOCK: for eight channels and a few output rows, the input rows are expanded to numbers
// with the zero point taken away, then every tap is a multiplication and an addition over a row of pixels.
#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>
#include "cpu.h"
#include "qdepthwise.h"

enum {
	TILE_BYTES = 24 * 1024,     // stays in the first-level cache with the sums
	TILE_MOST = 16 << 20,
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
	int32_t in_zero;
	int64_t vectors;            // of QDW_LANES channels, padding included
	int64_t tile_h, cols, rows; // output rows of a tile; input pixels across, and down for a whole tile
	int64_t taps, *offset;      // in numbers from a pixel's first tap
	char *weight;               // [vector][tap][QDW_LANES] numbers
	char *bias;                 // [vector][QDW_LANES] numbers
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

static void expand_row(const struct qdw *k, char *y, const void *x, int64_t n, int64_t v, int64_t row)
{
	const struct conv_geometry *g = &k->g;
	size_t pixel = k->loops->size * QDW_LANES;
	int64_t inside = row < 0 || row >= g->h ? 0 : g->w < k->cols - g->pad_l ? g->w : k->cols - g->pad_l;

	if (inside <= 0) {
		memset(y, 0, (size_t)k->cols * pixel);
		return;
	}
	memset(y, 0, (size_t)g->pad_l * pixel);
	y += (size_t)g->pad_l * pixel;
	const char *from = (const char *)x + (size_t)element(g->c, g->h * g->w, n, v, row * g->w) * dtype_size(k->in_type);
	k->loops->expand[k->in_type](y, from, layout_block(), inside, k->in_zero);
	memset(y + (size_t)inside * pixel, 0, (size_t)(k->cols - g->pad_l - inside) * pixel);
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

	if (step == group)
		memcpy(to, codes, (size_t)n * group);
	else
		for (int64_t p = 0; p < n; p++)
			memcpy(to + (size_t)p * step, codes + (size_t)p * group, group);
}

// n <= PIECE pixels of an output row, from the numbers at x.
static void run_pixels(const struct qdw *k, void *y, const char *x, int64_t v, int64_t at, int64_t n)
{
	_Alignas(64) char acc[PIECE * QDW_LANES * sizeof(double)], codes[PIECE * QDW_LANES * sizeof(float)];
	float narrowed[PIECE * QDW_LANES];
	const struct qdw_loops *loops = k->loops;
	size_t vector = (size_t)(v * QDW_LANES) * loops->size;

	loops->taps(acc, x, k->offset, k->taps, k->weight + vector * (size_t)k->taps, k->bias + vector, k->g.stride_w * QDW_LANES, n);
	if (loops->to_float)
		loops->to_float(narrowed, acc, (n + 3) / 4 * 4);
	k->micro->finish_wide(codes, loops->to_float ? narrowed : (const float *)acc, &k->scaling, k->scale + v * QLANES,
	    k->fbias + v * QLANES, (int)(n + 3) / 4 * 2);
	if ((v + 1) * QDW_LANES > k->g.oc)
		set_padding(k, codes, v, n);
	store(k, y, codes, at, n);
}

// Pixels past a tile's last that the loops read and throw away.
static int64_t slack_of(const struct qdw *k)
{
	return (QDW_ROUND - 1) * k->g.stride_w;
}

static void run_tile(const struct qdw *k, const struct kernel_io *io, int64_t n, int64_t v, int64_t first, char *tile)
{
	const struct conv_geometry *g = &k->g;
	int64_t rows = g->oh - first < k->tile_h ? g->oh - first : k->tile_h, down = k->rows - (k->tile_h - rows) * g->stride_h;
	size_t pixel = k->loops->size * QDW_LANES;

	for (int64_t r = 0; r < down; r++)
		expand_row(k, tile + (size_t)(r * k->cols) * pixel, io->x, n, v, first * g->stride_h - g->pad_t + r);
	memset(tile + (size_t)(down * k->cols) * pixel, 0, (size_t)slack_of(k) * pixel);
	for (int64_t i = 0; i < rows; i++) {
		for (int64_t j = 0; j < g->ow; j += PIECE) {
			int64_t at = element(g->oc, g->oh * g->ow, n, v, (first + i) * g->ow + j);
			const char *x = tile + (size_t)(i * g->stride_h * k->cols + j * g->stride_w) * pixel;
			run_pixels(k, io->y, x, v, at, g->ow - j < PIECE ? g->ow - j : PIECE);
		}
	}
}

static size_t tile_size(const struct qdw *k)
{
	return round_up((size_t)((k->rows * k->cols + slack_of(k)) * QDW_LANES) * k->loops->size, 64);
}

static void run(const struct kernel *base, const struct kernel_io *io)
{
	const struct qdw *k = (const struct qdw *)base;
	int64_t tiles = (k->g.oh + k->tile_h - 1) / k->tile_h;

#pragma omp parallel for num_threads(io->width) if (io->width > 1)
	for (int64_t i = 0; i < k->g.n * k->vectors * tiles; i++)
		run_tile(k, io, i / tiles / k->vectors, i / tiles % k->vectors, i % tiles * k->tile_h,
		    (char *)io->scratch + (size_t)omp_get_thread_num() * tile_size(k));
}

static size_t scratch(const struct kernel *base, int width)
{
	return tile_size((const struct qdw *)base) * (size_t)width;
}

static void destroy(struct kernel *base)
{
	struct qdw *k = (struct qdw *)base;
	qfinish_done(&k->finish);
	free(k->offset);
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

// Whether sums are exact in float, else in double; false when in neither.
static bool choose_numbers(struct qdw *k, const struct qconv_task *t)
{
	int32_t low = t->in_type == DT_I8 ? INT8_MIN : t->in_type == DT_I16 ? INT16_MIN : 0;
	int32_t high = low + (dtype_size(t->in_type) == 1 ? UINT8_MAX : UINT16_MAX);
	double reach = fmax(abs(high - t->in_zero), abs(low - t->in_zero)), all = 0;

	for (int64_t c = 0; c < t->g.oc; c++) {
		double sum = 0;
		for (int64_t i = 0; i < t->g.kh * t->g.kw; i++)
			sum += abs(t->weight[c * t->g.kh * t->g.kw + i]);
		all = fmax(all, sum * reach + fabs((double)k->finish.bias[c]));
	}
	k->loops = loops_here(all >= 16777216.0);
	return all < 9007199254740992.0;
}

static bool plan(struct qdw *k)
{
	const struct conv_geometry *g = &k->g;
	int64_t span_h = (g->kh - 1) * g->dil_h + 1, span_w = (g->kw - 1) * g->dil_w + 1;

	k->cols = (g->ow - 1) * g->stride_w + span_w;
	if (k->cols < g->pad_l)
		k->cols = g->pad_l;
	double row = (double)k->cols * QDW_LANES * (double)k->loops->size;
	int64_t fit = row < TILE_BYTES ? (int64_t)(TILE_BYTES / row) : 0;
	k->tile_h = fit > span_h ? (fit - span_h) / g->stride_h + 1 : 1;
	k->tile_h = k->tile_h < g->oh ? k->tile_h : g->oh;
	k->rows = (k->tile_h - 1) * g->stride_h + span_h;
	return row * (double)k->rows <= TILE_MOST;
}

static bool allocate(struct qdw *k)
{
	size_t lanes = (size_t)(k->vectors * QDW_LANES);

	k->offset = qalloc((size_t)k->taps, sizeof(int64_t));
	k->weight = qalloc(lanes, (size_t)k->taps * k->loops->size);
	k->bias = qalloc(lanes, k->loops->size);
	k->scale = qalloc(2 * lanes, sizeof(float));
	k->fbias = qalloc(2 * lanes, sizeof(float));
	k->base.bytes = lanes * (size_t)k->taps * k->loops->size;
	return k->offset && k->weight && k->bias && k->scale && k->fbias;
}

static void put(const struct qdw *k, char *array, int64_t i, double v)
{
	if (k->loops->size == sizeof(float))
		((float *)array)[i] = (float)v;
	else
		((double *)array)[i] = v;
}

static void pack(struct qdw *k, const int16_t *weight)
{
	for (int64_t i = 0; i < k->taps; i++)
		k->offset[i] = (i / k->g.kw * k->g.dil_h * k->cols + i % k->g.kw * k->g.dil_w) * QDW_LANES;
	for (int64_t c = 0; c < k->g.oc; c++) {
		int64_t v = c / QDW_LANES, lane = c % QDW_LANES;
		for (int64_t i = 0; i < k->taps; i++)
			put(k, k->weight, (v * k->taps + i) * QDW_LANES + lane, weight[c * k->taps + i]);
		put(k, k->bias, c, (double)k->finish.bias[c]);
		for (int64_t half = 0; half < QLANES; half += QDW_LANES) {
			k->scale[v * QLANES + half + lane] = qscaling_scale(&k->scaling, &k->finish, c);
			k->fbias[v * QLANES + half + lane] = qscaling_fbias(&k->finish, c);
		}
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
	k->taps = t->g.kh * t->g.kw;
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
	pack(k, t->weight);
	*out = &k->base;
	return STATUS_OK;
fail:
	destroy(&k->base);
	return s;
}
