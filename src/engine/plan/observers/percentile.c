// Percentile: the k-th smallest and the k-th largest value of every sample, averaged over the samples.
// The tails hold one element in ten thousand, so a pass collects what lies beyond limits guessed
// from every few hundredth element, and the rest is never sorted.
#include <stdlib.h>
#include "observer_impl.h"

#define GUESS_ELEMENTS 2048 // of a sample, from which the limits are guessed

// The k-th smallest (0-based) of x[n]; x is reordered.
static float select_kth(float *x, int64_t n, int64_t k)
{
	int64_t lo = 0, hi = n - 1;
	while (lo < hi) {
		float pivot = x[lo + (hi - lo) / 2];
		int64_t i = lo, j = hi;
		while (i <= j) {
			while (x[i] < pivot)
				i++;
			while (x[j] > pivot)
				j--;
			if (i <= j) {
				float swap = x[i];
				x[i++] = x[j];
				x[j--] = swap;
			}
		}
		if (k <= j)
			hi = j;
		else if (k >= i)
			lo = i;
		else
			break;
	}
	return x[k];
}

static bool is_finite(float x)
{
	return x - x == 0;
}

static int64_t copy_finite(float *dst, const float *x, int64_t n)
{
	int64_t count = 0;
	for (int64_t i = 0; i < n; i++)
		if (is_finite(x[i]))
			dst[count++] = x[i];
	return count;
}

struct ranks {
	int64_t low, high; // 0-based, from the smallest
};

// PPQ's ranks: int(n (1-p)) + 1 and min(int(n p), n-1) + 1, counted from 1.
static struct ranks ranks_of(int64_t n, double p)
{
	int64_t high = (int64_t)((double)n * p);
	return (struct ranks){(int64_t)((double)n * (1 - p)), high < n - 1 ? high : n - 1};
}

static void select_all(struct range *r, const float *x, int64_t n, double p)
{
	float *copy = xmalloc((size_t)n * sizeof *copy);
	n = copy_finite(copy, x, n);
	if (n > 0) {
		struct ranks k = ranks_of(n, p);
		r->lo = select_kth(copy, n, k.low);
		r->hi = select_kth(copy, n, k.high);
		r->seen = true;
	}
	free(copy);
}

// Limits beyond which a few times the wanted number of elements should lie.
static void guess_limits(struct tails *t, const float *x, int64_t n, double p)
{
	float sample[GUESS_ELEMENTS];
	int64_t step = n / GUESS_ELEMENTS, beyond = (int64_t)(GUESS_ELEMENTS * (1 - p) * 4) + 4;
	for (int i = 0; i < GUESS_ELEMENTS; i++)
		sample[i] = is_finite(x[i * step]) ? x[i * step] : 0;
	t->lo = select_kth(sample, GUESS_ELEMENTS, beyond);
	t->hi = select_kth(sample, GUESS_ELEMENTS, GUESS_ELEMENTS - 1 - beyond);
}

// Rank from the outside among `n` collected elements and then `equal` elements at the limit;
// false when it lies further in.
static bool pick(float *out, float *collected, int64_t n, int64_t equal, float limit, int64_t rank, bool smallest)
{
	if (rank < n)
		*out = select_kth(collected, n, smallest ? rank : n - 1 - rank);
	else
		*out = limit;
	return rank < n + equal;
}

static bool select_tails(struct range *r, const float *x, int64_t n, double p)
{
	struct ranks k = ranks_of(n, p);
	struct tails t = {.max = n / 8};
	bool found = false;
	t.low = xmalloc((size_t)t.max * 2 * sizeof *t.low);
	t.high = t.low + t.max;
	guess_limits(&t, x, n, p);
	if (t.lo < t.hi && scan_tails(&t, x, n))
		found = pick(&r->lo, t.low, t.n_low, t.equal_lo, t.lo, k.low, true) &&
		    pick(&r->hi, t.high, t.n_high, t.equal_hi, t.hi, n - 1 - k.high, false);
	free(t.low);
	r->seen = found;
	return found;
}

void percentile_of_sample(struct range *r, const float *x, int64_t n, double p)
{
	if (n < 16 * GUESS_ELEMENTS || !select_tails(r, x, n, p))
		select_all(r, x, n, p);
}

void percentile_mean(double *lo, double *hi, const struct range *r, int n)
{
	double sum_lo = 0, sum_hi = 0;
	int seen = 0;
	for (int i = 0; i < n; i++) {
		if (!r[i].seen)
			continue;
		sum_lo += r[i].lo;
		sum_hi += r[i].hi;
		seen++;
	}
	*lo = (float)(sum_lo / seen);
	*hi = (float)(sum_hi / seen);
}

static void percentile_feed(struct observer *o, int sample, const float *x, int64_t n)
{
	percentile_of_sample(&o->range[sample], x, n, o->setup.target->calibration.percentile);
}

static void percentile_finish(struct observer *o, float *scale, int32_t *zero)
{
	double lo, hi;
	percentile_mean(&lo, &hi, o->range, o->samples);
	scale_of_range(scale, zero, o->setup.target, &o->setup.quant, lo, hi);
}

const struct method observer_percentile = {.phases = 1, .at_once = true, .gathers = GATHERS_TAILS,
	.feed = {percentile_feed}, .finish = percentile_finish};
