// Phases, taps, runs and tiles of a fast integer convolution.
#include <stdlib.h>
#include "qconv.h"

enum {
	POINT_BYTES = 24 * 1024,    // a tile of a 1x1 convolution: stays in the first-level cache
	TILE_BYTES = 128 * 1024,    // of others: in the second level; the rows that tiles share are expanded twice
	TILE_MOST = 16 << 20,       // beyond it the reference takes over
	EXPANDED_MOST = 4,          // pixels for each that the tile's outputs step over, else the tile grows: wide dilations see far
	PHASES_MOST = 64,
	SIZE_MOST = 1 << 20,        // of kernel, stride, dilation and padding
};

// An axis of the convolution and the phase of its outputs: those at phase, phase + step ...
struct axis {
	bool transposed;
	int64_t in, out, phase, stride, dil, pad;
};

static struct axis axis_h(const struct conv_geometry *g, bool transposed, int64_t phase)
{
	return (struct axis){transposed, g->h, g->oh, phase, g->stride_h, g->dil_h, g->pad_t};
}

static struct axis axis_w(const struct conv_geometry *g, bool transposed, int64_t phase)
{
	return (struct axis){transposed, g->w, g->ow, phase, g->stride_w, g->dil_w, g->pad_l};
}

static int64_t out_step(const struct axis *a)
{
	return a->transposed ? a->stride : 1;
}

// Input pixels from one output of the phase to the next.
static int64_t in_step(const struct axis *a)
{
	return a->transposed ? 1 : a->stride;
}

static int64_t out_count(const struct axis *a)
{
	return a->out > a->phase ? (a->out - a->phase + out_step(a) - 1) / out_step(a) : 0;
}

// Input coordinate of tap t for phase coordinate 0; false when the phase does not see the tap, or the tap only padding,
// as wide dilations of small images have it: all their rows would have to be expanded.
static bool tap_at(int64_t *at, const struct axis *a, int64_t t)
{
	*at = a->transposed ? (a->phase + a->pad - t * a->dil) / a->stride : t * a->dil - a->pad;
	if (a->transposed && *at * a->stride != a->phase + a->pad - t * a->dil)
		return false;
	return *at < a->in && *at + (out_count(a) - 1) * in_step(a) >= 0;
}

int64_t qconv_taps(struct qtap *taps, const struct conv_geometry *g, bool transposed, int64_t phase_h, int64_t phase_w)
{
	const struct axis h = axis_h(g, transposed, phase_h), w = axis_w(g, transposed, phase_w);
	int64_t n = 0;
	for (int64_t i = 0; i < g->kh; i++) {
		struct qtap tap = {.kh = transposed ? g->kh - 1 - i : i}; // rising input coordinates either way
		if (!tap_at(&tap.row, &h, tap.kh))
			continue;
		for (int64_t j = 0; j < g->kw; j++) {
			tap.kw = transposed ? g->kw - 1 - j : j;
			if (tap_at(&tap.col, &w, tap.kw))
				taps[n++] = tap;
		}
	}
	return n;
}

static void plan_span(struct qphase *p, const struct qtap *taps, int64_t n)
{
	p->top = n ? taps[0].row : 0;
	p->left = n ? taps[0].col : 0;
	p->span_h = p->span_w = 1;
	for (int64_t i = 0; i < n; i++) {
		if (taps[i].row - p->top >= p->span_h)
			p->span_h = taps[i].row - p->top + 1;
		if (taps[i].col - p->left >= p->span_w)
			p->span_w = taps[i].col - p->left + 1;
	}
}

static int64_t at_least(int64_t v, int64_t low)
{
	return v < low ? low : v;
}

// The steps of `stride` that fit `room`, the first taking `span`; evened out over the pieces that n steps then make.
static int64_t tile_steps(int64_t room, int64_t span, int64_t stride, int64_t n)
{
	int64_t most = at_least((room - span) / stride + 1, 1);
	int64_t pieces = (n + most - 1) / most;
	return at_least((n + pieces - 1) / at_least(pieces, 1), 1);
}

static int64_t tile_rows(const struct qphase *p)
{
	return (p->tile_h - 1) * p->stride_h + p->span_h;
}

// Room is in pixels.
static void fit_tile(struct qphase *p, int64_t room, int rows)
{
	p->tile_w = tile_steps(room / p->span_h, p->span_w, p->stride_w, p->nw);
	if (p->tile_w < p->nw && p->tile_w > rows)
		p->tile_w -= p->tile_w % rows;
	p->cols = (p->tile_w - 1) * p->stride_w + p->span_w;
	p->tile_h = tile_steps(room / p->cols, p->span_h, p->stride_h, p->nh);
}

static bool expands_too_much(const struct qphase *p)
{
	double stepped = (double)(p->tile_w * p->stride_w) * (double)(p->tile_h * p->stride_h);
	return (p->tile_w < p->nw || p->tile_h < p->nh) && (double)p->cols * (double)tile_rows(p) > EXPANDED_MOST * stepped;
}

// pixel: bytes of one.
static bool plan_tile(struct qphase *p, int64_t pixel, int rows)
{
	int64_t bytes = p->span_h == 1 && p->span_w == 1 ? POINT_BYTES : TILE_BYTES;
	fit_tile(p, bytes / pixel, rows);
	while (expands_too_much(p) && (bytes *= 2) <= TILE_MOST)
		fit_tile(p, bytes / pixel, rows);
	return (double)p->cols * (double)tile_rows(p) * (double)pixel <= TILE_MOST;
}

int64_t qconv_run_end(const struct qtap *taps, int64_t n, int64_t first, bool whole)
{
	int64_t end = first + 1;
	while (whole && end < n && taps[end].row == taps[first].row && taps[end].col == taps[end - 1].col + 1)
		end++;
	return end;
}

static void add_run(struct qphase *p, struct qrun run, int64_t chunk, int64_t *room)
{
	while (run.words > 0) {
		struct qrun part = run;
		if (part.words > *room)
			part.words = *room;
		*room -= part.words;
		part.flush = *room == 0;
		if (part.flush)
			*room = chunk;
		p->runs[p->n_runs++] = part;
		run.offset += QWORD * part.words;
		run.words -= part.words;
	}
}

static enum status plan_runs(struct qconv *k, struct qphase *p, const struct qtap *taps, int64_t n)
{
	int64_t cg = k->g.c / k->g.group, pitch = k->image.pitch, chunk = k->split.chunk, room = chunk, size = k->micro->size;
	int64_t total = n * (pitch + 1) / 2 + n; // an upper bound of all words
	p->runs = mem_try_array((size_t)(n + total / chunk + 2), sizeof *p->runs);
	if (!p->runs)
		return STATUS_NOMEM;
	for (int64_t i = 0, end; i < n; i = end) {
		end = qconv_run_end(taps, n, i, k->g.group == 1);
		struct qrun run = {
			.offset = ((taps[i].row - p->top) * p->cols + taps[i].col - p->left) * pitch * size,
			.words = qmicro_words(k->micro, (end - i - 1) * pitch + cg),
		};
		p->words += run.words;
		add_run(p, run, chunk, &room);
	}
	if (p->n_runs)
		p->runs[p->n_runs - 1].flush = true;
	return STATUS_OK;
}

static void plan_outputs(struct qphase *p, const struct axis *h, const struct axis *w)
{
	p->oh = h->phase;
	p->ow = w->phase;
	p->step_h = out_step(h);
	p->step_w = out_step(w);
	p->nh = out_count(h);
	p->nw = out_count(w);
	p->stride_h = in_step(h);
	p->stride_w = in_step(w);
}

static enum status plan_phase(struct qconv *k, struct qphase *p, bool transposed, int64_t ph, int64_t pw)
{
	const struct conv_geometry *g = &k->g;
	const struct axis h = axis_h(g, transposed, ph), w = axis_w(g, transposed, pw);
	int64_t pixel = k->image.pitch * k->micro->size;
	struct qtap *taps = mem_try_array((size_t)(g->kh * g->kw), sizeof *taps);
	enum status s = STATUS_NOMEM;
	if (!taps)
		return s;
	int64_t n = qconv_taps(taps, g, transposed, ph, pw);
	plan_outputs(p, &h, &w);
	plan_span(p, taps, n);
	s = plan_tile(p, pixel, k->micro->rows) ? plan_runs(k, p, taps, n) : STATUS_UNSUPPORTED;
	if (s == STATUS_OK) {
		size_t bytes = (size_t)(p->cols * tile_rows(p) * pixel);
		size_t pixels = (size_t)(p->tile_h * p->tile_w);
		k->tile_bytes = bytes > k->tile_bytes ? bytes : k->tile_bytes;
		k->tile_pixels = pixels > k->tile_pixels ? pixels : k->tile_pixels;
	}
	free(taps);
	return s;
}

static bool is_moderate(const struct conv_geometry *g)
{
	const int64_t sizes[] = {g->kh, g->kw, g->stride_h, g->stride_w, g->dil_h, g->dil_w, g->pad_t, g->pad_l};
	for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
		if (sizes[i] < 0 || sizes[i] > SIZE_MOST)
			return false;
	return true;
}

enum status qconv_plan(struct qconv *k, const struct qconv_task *t)
{
	struct conv_geometry *g = &k->g;
	int64_t phases_h = t->transposed ? g->stride_h : 1, phases_w = t->transposed ? g->stride_w : 1;
	if (!is_moderate(g) || phases_h * phases_w > PHASES_MOST)
		return STATUS_UNSUPPORTED;
	if (conv_is_pointwise(g)) {
		g->w = g->ow = k->image.w = g->h * g->w;
		g->h = g->oh = k->image.h = 1;
	}
	k->n_phases = (int)(phases_h * phases_w);
	k->phases = xcalloc((size_t)k->n_phases, sizeof *k->phases);
	for (int i = 0; i < k->n_phases; i++) {
		enum status s = plan_phase(k, &k->phases[i], t->transposed, i / phases_w, i % phases_w);
		if (s != STATUS_OK)
			return s;
	}
	return STATUS_OK;
}
