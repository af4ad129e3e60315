// The methods but the percentile: what each makes of ranges, counts or errors (docs/NUMERICS.md, Calibrators).
#include <math.h>
#include "observer_impl.h"

// The range of everything that was seen.
void observer_feed_range(struct observer *o, int sample, const float *x, int64_t n)
{
	struct range *all = &o->range[sample], one;
	scan_range(&one, x, n);
	range_join(all, &one);
}

static void minmax_finish(struct observer *o, float *scale, int32_t *zero)
{
	struct range r = observer_total(o);
	scale_of_range(scale, zero, o->setup.target, &o->setup.quant, r.lo, r.hi);
}

const struct method observer_minmax = {.phases = 1, .gathers = GATHERS_RANGE, .feed = {observer_feed_range}, .finish = minmax_finish};

// Phase 1 may be fed by several threads; at the end there is one, and perhaps nothing was fed.
static void start_counting(struct observer *o, int bins)
{
	pthread_mutex_lock(&o->lock);
	observer_start(o, bins);
	pthread_mutex_unlock(&o->lock);
}

// KL: a histogram of magnitudes, and the threshold at which clipping and rounding lose the least.
static void kl_feed(struct observer *o, int sample, const float *x, int64_t n)
{
	(void)sample;
	start_counting(o, o->setup.kl_bins);
	if (o->total.seen && range_largest(&o->total) > 0)
		observer_count_abs(o, x, n);
}

static void kl_finish(struct observer *o, float *scale, int32_t *zero)
{
	const struct observer_setup *s = &o->setup;
	int levels = 1 << (s->quant.bits - 1);
	observer_start(o, s->kl_bins);
	double absmax = range_largest(&o->total), threshold = absmax;
	if (absmax > 0)
		threshold = absmax * kl_search(o->hist, o->bins, levels) / o->bins;
	if (s->quant.symmetric)
		scale_of_kl(scale, zero, s->target, &s->quant, threshold / levels);
	else
		scale_of_range(scale, zero, s->target, &s->quant, fmax(o->total.lo, -threshold), fmin(o->total.hi, threshold));
}

const struct method observer_kl = {.phases = 2, .gathers = GATHERS_RANGE, .counts = true,
	.feed = {observer_feed_range, kl_feed}, .finish = kl_finish};

// Mean square error over a grid of ranges.
static void grid_feed(struct observer *o, int sample, const float *x, int64_t n)
{
	(void)sample;
	start_counting(o, MSE_BINS);
	if (!(o->total.hi > o->total.lo) && range_largest(&o->total) == 0)
		return;
	if (o->setup.quant.symmetric)
		observer_count_abs(o, x, n);
	else
		observer_count(o, x, n);
}

static void grid_finish(struct observer *o, float *scale, int32_t *zero)
{
	const struct observer_setup *s = &o->setup;
	int64_t levels = s->quant.qmax - s->quant.qmin + 1;
	observer_start(o, MSE_BINS);
	double lo = o->total.lo, hi = o->total.hi;
	double origin = s->quant.symmetric ? 0 : lo, width = (s->quant.symmetric ? range_largest(&o->total) : hi - lo) / MSE_BINS;
	if (levels <= MSE_BINS && width > 0) { // else the grid is coarser than the levels: the whole range
		int start, end;
		mse_search(o->hist, MSE_BINS, (int)levels, s->quant.symmetric, -lo / width, &start, &end);
		hi = origin + end * width;
		lo = s->quant.symmetric ? -hi : origin + start * width;
	}
	scale_of_range(scale, zero, s->target, &s->quant, lo, hi);
}

const struct method observer_mse_grid = {.phases = 2, .gathers = GATHERS_RANGE, .counts = true,
	.feed = {observer_feed_range, grid_feed}, .finish = grid_finish};

// Mean square error over five neighbouring powers of two, on the data themselves:
// 2, 1, 1/2, 1/4 and 1/8 of the scale of the range.
static float exponent_scale(const struct observer *o, int i)
{
	const struct quantizer *q = &o->setup.quant;
	double s = scale_at_least(o->setup.target, 2.0 * range_largest(&o->total) / (double)(q->qmax - q->qmin));
	return scale_finite(q, exp2(1 - i - nearbyint(-log2(s))), scale_middle(q));
}

static void exponents_feed(struct observer *o, int sample, const float *x, int64_t n)
{
	start_counting(o, 0);
	const struct quantizer *q = &o->setup.quant;
	for (int i = 0; i < EXPONENTS; i++)
		o->sum[sample * EXPONENTS + i] = scan_squared_error(exponent_scale(o, i), (float)scale_middle(q),
		    (float)q->qmin, (float)q->qmax, x, n);
}

static void exponents_finish(struct observer *o, float *scale, int32_t *zero)
{
	int best = 0;
	double least = INFINITY;
	observer_start(o, 0);
	for (int i = 0; i < EXPONENTS; i++) {
		double sum = 0;
		for (int k = 0; k < o->samples; k++)
			sum += o->sum[k * EXPONENTS + i];
		if (sum < least) {
			least = sum;
			best = i;
		}
	}
	*scale = exponent_scale(o, best);
	*zero = scale_middle(&o->setup.quant);
}

const struct method observer_mse_exponents = {.phases = 2, .at_once = true, .gathers = GATHERS_RANGE,
	.feed = {observer_feed_range, exponents_feed}, .finish = exponents_finish};
