// Percentile as ONNX Runtime has it: 2048 bins from the smallest to the largest magnitude of all samples together;
// the range ends at the lower edge of the bin that the percentile falls into, on both sides, or where the values end.
#include <math.h>
#include "observer_impl.h"

enum { BINS = 2048 };

static void range_feed(struct observer *o, int sample, const float *x, int64_t n)
{
	struct range one;
	float least = INFINITY;
	scan_range(&one, x, n);
	for (int64_t i = 0; i < n; i++) {
		float m = fabsf(x[i]);
		least = m < least ? m : least;
	}
	one.least = least;
	range_join(&o->range[sample], &one);
}

static struct range magnitudes(const struct range *r)
{
	return (struct range){.lo = r->least, .hi = range_largest(r), .seen = r->seen};
}

static void count(uint32_t *hist, const struct range *m, const float *x, int64_t n)
{
	enum { PIECE = 4096 };
	float piece[PIECE];
	for (int64_t at = 0; at < n; at += PIECE) {
		int64_t k = n - at < PIECE ? n - at : PIECE;
		for (int64_t i = 0; i < k; i++)
			piece[i] = fabsf(x[at + i]);
		scan_hist(hist, BINS, m->lo, m->hi, piece, k);
	}
}

static void hist_feed(struct observer *o, int sample, const float *x, int64_t n)
{
	uint32_t aside[BINS + 1] = {0};
	(void)sample;
	pthread_mutex_lock(&o->lock);
	observer_start(o, BINS);
	pthread_mutex_unlock(&o->lock);
	struct range m = magnitudes(&o->total);
	count(aside, &m, x, n);
	pthread_mutex_lock(&o->lock);
	observer_add_counts(o, aside);
	pthread_mutex_unlock(&o->lock);
}

// Shares are added up and the percentile comes in hundredths, as there: where it lies between two bins, the last bits of both
// decide which.
static void finish(struct observer *o, float *scale, int32_t *zero)
{
	observer_start(o, BINS);
	struct range m = magnitudes(&o->total);
	double total = 0, below = 0, percent = round(o->setup.target->calibration.percentile * 1e10) / 1e8;
	int bin = 0;
	for (int i = 0; i < BINS; i++)
		total += o->hist[i];
	while (bin < BINS - 1 && (below += o->hist[bin] / total) < percent / 100)
		bin++;
	float end = (float)(m.lo + ((double)m.hi - m.lo) * (m.hi > m.lo ? bin : BINS) / BINS);
	scale_of_range(scale, zero, o->setup.target, &o->setup.quant, fmaxf(-end, o->total.lo), fminf(end, o->total.hi));
}

const struct method observer_percentile_pooled = {.phases = 2, .gathers = GATHERS_MAGNITUDES,
	.feed = {range_feed, hist_feed}, .finish = finish};
