// The loops of stats_impl.h; the including file defines STATS_TABLE, the name of the table that it exports, and STATS_TWO, its loops for
// two comparisons at once.
#include <math.h>
#include <string.h>
#include "stats_impl.h"
#include "../vector.h"

#define LOAD_CODES(name, type, codes)                                                                                  \
	VINLINE vfloat name(const void *src, int64_t at, const struct compare_by *by)                                  \
	{                                                                                                              \
		return __builtin_convertvector(codes((const type *)src + at) - by->zero, vfloat) * vall(by->scale);    \
	}
LOAD_CODES(load_i8, int8_t, vcodes_i8)
LOAD_CODES(load_u8, uint8_t, vcodes_u8)
LOAD_CODES(load_i16, int16_t, vcodes_i16)
LOAD_CODES(load_u16, uint16_t, vcodes_u16)

VINLINE vfloat load_f32(const void *src, int64_t at, const struct compare_by *by)
{
	(void)by;
	return vload((const float *)src + at);
}

static double lanes_sum(vfloat v, int valid)
{
	double s = 0;
	for (int i = 0; i < valid; i++)
		s += (double)v[i];
	return s;
}

static void floats(struct float_sums *out, const float *f, struct strip strip)
{
	vfloat low = vall(INFINITY), high = vall(-INFINITY);

	*out = (struct float_sums) { 0, INFINITY, -INFINITY };
	for (int64_t at = 0; at < strip.vectors; at += STATS_CHUNK, f += STATS_CHUNK * strip.step) {
		struct strip part = chunk_of(strip, at);
		vfloat f2 = vall(0);
		for (int64_t v = 0; v < part.vectors; v++) {
			vfloat x = vload(f + v * part.step);
			f2 += x * x;
			low = vmin(x, low);
			high = vmax(x, high);
		}
		out->f2 += lanes_sum(f2, part.valid);
	}
	for (int i = 0; i < strip.valid; i++) {
		out->min = fminf(out->min, low[i]);
		out->max = fmaxf(out->max, high[i]);
	}
}

static double outside(const float *f, struct strip strip, float from, float to)
{
	vfloat low = vall(from), high = vall(to);
	vint n = { 0 };
	double sum = 0;

	for (int64_t v = 0; v < strip.vectors; v++) {
		vfloat x = vload(f + v * strip.step);
		n -= (x < low) | (x > high);
	}
	for (int i = 0; i < strip.valid; i++)
		sum += n[i];
	return sum;
}

struct ends {
	vfloat qmin, qmax, error;
};

static void ends_store(struct tensor_sums *out, const struct ends *e, int valid)
{
	for (int i = 0; i < valid; i++) {
		out->qmin = fminf(out->qmin, e->qmin[i]);
		out->qmax = fmaxf(out->qmax, e->qmax[i]);
		out->max_error = fmax(out->max_error, (double)e->error[i]);
	}
}

// Sums of one chunk; `ends` collects over the chunks of a strip.
#define COMPARE(name, load_codes)                                                                                      \
	static void name##_chunk(struct tensor_sums *out, struct ends *ends, const float *f, const void *q, int64_t at,\
	    struct strip strip, const struct compare_by *by)                                                           \
	{                                                                                                              \
		vfloat q2 = vall(0), fq = vall(0), e2 = vall(0);                                                       \
		struct ends e = *ends;                                                                                 \
		for (int64_t v = 0; v < strip.vectors; v++) {                                                          \
			vfloat x = vload(f + at + v * strip.step), y = load_codes(q, at + v * strip.step, by);          \
			vfloat d = y - x;                                                                              \
			q2 += y * y;                                                                                   \
			fq += x * y;                                                                                   \
			e2 += d * d;                                                                                   \
			e.qmin = vmin(y, e.qmin);                                                                      \
			e.qmax = vmax(y, e.qmax);                                                                      \
			e.error = vmax(vabs(d), e.error);                                                              \
		}                                                                                                      \
		*ends = e;                                                                                             \
		out->q2 += lanes_sum(q2, strip.valid);                                                                 \
		out->fq += lanes_sum(fq, strip.valid);                                                                 \
		out->e2 += lanes_sum(e2, strip.valid);                                                                 \
	}                                                                                                              \
	static void name(struct tensor_sums *out, const float *f, const void *q, struct strip strip,                   \
	    const struct compare_by *by)                                                                               \
	{                                                                                                              \
		struct ends ends = { vall(INFINITY), vall(-INFINITY), vall(0) };                                         \
		for (int64_t v = 0; v < strip.vectors; v += STATS_CHUNK)                                               \
			name##_chunk(out, &ends, f, q, v * strip.step, chunk_of(strip, v), by);                        \
		ends_store(out, &ends, strip.valid);                                                                   \
		out->n += (double)(strip.vectors * strip.valid);                                                       \
	}
COMPARE(compare_f32, load_f32)
COMPARE(compare_i8, load_i8)
COMPARE(compare_u8, load_u8)
COMPARE(compare_i16, load_i16)
COMPARE(compare_u16, load_u16)

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

// Steps are found AHEAD elements before they are counted: the processor computes while its stores, one a cycle, are what it waits for.
// Values that come again soon go to different tables, so as not to wait for their own increments, and four steps are read at a time.
enum { STEPS = 32, AHEAD = 128 };

VINLINE void count_found(uint16_t (*count)[GRID_BINS + 1], const uint16_t *bin, int n)
{
	for (int i = 0; i < n; i += GRID_TABLES) {
		uint64_t four;
		memcpy(&four, bin + i, sizeof(four));
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
	.compare = {
		[DT_F32] = compare_f32, [DT_I8] = compare_i8, [DT_U8] = compare_u8, [DT_I16] = compare_i16,
		[DT_U16] = compare_u16,
	},
	.compare_two = STATS_TWO,
	.floats = floats,
	.outside = outside,
	.bins = bins,
	.count_steps = count_steps,
};
