// Mean square error as torch's HistogramObserver has it: a histogram over a range that grows from sample to sample,
// and a search that takes bins away at both ends while the error of 256 levels falls.
// Samples that left the range as it was share a histogram; they are merged in the order of the samples at the end,
// so that the order in which threads feed them does not show.
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "observer_impl.h"

enum { BINS = MSE_BINS, STRIDE = BINS + 1, LEVELS = 256 };
enum { FINER = 16 }; // parts of a bin that is spread over others, as torch has it (upsample_rate)

// The range of the samples up to this one, and how often it has grown since the first.
static int range_up_to(const struct observer *o, int sample, struct range *r)
{
	int grown = 0;
	*r = (struct range){0};
	for (int i = 0; i <= sample; i++) {
		struct range before = *r;
		range_join(r, &o->range[i]);
		grown += before.seen && (r->lo < before.lo || r->hi > before.hi);
	}
	return grown;
}

// Of one value alone there are no bins: it is counted in the first.
static void count(uint32_t *hist, const struct range *r, const float *x, int64_t n)
{
	if (r->hi > r->lo) {
		scan_hist(hist, BINS, r->lo, r->hi, x, n);
		return;
	}
	for (int64_t i = 0; i < n; i++)
		hist[0] += x[i] == r->lo;
}

static void hist_feed(struct observer *o, int sample, const float *x, int64_t n)
{
	uint32_t aside[STRIDE] = {0};
	struct range r;
	int grown = range_up_to(o, sample, &r);
	if (!r.seen)
		return;
	count(aside, &r, x, n);
	pthread_mutex_lock(&o->lock);
	struct range all;
	observer_start(o, (range_up_to(o, o->samples - 1, &all) + 1) * STRIDE);
	uint32_t *hist = o->hist + (size_t)grown * STRIDE;
	for (int i = 0; i < BINS; i++)
		hist[i] = aside[i] > UINT32_MAX - hist[i] ? UINT32_MAX : hist[i] + aside[i];
	pthread_mutex_unlock(&o->lock);
}

// Point i of n from lo to hi, reckoned from the nearer end.
static float point(float lo, float hi, int i, int n)
{
	float step = (hi - lo) / (float)(n - 1);
	return i < n / 2 ? lo + step * (float)i : hi - step * (float)(n - 1 - i);
}

// What was counted over the range `from` on the bins of `to`: every bin in FINER parts, each where its middle lies.
static void spread(double *h, const struct range *from, const struct range *to)
{
	double old[BINS];
	float half = .5f * ((from->hi - from->lo) / (BINS * FINER));
	int at = 0;
	memcpy(old, h, sizeof old);
	memset(h, 0, sizeof old);
	for (int i = 0; i < BINS * FINER; i++) {
		float middle = point(from->lo, from->hi, i, BINS * FINER + 1) + half;
		while (at < BINS - 1 && point(to->lo, to->hi, at + 1, BINS + 1) <= middle)
			at++;
		h[at] += old[i / FINER] / FINER;
	}
}

// One value alone becomes the bin that it falls into.
static void place(double *h, float value, const struct range *to)
{
	double n = h[0];
	uint32_t hist[STRIDE] = {0};
	scan_hist(hist, BINS, to->lo, to->hi, &value, 1);
	for (int i = 0; i < BINS; i++)
		h[i] = hist[i] * n;
}

static void merge(double *h, const struct observer *o)
{
	struct range before = {0}, r;
	int done = -1;
	for (int s = 0; s < o->samples; s++) {
		int grown = range_up_to(o, s, &r);
		if (!r.seen || grown == done)
			continue;
		if (done >= 0 && before.hi > before.lo)
			spread(h, &before, &r);
		else if (done >= 0)
			place(h, before.lo, &r);
		for (int i = 0; i < BINS; i++)
			h[i] += o->hist[(size_t)grown * STRIDE + (size_t)i];
		done = grown;
		before = r;
	}
}

static int level_of(int64_t bins, int width)
{
	int64_t level = bins < 0 ? 0 : bins * LEVELS / width;
	return (int)(level < LEVELS ? level : LEVELS - 1);
}

static double cube(double x)
{
	return x * x * x;
}

// Squared error, in bins, when the levels cover bins start to end: every bin's mass lies evenly between its edges,
// and every piece of it goes to the middle of its level.
static double error_of(const double *h, int start, int end)
{
	int width = end - start + 1;
	double step = (double)width / LEVELS, inside = cube(step / 2), sum = 0;
	for (int i = 0; i < BINS; i++) {
		if (h[i] == 0)
			continue;
		int first = level_of(i - start, width), last = level_of(i - start + 1, width);
		double from = i - start - (first + .5) * step, to = i - start + 1 - (last + .5) * step;
		sum += h[i] * (inside - cube(from) + (last - first - 1) * 2 * inside + cube(to) + inside);
	}
	return sum / 3;
}

// Goes in from the end at which the next 1e-5 of the mass is spread over more bins.
static void search(const double *h, int *start, int *end)
{
	const double step = 1e-5;
	double below[BINS], total = 0, alpha = 0, beta = 1, least = INFINITY;
	for (int i = 0; i < BINS; i++)
		below[i] = total += h[i];
	*start = 0;
	*end = BINS - 1;
	while (alpha < beta) {
		int l = *start, r = *end;
		while (l < *end && below[l] < (alpha + step) * total)
			l++;
		while (r > *start && below[r] > (beta - step) * total)
			r--;
		bool left = l - *start > *end - r;
		*(left ? &alpha : &beta) += left ? step : -step;
		int next_start = left ? l : *start, next_end = left ? *end : r;
		if (next_start == *start && next_end == *end)
			continue;
		double error = error_of(h, next_start, next_end);
		if (error > least)
			break;
		least = error;
		*start = next_start;
		*end = next_end;
	}
}

static void finish(struct observer *o, float *scale, int32_t *zero)
{
	struct range r;
	int start = 0, end = BINS - 1, grown = range_up_to(o, o->samples - 1, &r);
	observer_start(o, (grown + 1) * STRIDE);
	float lo = r.lo, hi = r.hi, bin = (hi - lo) / BINS;
	if (hi > lo) {
		double *h = xcalloc(BINS, sizeof *h);
		merge(h, o);
		search(h, &start, &end);
		free(h);
		lo = r.lo + bin * (float)start;
		hi = r.lo + bin * (float)(end + 1);
	}
	scale_of_range(scale, zero, o->setup.target, &o->setup.quant, lo, hi);
}

const struct method observer_mse_growing = {.phases = 2, .gathers = GATHERS_RANGE,
	.feed = {observer_feed_range, hist_feed}, .finish = finish};
