// Counts on steps of a power of two: see struct grid.
#include <assert.h>
#include <math.h>
#include <string.h>
#include "stats_impl.h"

enum {
	LEAST_EXPONENT = -100, // of a step: its inverse is a normal number
	DIGITS = 22,           // of an element in steps: exact in float, and below 2^31
	PIECE = 1024
};

static int64_t steps_down(float x, int exponent)
{
	return (int64_t)floorf(ldexpf(x, -exponent));
}

// The finest step with which both ends are exact and at most 2 * GRID_LEAST steps apart.
static int exponent_of(float lo, float hi)
{
	float most = fmaxf(fabsf(lo), fabsf(hi));
	int e = most > 0 ? ilogbf(most) - DIGITS : LEAST_EXPONENT;
	e = e > LEAST_EXPONENT ? e : LEAST_EXPONENT;
	while (steps_down(hi, e) - steps_down(lo, e) > 2 * GRID_LEAST)
		e++;
	return e;
}

static int64_t halved(int64_t i, int times)
{
	return i >> (times < 63 ? times : 63); // rounds down, below zero too; grids lie up to 227 powers of two apart
}

// Steps of 2^exponent, bins from `first` to `last`: not finer and not narrower than they are.
static void reshape(struct grid *g, int exponent, int64_t first, int64_t last)
{
	uint32_t old[GRID_BINS];
	int times = g->n ? exponent - g->exponent : 0, n = g->n;
	int64_t from = g->first;
	memcpy(old, g->bin, (size_t)n * sizeof old[0]);
	g->exponent = exponent;
	g->first = first;
	g->n = (int)(last - first + 1);
	memset(g->bin, 0, (size_t)g->n * sizeof g->bin[0]);
	for (int i = 0; i < n; i++)
		g->bin[halved(from + i, times) - first] += old[i];
}

// Coarse enough for bins first..last of 2^exponent beside what is there.
static void include(struct grid *g, int exponent, int64_t first, int64_t last)
{
	int64_t low = first, high = last;
	int e = exponent;
	if (g->n) {
		e = e > g->exponent ? e : g->exponent;
		for (;; e++) {
			low = halved(first, e - exponent);
			high = halved(last, e - exponent);
			int64_t old_low = halved(g->first, e - g->exponent), old_high = halved(g->first + g->n - 1, e - g->exponent);
			low = low < old_low ? low : old_low;
			high = high > old_high ? high : old_high;
			if (high - low <= 2 * GRID_LEAST)
				break;
		}
	}
	if (!g->n || e != g->exponent || low != g->first || high != g->first + g->n - 1)
		reshape(g, e, low, high);
}

// To hold finite values from lo to hi.
static void widen(struct grid *g, float lo, float hi)
{
	int e = exponent_of(lo, hi);
	include(g, e, steps_down(lo, e), steps_down(hi, e));
}

void grid_clear(struct grid *g)
{
	g->exponent = g->n = 0;
	g->first = 0;
}

void grid_merge(struct grid *into, const struct grid *one)
{
	if (one->n == 0)
		return;
	include(into, one->exponent, one->first, one->first + one->n - 1);
	const int times = into->exponent - one->exponent;
	uint32_t *bin = into->bin + (halved(one->first, times) - into->first);
	if (times == 0)
		_Pragma("omp simd") for (int i = 0; i < one->n; i++)
			bin[i] += one->bin[i];
	else
		for (int i = 0; i < one->n; i++)
			bin[halved(one->first + i, times) - halved(one->first, times)] += one->bin[i];
}

void grid_spread(const struct grid *g, float lo, float hi, uint32_t *hist, int bins)
{
	struct hist_by by = hist_by_of(bins, lo, hi);
	float value[PIECE], step = ldexpf(1.0f, g->exponent); // powers of two: the products are exact
	int32_t bin[PIECE];
	for (int at = 0; at < g->n; at += PIECE) {
		int n = g->n - at < PIECE ? g->n - at : PIECE;
		for (int i = 0; i < n; i++)
			value[i] = (float)(g->first + at + i) * step;
		stats_loops()->bins(bin, value, n, &by);
		for (int i = 0; i < n; i++)
			if (bin[i] < bins) // else the width of the range is not finite
				hist[bin[i]] += g->bin[at + i];
	}
}

// ---- counting

static void set_limits(struct gridding *c)
{
	const struct grid *g = c->grid;
	c->step = ldexpf(1.0f, g->exponent);
	c->lo = g->n ? (float)g->first * c->step : INFINITY;
	c->end = g->n ? (float)(g->first + g->n) * c->step : -INFINITY;
}

void gridding_begin(struct gridding *c, struct grid *grid, const struct tensor_range *range, const struct tensor *f,
    uint16_t (*count)[GRID_BINS + 1])
{
	assert(f->type == DT_F32);
	*c = (struct gridding){.grid = grid, .range = range, .f = f->data, .count = count};
	set_limits(c);
}

// What was counted goes to the grid; `count` is zero again.
static void flush(struct gridding *c)
{
	uint32_t *bin = c->grid->bin;
	for (int t = 0; t < GRID_TABLES; t++) {
		const uint16_t *count = c->count[t];
		_Pragma("omp simd") for (int i = 0; i < c->grid->n; i++)
			bin[i] += count[i];
		memset(c->count[t], 0, ((size_t)c->grid->n + 1) * sizeof count[0]);
	}
	c->most = 0;
}

static void count_piece(struct gridding *c, const float *f, int n)
{
	struct steps_by by = {1.0f / c->step, (float)c->grid->first, c->grid->n};
	int share = n / GRID_TABLES + 1; // at most, of every table
	if (c->most > UINT16_MAX - share)
		flush(c);
	c->most += share;
	stats_loops()->count_steps(c->count, f, n, &by);
}

// The range has the strip's elements in it already.
void grid_strip(void *arg, int64_t at, struct strip strip)
{
	struct gridding *c = arg;
	float packed[PIECE];
	assert(strip.vectors <= STATS_CHUNK);
	if (!(c->range->n > 0))
		return;
	if (c->range->min < c->lo || c->range->max >= c->end) {
		flush(c);
		widen(c->grid, c->range->min, c->range->max);
		set_limits(c);
	}
	if (strip.valid == STATS_LANES && strip.step == STATS_LANES) {
		count_piece(c, c->f + at, (int)(strip.vectors * STATS_LANES));
		return;
	}
	for (int64_t v = 0; v < strip.vectors;) {
		int n = strip_pack(packed, (const char *)(c->f + at), sizeof(float), strip, v, PIECE);
		count_piece(c, packed, n);
		v += n / strip.valid;
	}
}

void gridding_end(struct gridding *c)
{
	if (c->grid)
		flush(c);
}

void grid_codes(const struct code_counts *c, float lo, float hi, uint32_t *hist, int bins)
{
	struct hist_by by = hist_by_of(bins, lo, hi);
	struct qspan s = qspan_of(c->quant, 0);
	size_t n = ((size_t)1 << (8 * dtype_size(c->type))) >> c->shift;
	for (size_t i = 0; i < n; i++) {
		float x = (float)(code_of_index(c->type, i << c->shift) - (int64_t)s.zero) * s.scale;
		int32_t bin;
		if (!c->count[i])
			continue;
		stats_loops()->bins(&bin, &x, 1, &by);
		if (bin < bins)
			hist[bin] += c->count[i];
	}
}
