// Comparison of a float tensor with its quantized self, its range, and the figures derived from the sums.
#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "../tensor/quantizer_span.h"
#include "qtui/base/mem.h"
#include "stats_impl.h"

static const struct tensor_sums no_sums = {
	.fmin = INFINITY, .fmax = -INFINITY, .qmin = INFINITY, .qmax = -INFINITY,
};

static struct compare_by by_of(const struct quantizer *q, int channel)
{
	if (!q || q->kind != QUANT_LINEAR)
		return (struct compare_by){1.0f, -INFINITY, INFINITY, 0};
	struct qspan s = qspan_of(q, channel);
	return (struct compare_by){
		s.scale, (float)(s.qmin - s.zero) * s.scale, (float)(s.qmax - s.zero) * s.scale, s.zero,
	};
}

static float value_at(const struct tensor *q, int64_t i, const struct compare_by *by)
{
	switch (q->type) {
	case DT_F32: return ((const float *)q->data)[i];
	case DT_I8: return (float)(((const int8_t *)q->data)[i] - (int64_t)by->zero) * by->scale;
	case DT_U8: return (float)(((const uint8_t *)q->data)[i] - (int64_t)by->zero) * by->scale;
	case DT_I16: return (float)(((const int16_t *)q->data)[i] - (int64_t)by->zero) * by->scale;
	case DT_U16: return (float)(((const uint16_t *)q->data)[i] - (int64_t)by->zero) * by->scale;
	case DT_I32: return (float)(((const int32_t *)q->data)[i] - (int64_t)by->zero) * by->scale;
	case DT_I64: return (float)(((const int64_t *)q->data)[i] - by->zero) * by->scale;
	default: assert(!"a type that holds codes"); return 0;
	}
}

static double finite_or_zero(float x)
{
	return isfinite(x) ? (double)x : 0.0;
}

// Any values: equal ones are without error even if not finite, other pairs with a NaN
// or an infinity have infinite error.
static void compare_one(struct tensor_sums *s, float f, float q, const struct compare_by *by)
{
	double a = finite_or_zero(f), b = finite_or_zero(q);
	bool same = f == q || (isnan(f) && isnan(q));
	double e = same ? 0.0 : isfinite(f) && isfinite(q) ? fabs(b - a) : INFINITY;
	s->n++;
	s->f2 += a * a;
	s->q2 += b * b;
	s->fq += a * b;
	s->e2 += e * e;
	s->max_error = fmax(s->max_error, e);
	s->none += isnan(f) && isnan(q);
	s->clipped += f < by->low || f > by->high;
	s->fmin = fminf(s->fmin, f);
	s->fmax = fmaxf(s->fmax, f);
	s->qmin = fminf(s->qmin, q);
	s->qmax = fmaxf(s->qmax, q);
}

static void compare_slowly(void *arg, int64_t at, struct strip strip)
{
	struct comparison *c = arg;
	struct tensor_sums s = no_sums;
	for (int64_t v = 0; v < strip.vectors; v++) {
		for (int l = 0; l < strip.valid; l++) {
			int64_t i = at + v * strip.step + l;
			const struct compare_by *by = c->each ? &c->each[qruns_channel(&c->runs, i)] : &c->by;
			compare_one(&s, ((const float *)c->f->data)[i], value_at(c->q, i, by), by);
		}
	}
	sums_merge(c->out, &s);
}

// The elements of a strip where whole vectors can be read: in `last` when they may be the end of the memory.
static const void *readable(void *last, const void *at, size_t elem, struct strip strip)
{
	bool end = strip.vectors == 1 && strip.valid < STATS_LANES;
	return end ? memcpy(last, at, (size_t)strip.valid * elem) : at;
}

void summing_begin(struct summing *s, const struct tensor *f)
{
	assert(f->type == DT_F32);
	*s = (struct summing){.f = f->data};
}

void sums_strip(void *arg, int64_t at, struct strip strip)
{
	struct summing *s = arg;
	float last[STATS_LANES] = {0};
	stats_loops()->floats(&s->sums, readable(last, s->f + at, sizeof last[0], strip), strip);
}

// How many of a strip's floats lie beyond what their channel holds.
static double clipped_of_channels(const struct comparison *c, int64_t at, struct strip strip)
{
	const bool side_by_side = c->runs.run == 1 && !c->runs.block;
	int64_t n = 0;
	for (int64_t v = 0; v < strip.vectors; v++) {
		int64_t i = at + v * strip.step, channel = qruns_channel(&c->runs, i);
		for (int l = 0; l < strip.valid; l++, i++) {
			const struct compare_by *by = &c->each[channel];
			float f = ((const float *)c->f->data)[i];
			n += (f < by->low) + (f > by->high);
			channel = !side_by_side ? qruns_channel(&c->runs, i + 1) : channel + 1 < c->runs.channels ? channel + 1 : 0;
		}
	}
	return (double)n;
}

// Squares of floats below 2^-63 have no float with all its digits, and soon none at all.
static bool has_tiny_squares(const struct tensor_sums *s)
{
	static const float TINY = 0x1p-50f; // of the largest: those of a thousandth of it still count
	float most = fmaxf(-s->fmin, s->fmax);
	return (most > 0 && most < TINY) || (s->max_error > 0 && s->max_error < (double)TINY);
}

// What a loop has found out about a strip goes to the comparison's sums;
// were its values not all finite, or their squares too small, they are gone through one by one.
static void settle(struct comparison *c, struct tensor_sums *s, int64_t at, struct strip strip)
{
	c->floats->sums = (struct float_sums){s->f2, s->fmin, s->fmax};
	if (!isfinite(s->f2 + s->q2 + s->fq + s->e2) || has_tiny_squares(s)) {
		compare_slowly(c, at, strip);
		return;
	}
	if (c->each)
		s->clipped = clipped_of_channels(c, at, strip);
	sums_merge(c->out, s);
}

// The count for a loop; strips that are not of whole vectors are counted at once.
static uint32_t *count_of(const struct comparison *c, int64_t at, struct strip strip)
{
	if (!c->codes)
		return NULL;
	if (strip.valid == STATS_LANES)
		return c->codes->count;
	codes_strip(c->codes, at, strip);
	return NULL;
}

void compare_strip(void *arg, int64_t at, struct strip strip)
{
	struct comparison *c = arg;
	struct tensor_sums s = no_sums;
	size_t elem = dtype_size(c->q->type);
	float last_f[STATS_LANES] = {0}, last_q[STATS_LANES] = {0};
	const float *f = readable(last_f, (const float *)c->f->data + at, sizeof last_f[0], strip);
	const void *q = readable(last_q, (const char *)c->q->data + (size_t)at * elem, elem, strip);
	stats_loops()->compare[c->q->type]((struct tensor_sums *const[]){&s}, f, (const void *const[]){q}, strip,
	    (const struct compare_by *const[]){&c->by}, count_of(c, at, strip));
	settle(c, &s, at, strip);
}

void compare_two_strip(void *arg, int64_t at, struct strip strip)
{
	struct comparison *c = arg;
	struct tensor_sums s[2] = {no_sums, no_sums};
	size_t first = (size_t)at * dtype_size(c->q->type);
	const float *f = (const float *)c->f->data + at;
	if (strip.vectors == 1 && strip.valid < STATS_LANES) {
		compare_strip(&c[0], at, strip);
		compare_strip(&c[1], at, strip);
		return;
	}
	stats_loops()->compare_two[c->q->type]((struct tensor_sums *const[]){&s[0], &s[1]}, f,
	    (const void *const[]){(const char *)c[0].q->data + first, (const char *)c[1].q->data + first}, strip,
	    (const struct compare_by *const[]){&c[0].by, &c[1].by}, count_of(c, at, strip));
	settle(&c[0], &s[0], at, strip);
	settle(&c[1], &s[1], at, strip);
}

static bool is_per_channel(const struct quantizer *quant)
{
	return quant && quant->kind == QUANT_LINEAR && quant->n > 1;
}

void compare_begin(struct comparison *c, struct tensor_sums *out, const struct tensor *f, const struct tensor *q,
    const struct quantizer *quant, struct summing *floats)
{
	assert(f->type == DT_F32 && f->layout == q->layout && shape_equal(&f->shape, &q->shape));
	*c = (struct comparison){.out = out, .floats = floats, .f = f, .q = q, .quant = quant, .by = by_of(quant, 0)};
	*out = no_sums;
	c->runs.channels = 1;
	if (is_per_channel(quant))
		c->runs = qruns_of(f, quant);
}

bool compare_is_whole(const struct comparison *c)
{
	return c->runs.channels == 1 && stats_loops()->compare[c->q->type];
}

bool compare_is_two(const struct comparison *c)
{
	return stats_loops()->compare_two && compare_is_whole(&c[0]) && compare_is_whole(&c[1]) && c[0].q->type == c[1].q->type;
}

// How each channel is compared, where channels lie too close for a loop each; the caller frees.
static struct compare_by *each_channel(const struct comparison *c)
{
	struct compare_by *each = xcalloc((size_t)c->runs.channels, sizeof *each);
	for (int i = 0; i < c->runs.channels; i++)
		each[i] = by_of(c->quant, i);
	return each;
}

void stats_compare(struct tensor_sums *out, const struct tensor *f, const struct tensor *q, const struct quantizer *quant)
{
	struct comparison c;
	struct summing floats;
	summing_begin(&floats, f);
	compare_begin(&c, out, f, q, quant, &floats);
	if (compare_is_whole(&c)) {
		strips_each(f, compare_strip, &c);
	} else if (!stats_loops()->compare[q->type] || c.runs.run < STATS_LANES) {
		// Floats have their values without a scale: one loop serves all channels.
		bool one_loop = q->type == DT_F32 && stats_loops()->compare[DT_F32];
		c.each = each_channel(&c);
		strips_each(f, one_loop ? compare_strip : compare_slowly, &c);
		free(c.each);
	} else {
		for (int64_t at = 0; at < c.runs.total; at += c.runs.run) {
			c.by = by_of(quant, qruns_channel(&c.runs, at));
			strips_of_run(at, c.runs.run, compare_strip, &c);
		}
	}
}

void sums_merge(struct tensor_sums *into, const struct tensor_sums *one)
{
	if (one->n == 0)
		return;
	if (into->n == 0) {
		*into = *one;
		return;
	}
	into->n += one->n;
	into->f2 += one->f2;
	into->q2 += one->q2;
	into->fq += one->fq;
	into->e2 += one->e2;
	into->max_error = fmax(into->max_error, one->max_error);
	into->none += one->none;
	into->clipped += one->clipped;
	into->fmin = fminf(into->fmin, one->fmin);
	into->fmax = fmaxf(into->fmax, one->fmax);
	into->qmin = fminf(into->qmin, one->qmin);
	into->qmax = fmaxf(into->qmax, one->qmax);
}

struct metrics sums_metrics(const struct tensor_sums *s)
{
	struct metrics m = {NAN, NAN, NAN, NAN, NAN, NAN, false, false};
	if (s->n == 0)
		return m;
	m.odd = s->none > 0 || s->fmax == INFINITY;
	m.exact = s->e2 == 0;
	m.max_error = s->max_error;
	m.clipped = s->clipped / s->n;
	if (!isfinite(s->e2))
		return m;
	m.mse = s->e2 / s->n;
	if (s->f2 > 0) {
		m.nsr = s->e2 / s->f2;
		m.snr_db = m.exact ? NAN : 10.0 * log10(s->f2 / s->e2);
	}
	if (s->f2 > 0 && s->q2 > 0)
		m.cosine = fmax(-1.0, fmin(1.0, s->fq / (sqrt(s->f2) * sqrt(s->q2))));
	return m;
}

static void range_slowly(struct tensor_range *out, const float *f, struct strip strip)
{
	for (int64_t v = 0; v < strip.vectors; v++) {
		for (int l = 0; l < strip.valid; l++) {
			float x = f[v * strip.step + l];
			if (!isfinite(x)) {
				out->nonfinite++;
				continue;
			}
			out->n++;
			out->min = fminf(out->min, x);
			out->max = fmaxf(out->max, x);
		}
	}
}

void range_strip(void *arg, int64_t at, struct strip strip)
{
	struct ranging *r = arg;
	const struct float_sums *x = &r->floats->sums;
	if (!isfinite(x->f2)) {
		range_slowly(r->out, r->floats->f + at, strip);
		return;
	}
	r->out->min = fminf(r->out->min, x->min);
	r->out->max = fmaxf(r->out->max, x->max);
	r->out->n += (double)(strip.vectors * strip.valid);
}

void ranging_begin(struct ranging *r, struct tensor_range *out, struct summing *floats)
{
	*out = (struct tensor_range){.min = INFINITY, .max = -INFINITY};
	*r = (struct ranging){out, floats};
}

static void sum_and_range(void *arg, int64_t at, struct strip strip)
{
	struct ranging *r = arg;
	sums_strip(r->floats, at, strip);
	range_strip(r, at, strip);
}

void stats_range(struct tensor_range *out, const struct tensor *f)
{
	struct ranging r;
	struct summing floats;
	summing_begin(&floats, f);
	ranging_begin(&r, out, &floats);
	strips_each(f, sum_and_range, &r);
}
