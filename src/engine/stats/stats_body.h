// The loops of stats_impl.h; the including file defines STATS_TABLE, the name of the table that it exports,
// and STATS_TWO, its loops for two comparisons at once.
#include <math.h>
#include <string.h>
#include "compare_body.h"

static void floats(struct float_sums *out, const float *f, struct strip strip)
{
	vfloat low = vall(INFINITY), high = vall(-INFINITY);
	*out = (struct float_sums){0, INFINITY, -INFINITY};
	for (int64_t at = 0; at < strip.vectors; at += STATS_CHUNK, f += STATS_CHUNK * strip.step) {
		struct strip part = chunk_of(strip, at);
		vfloat f2 = vall(0);
		for (int64_t v = 0; v < part.vectors; v++) {
			vfloat x = vload(f + v * part.step);
			f2 += x * x;
			low = vmin(x, low);
			high = vmax(x, high);
		}
		out->f2 += side_sum(f2, 0, part.valid);
	}
	for (int i = 0; i < strip.valid; i++) {
		out->min = lesser(out->min, low[i]);
		out->max = greater(out->max, high[i]);
	}
}

static void bins(int32_t *bin, const float *f, int n, const struct hist_by *by)
{
	const float lo = by->lo, span = by->span, count = (float)by->bins, last = (float)(by->bins - 1);
	const int32_t none = by->bins;
	_Pragma("omp simd") for (int i = 0; i < n; i++)
	{
		float t = (f[i] - lo) * count / span;
		float u = t > 0.0f ? t : 0.0f, v = u < last ? u : last;
		bin[i] = t != t ? none : (int32_t)v;
	}
}

static void steps(uint16_t *bin, const float *f, int n, const struct steps_by *by)
{
	const float inverse = by->inverse, first = by->first, last = (float)(by->bins - 1);
	const int32_t none = by->bins;
	_Pragma("omp simd") for (int i = 0; i < n; i++)
	{
		float t = floorf(f[i] * inverse) - first;
		float u = t > 0.0f ? t : 0.0f, v = u < last ? u : last;
		bin[i] = (uint16_t)(t != t ? none : (int32_t)v);
	}
}

// Steps are found AHEAD elements before they are counted: the processor computes while its stores,
// one a cycle, are what it waits for. Values that come again soon go to different tables,
// so as not to wait for their own increments, and four steps are read at a time.
enum { STEPS = 32, AHEAD = 128 };

VINLINE void count_found(uint16_t (*count)[GRID_BINS + 1], const uint16_t *bin, int n)
{
	for (int i = 0; i < n; i += GRID_TABLES) {
		uint64_t four;
		memcpy(&four, bin + i, sizeof four);
		count[0][four & 0xffff]++;
		count[1][four >> 16 & 0xffff]++;
		count[2][four >> 32 & 0xffff]++;
		count[3][four >> 48]++;
	}
}

static void count_steps(uint16_t (*count)[GRID_BINS + 1], const float *f, int n, const struct steps_by *by)
{
	const struct steps_by b = *by;
	uint16_t bin[AHEAD];
	int at = 0;
	for (; at + STEPS <= n; at += STEPS) {
		uint16_t *slot = bin + at % AHEAD;
		if (at >= AHEAD)
			count_found(count, slot, STEPS);
		steps(slot, f + at, STEPS, &b);
	}
	for (int i = at > AHEAD ? at - AHEAD : 0; i < at; i += STEPS)
		count_found(count, bin + i % AHEAD, STEPS);
	steps(bin, f + at, n - at, &b);
	for (int i = 0; i < n - at; i++)
		count[i % GRID_TABLES][bin[i]]++;
}

const struct stats_table STATS_TABLE = {
	.compare = COMPARE_LOOPS,
	.compare_two = STATS_TWO,
	.floats = floats,
	.bins = bins,
	.count_steps = count_steps,
};
