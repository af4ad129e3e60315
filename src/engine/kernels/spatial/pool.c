// Max and average pooling, in both layouts. An output row is filled one tap of the window at a time, in the order
// (row, column) of the taps; a window's maximum may be taken of its rows' maxima, which is the same element.
// Padding of the blocked layout comes out as what it holds: the same value everywhere.
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "../../tensor/cpu.h"
#include "../kernel_impl.h"
#define POOL_TABLE pool_plain
#include "pool_body.h"
#include "qtui/base/parts.h"

enum { BAND_BYTES = 16384 }; // of maxima of rows, in the first-level cache

struct pool {
	struct kernel base;
	struct pool_task task;
	struct conv_geometry whole; // with the taps that meet padding alone, which averages may count; task.g is without them
	int64_t lanes, planes; // elements of a pixel; (image, channel or block of channels) pairs
	struct span *outputs;  // [kw] of each tap of a row, those that it meets
	float *columns;        // [ow] of an average, how many columns of the window count
	int64_t *taps;         // [kh * kw] of an average of stride 1, where they lie behind an element in a band
	float *counts;         // of such an average of plain pixels, what the sums of all lines are divided by
};

static const struct pool_table *table(void)
{
	enum cpu_level level = cpu_level();
	return level >= CPU_AVX512 ? &pool_avx512 : level >= CPU_AVX2 ? &pool_avx2 : &pool_plain;
}

static pool_row_fn *maximum(const struct pool_task *t)
{
	return t->max_nan && t->type == DT_F32 ? table()->max_nan : table()->max[t->type];
}

static size_t pixel_bytes(const struct pool *k)
{
	return (size_t)k->lanes * dtype_size(k->task.type);
}

// Sets n elements to the least value of the type, or to 0 for sums.
static void fill_start(void *y, const struct pool_task *t, int64_t n)
{
	float *f = y, start = t->max ? -INFINITY : 0.0f;
	int16_t *s = y;
	if (t->type == DT_F32) {
		_Pragma("omp simd") for (int64_t i = 0; i < n; i++) f[i] = start;
	} else if (t->type == DT_I16) {
		_Pragma("omp simd") for (int64_t i = 0; i < n; i++) s[i] = INT16_MIN;
	} else {
		memset(y, t->type == DT_I8 ? INT8_MIN : 0, (size_t)n);
	}
}

// The taps of one row of the window, on a row of the input.
static void add_row(const struct pool *k, char *y, const char *x, pool_row_fn *tap)
{
	const struct conv_geometry *g = &k->task.g;
	size_t pixel = pixel_bytes(k);
	for (int64_t kx = 0; kx < g->kw; kx++) {
		int64_t offset = kx * g->dil_w - g->pad_l;
		struct span s = k->outputs[kx];
		if (s.first < s.end)
			tap(y + (size_t)s.first * pixel, x + (size_t)(s.first * g->stride_w + offset) * pixel, s.end - s.first, g->stride_w,
			    k->lanes);
	}
}

// The rows of a window that lie in the image.
static struct span window_rows(const struct pool *k, int64_t oy)
{
	const struct conv_geometry *g = &k->task.g;
	return conv_span(g->kh, g->dil_h, oy * g->stride_h - g->pad_t, g->h);
}

static int64_t input_row(const struct pool *k, int64_t oy, int64_t ky)
{
	return oy * k->task.g.stride_h + ky * k->task.g.dil_h - k->task.g.pad_t;
}

// Taps of a window that begins at `at` which lie in [low, high).
static int64_t taps_inside(int64_t at, int64_t taps, int64_t dilation, int64_t low, int64_t high)
{
	struct span s = conv_span(taps, dilation, at - low, high - low);
	return s.end > s.first ? s.end - s.first : 0;
}

static float rows_that_count(const struct pool *k, int64_t oy)
{
	const struct conv_geometry *g = &k->whole;
	bool pad = k->task.count_include_pad;
	return (float)taps_inside(oy * g->stride_h - g->pad_t, g->kh, g->dil_h, pad ? -g->pad_t : 0, g->h + (pad ? g->pad_b : 0));
}

static void divide_row(const struct pool *k, float *y, const float *sums, int64_t oy)
{
	table()->divide(y, sums, k->columns, rows_that_count(k, oy), k->task.g.ow, k->lanes);
}

static void pool_row(const struct pool *k, const struct kernel_io *io, int64_t plane, int64_t oy)
{
	const struct conv_geometry *g = &k->task.g;
	size_t pixel = pixel_bytes(k);
	char *y = (char *)io->y + (size_t)((plane * g->oh + oy) * g->ow) * pixel;
	const char *x = (const char *)io->x + (size_t)(plane * g->h * g->w) * pixel;
	pool_row_fn *tap = k->task.max ? maximum(&k->task) : table()->sum;
	struct span rows = window_rows(k, oy);
	fill_start(y, &k->task, g->ow * k->lanes);
	for (int64_t ky = rows.first; ky < rows.end; ky++)
		add_row(k, y, x + (size_t)(input_row(k, oy, ky) * g->w) * pixel, tap);
	if (!k->task.max)
		divide_row(k, (float *)y, (float *)y, oy);
}

struct call {
	const struct pool *k;
	const struct kernel_io *io;
	int64_t rows, bands; // of outputs, in a band of a plane; bands of a plane
};

static void one_row(void *arg, int64_t row, int thread)
{
	const struct call *c = arg;
	(void)thread;
	pool_row(c->k, c->io, row / c->k->task.g.oh, row % c->k->task.g.oh);
}

// What fits the first-level cache is done before another thread has begun.
static int width_of(const struct pool *k, int width)
{
	enum { ALONE = 32 << 10 };
	return (size_t)(k->planes * k->task.g.h * k->task.g.w) * pixel_bytes(k) > ALONE ? width : 1;
}

static void run_rows(const struct kernel *kernel, const struct kernel_io *io)
{
	const struct pool *k = (const struct pool *)kernel;
	parts_share(k->planes * k->task.g.oh, width_of(k, io->width), one_row, &(struct call){.k = k, .io = io});
}

// A band of output rows of one plane: the maxima of all input rows that their windows have,
// each once, and then those of the windows.
static void max_band(const struct pool *k, const struct kernel_io *io, char *lines, int64_t plane, int64_t first, int64_t end)
{
	const struct conv_geometry *g = &k->task.g;
	size_t pixel = pixel_bytes(k), line = (size_t)g->ow * pixel;
	const char *x = (const char *)io->x + (size_t)(plane * g->h * g->w) * pixel;
	char *y = (char *)io->y + (size_t)(plane * g->oh) * line;
	pool_row_fn *tap = maximum(&k->task);
	int64_t from = input_row(k, first, 0), to = input_row(k, end - 1, g->kh - 1) + 1;
	from = from > 0 ? from : 0;
	to = to < g->h ? to : g->h;
	for (int64_t iy = from; iy < to; iy++) {
		char *maxima = lines + (size_t)(iy - from) * line;
		fill_start(maxima, &k->task, g->ow * k->lanes);
		add_row(k, maxima, x + (size_t)(iy * g->w) * pixel, tap);
	}
	for (int64_t oy = first; oy < end; oy++) {
		struct span rows = window_rows(k, oy);
		fill_start(y + (size_t)oy * line, &k->task, g->ow * k->lanes);
		for (int64_t ky = rows.first; ky < rows.end; ky++)
			tap(y + (size_t)oy * line, lines + (size_t)(input_row(k, oy, ky) - from) * line, g->ow, 1, k->lanes);
	}
}

// Output rows that are done together: as many as keep the maxima in the first-level cache,
// but enough that few are made twice.
static int64_t band_rows(const struct pool *k)
{
	const struct conv_geometry *g = &k->task.g;
	int64_t fit = (int64_t)(BAND_BYTES / ((size_t)g->ow * pixel_bytes(k))) / g->stride_h, least = 2 * g->kh;
	int64_t rows = fit > least ? fit : least;
	return rows < g->oh ? rows : g->oh;
}

static size_t band_bytes(const struct pool *k)
{
	const struct conv_geometry *g = &k->task.g;
	int64_t rows = (band_rows(k) - 1) * g->stride_h + (g->kh - 1) * g->dil_h + 1;
	return round_up((size_t)((rows < g->h ? rows : g->h) * g->ow) * pixel_bytes(k), 64);
}

static size_t bands_scratch(const struct kernel *kernel, int width)
{
	return (size_t)width * band_bytes((const struct pool *)kernel);
}

static void one_band(void *arg, int64_t i, int thread)
{
	const struct call *c = arg;
	int64_t oh = c->k->task.g.oh, first = i % c->bands * c->rows, end = first + c->rows < oh ? first + c->rows : oh;
	max_band(c->k, c->io, (char *)c->io->scratch + (size_t)thread * band_bytes(c->k), i / c->bands, first, end);
}

static void run_bands(const struct kernel *kernel, const struct kernel_io *io)
{
	const struct pool *k = (const struct pool *)kernel;
	int64_t rows = band_rows(k), bands = (k->task.g.oh + rows - 1) / rows;
	parts_share(k->planes * bands, width_of(k, io->width), one_band, &(struct call){k, io, rows, bands});
}

// A band of averages of stride 1 has its input with the zeros around it, so that all its sums are one run:
// each line is as long as the outputs and the window make it.
static int64_t line_floats(const struct pool *k)
{
	const struct conv_geometry *g = &k->task.g;
	return (g->ow + (g->kw - 1) * g->dil_w) * k->lanes;
}

static int64_t window_lines(const struct pool *k)
{
	return (k->task.g.kh - 1) * k->task.g.dil_h;
}

static int64_t average_rows(const struct pool *k)
{
	enum { BAND_FLOATS = 3072, AGAIN = 4 }; // of a band; parts of it that two bands may both have
	int64_t fit = BAND_FLOATS / line_floats(k) - window_lines(k), least = AGAIN * window_lines(k) + 1, rows = fit > least ? fit : least;
	return rows < k->task.g.oh ? rows : k->task.g.oh;
}

// Of the lines of a band; its sums take no more.
static size_t lines_bytes(const struct pool *k)
{
	return round_up((size_t)((average_rows(k) + window_lines(k)) * line_floats(k) + POOL_VECTOR) * sizeof(float), 64);
}

static size_t averages_scratch(const struct kernel *kernel, int width)
{
	return (size_t)width * 2 * lines_bytes((const struct pool *)kernel);
}

static void fill_lines(const struct pool *k, float *lines, const float *x, int64_t first, int64_t n)
{
	const struct conv_geometry *g = &k->task.g;
	int64_t line = line_floats(k), row = g->w * k->lanes, from = g->pad_l * k->lanes, i = first < 0 ? -first : 0;
	size_t inside = (size_t)(from > line ? 0 : row < line - from ? row : line - from) * sizeof *x;
	memset(lines, 0, (size_t)(n * line + POOL_VECTOR) * sizeof *lines);
	for (; i < n && first + i < g->h; i++)
		memcpy(lines + i * line + from, x + (first + i) * row, inside);
}

static void average_band(void *arg, int64_t i, int thread)
{
	const struct call *c = arg;
	const struct pool *k = c->k;
	const struct conv_geometry *g = &k->task.g;
	int64_t plane = i / c->bands, first = i % c->bands * c->rows, rows = g->oh - first < c->rows ? g->oh - first : c->rows;
	int64_t line = line_floats(k), row = g->ow * k->lanes;
	float *lines = (float *)((char *)c->io->scratch + (size_t)thread * 2 * lines_bytes(k)), *sums = lines + lines_bytes(k) / sizeof *sums;
	float *y = (float *)c->io->y + (plane * g->oh + first) * row;
	fill_lines(k, lines, (const float *)c->io->x + plane * g->h * g->w * k->lanes, first - g->pad_t, rows + window_lines(k));
	table()->window(sums, lines, k->taps, g->kh * g->kw, k->counts ? k->counts + first * line : NULL, (rows - 1) * line + row);
	for (int64_t r = 0; r < rows; r++, y += row, sums += line)
		if (k->counts)
			memcpy(y, sums, (size_t)row * sizeof *y);
		else
			divide_row(k, y, sums, first + r);
}

static void run_averages(const struct kernel *kernel, const struct kernel_io *io)
{
	const struct pool *k = (const struct pool *)kernel;
	int64_t rows = average_rows(k), bands = (k->task.g.oh + rows - 1) / rows;
	parts_share(k->planes * bands, width_of(k, io->width), average_band, &(struct call){k, io, rows, bands});
}

static void average_plane(void *arg, int64_t p, int thread)
{
	const struct call *c = arg;
	int64_t pixels = c->k->task.g.h * c->k->task.g.w, lanes = c->k->lanes;
	float *y = (float *)c->io->y + p * lanes;
	(void)thread;
	table()->total(y, (const float *)c->io->x + p * pixels * lanes, pixels, lanes);
	for (int64_t l = 0; l < lanes; l++)
		y[l] /= (float)pixels;
}

static void run_global_average(const struct kernel *kernel, const struct kernel_io *io)
{
	const struct pool *k = (const struct pool *)kernel;
	parts_share(k->planes, width_of(k, io->width), average_plane, &(struct call){.k = k, .io = io});
}

// The maximum of a plane, by ever shorter rows of maxima: of all its pieces, of the halves of that, ...
static void max_plane(void *arg, int64_t p, int thread)
{
	enum { PIECE = 256, LONGEST = 16 * 4 }; // pixels; bytes of one
	const struct call *c = arg;
	const struct pool *k = c->k;
	int64_t pixels = k->task.g.h * k->task.g.w, n = pixels < PIECE ? pixels : PIECE;
	pool_row_fn *tap = maximum(&k->task);
	size_t pixel = pixel_bytes(k);
	const char *x = (const char *)c->io->x + (size_t)(p * pixels) * pixel;
	char y[PIECE * LONGEST];
	(void)thread;
	fill_start(y, &k->task, n * k->lanes);
	for (int64_t i = 0; i < pixels; i += n)
		tap(y, x + (size_t)i * pixel, pixels - i < n ? pixels - i : n, 1, k->lanes);
	for (int64_t half; n > 1; n = half) {
		half = (n + 1) / 2;
		tap(y, y + (size_t)half * pixel, n - half, 1, k->lanes);
	}
	memcpy((char *)c->io->y + (size_t)p * pixel, y, pixel);
}

static void run_global_max(const struct kernel *kernel, const struct kernel_io *io)
{
	const struct pool *k = (const struct pool *)kernel;
	parts_share(k->planes, width_of(k, io->width), max_plane, &(struct call){.k = k, .io = io});
}

static void pool_free(struct kernel *kernel)
{
	struct pool *k = (struct pool *)kernel;
	free(k->outputs);
	free(k->columns);
	free(k->taps);
	free(k->counts);
	free(k);
}

static const struct kernel_ops row_ops = {run_rows, NULL, pool_free}, band_ops = {run_bands, bands_scratch, pool_free};
static const struct kernel_ops averages_ops = {run_averages, averages_scratch, pool_free};
static const struct kernel_ops average_ops = {run_global_average, NULL, pool_free}, max_ops = {run_global_max, NULL, pool_free};

static bool is_padded(const struct conv_geometry *g)
{
	return g->pad_t || g->pad_l || g->pad_b || g->pad_r;
}

// Whether the one output is of all elements, which alone count.
static bool is_global(const struct pool *k)
{
	const struct conv_geometry *g = &k->task.g;
	return g->oh * g->ow == 1 && g->kh == g->h && g->kw == g->w && g->dil_h == 1 && g->dil_w == 1 && !is_padded(g) &&
	    !(k->task.count_include_pad && is_padded(&k->whole));
}

// Whether the maxima of rows save taps.
static bool is_banded(const struct pool_task *t)
{
	const struct conv_geometry *g = &t->g;
	return t->max && g->oh > 0 && g->ow > 0 && g->stride_h * g->kw + g->kh < g->kh * g->kw;
}

// A window far larger than the input is zeros, mostly.
static bool is_dense_average(const struct pool_task *t)
{
	const struct conv_geometry *g = &t->g;
	return !t->max && g->stride_h == 1 && g->stride_w == 1 && g->oh > 0 && g->ow > 0 && g->kh <= 2 * g->h && g->kw <= 2 * g->w;
}

static const struct kernel_ops *ops_of(const struct pool *k)
{
	const struct pool_task *t = &k->task;
	if (is_global(k))
		return t->max ? &max_ops : &average_ops;
	return is_banded(t) ? &band_ops : is_dense_average(t) ? &averages_ops : &row_ops;
}

// What does not change from row to row.
static enum status measure_columns(struct pool *k, struct error *err)
{
	const struct conv_geometry *g = &k->task.g, *all = &k->whole;
	int64_t before = k->task.count_include_pad ? all->pad_l : 0, after = k->task.count_include_pad ? all->pad_r : 0;
	k->outputs = mem_try_array((size_t)g->kw, sizeof *k->outputs);
	k->columns = mem_try_array((size_t)g->ow, sizeof *k->columns);
	if (!k->outputs || !k->columns)
		return error_set(err, STATUS_NOMEM, "no memory for a window of %lld columns", (long long)g->kw);
	for (int64_t kx = 0; kx < g->kw; kx++)
		k->outputs[kx] = conv_span(g->ow, g->stride_w, kx * g->dil_w - g->pad_l, g->w);
	for (int64_t ox = 0; ox < g->ow; ox++)
		k->columns[ox] = (float)taps_inside(ox * all->stride_w - all->pad_l, all->kw, all->dil_w, -before, all->w + after);
	return STATUS_OK;
}

static enum status measure_taps(struct pool *k, struct error *err)
{
	const struct conv_geometry *g = &k->task.g;
	k->taps = mem_try_array((size_t)(g->kh * g->kw), sizeof *k->taps);
	if (!k->taps)
		return error_set(err, STATUS_NOMEM, "no memory for a window of %lld by %lld", (long long)g->kh, (long long)g->kw);
	for (int64_t i = 0; i < g->kh * g->kw; i++)
		k->taps[i] = i / g->kw * g->dil_h * line_floats(k) + i % g->kw * g->dil_w * k->lanes;
	return STATUS_OK;
}

static enum status measure_lines(struct pool *k, struct error *err)
{
	const struct conv_geometry *g = &k->task.g;
	int64_t line = line_floats(k), n = g->oh * line + POOL_VECTOR;
	k->counts = mem_try_array((size_t)n, sizeof *k->counts);
	if (!k->counts)
		return error_set(err, STATUS_NOMEM, "no memory for averages of %lld by %lld pixels", (long long)g->oh, (long long)g->ow);
	for (int64_t i = 0; i < n; i++) {
		float count = i / line < g->oh && i % line < g->ow ? rows_that_count(k, i / line) * k->columns[i % line] : 0;
		k->counts[i] = count > 0 ? count : 1;
	}
	return STATUS_OK;
}

// Leaves out the first and the last taps of an axis, which no output finds inside of the input.
static void clip_taps(int64_t *taps, int64_t *pad, int64_t dilation, int64_t stride, int64_t in, int64_t out)
{
	int64_t before = *pad - (out - 1) * stride, first = before > 0 ? (before + dilation - 1) / dilation : 0;
	int64_t end = (*pad + in - 1) / dilation + 1;
	if (first > *pad / dilation)
		first = *pad / dilation; // padding is never negative
	if (first > *taps - 1)
		first = *taps - 1;
	if (end > *taps)
		end = *taps;
	*taps = end > first ? end - first : 1;
	*pad -= first * dilation;
}

static void clip_window(struct conv_geometry *g)
{
	if (g->oh < 1 || g->ow < 1)
		return;
	clip_taps(&g->kh, &g->pad_t, g->dil_h, g->stride_h, g->h, g->oh);
	clip_taps(&g->kw, &g->pad_l, g->dil_w, g->stride_w, g->w, g->ow);
}

enum status kernel_pool(struct kernel **out, const struct pool_task *t, struct error *err)
{
	*out = NULL;
	if (t->max ? !pool_plain.max[t->type] : t->type != DT_F32)
		return STATUS_UNSUPPORTED;
	struct pool *k = xcalloc(1, sizeof *k);
	k->task = *t;
	k->whole = t->g;
	clip_window(&k->task.g);
	k->base.ops = ops_of(k);
	k->lanes = t->layout == LAYOUT_BLOCK ? layout_block() : 1;
	k->planes = t->g.n * ((t->g.c + k->lanes - 1) / k->lanes);
	*out = &k->base;
	enum status s = measure_columns(k, err);
	if (s == STATUS_OK && k->base.ops == &averages_ops)
		s = measure_taps(k, err);
	if (s == STATUS_OK && k->base.ops == &averages_ops && k->lanes == 1)
		s = measure_lines(k, err);
	if (s != STATUS_OK)
		kernel_free(out);
	return s;
}
