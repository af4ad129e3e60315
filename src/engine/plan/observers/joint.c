// The range as XSlim's observer chooses it: of every range of whole steps of a histogram the divergence and the squared
// error, weighed so that both count alike among the ten that have the least error. The divergence is that
// of the tool down to what its loop leaves behind in the buffer that it takes the rows from, which keeps ranges
// in the upper half from being chosen. Logarithms are taken of sums of bins: groups of bins begin where ranges do,
// so that a range costs no pass over its bins but for the error, which is a product with a table of its width.
#include <math.h>
#include <stdlib.h>
#include "observer_impl.h"

// Ranges begin and end at multiples of STEP bins, and have LEVELS bins at the least: a row of them for each width.
enum { BINS = JOINT_BINS, LEVELS = 256, STEP = 32, GROUP = BINS / LEVELS, ROWS = (BINS - LEVELS) / STEP + 1 };
enum { RANGES = ROWS * (ROWS + 1) / 2 + 1 }; // the percentiles' first
enum { WEIGHED = 10 }; // ranges of the least error, by which it is weighed
#define TINY 1e-30     // the tool's, in logarithms of what may be empty

struct candidate {
	double divergence, error;
	int start, width; // bins
};
struct joint {
	double total, n[BINS];             // all bins, each
	double mass[BINS + 1];             // [i] of the bins before i: counts,
	double moment[BINS + 1], square[BINS + 1]; // times i and i^2,
	double own[BINS + 1];              // p log p of their shares p,
	double group[LEVELS + 1];          // and of the groups before: counts times the logarithm of the mean of those that are not empty
	double error_of_bin[BINS];         // squared distance to the levels, for the width at hand
	struct candidate range[RANGES];
};

static double share_log(double p)
{
	return p * log10(p + TINY);
}

// Mean count of the bins from `from` on that are not empty.
static double group_mean(const struct joint *j, int from, int to)
{
	int occupied = 0;
	for (int i = from; i < to; i++)
		occupied += j->n[i] > 0;
	return occupied ? (j->mass[to] - j->mass[from]) / occupied : 0;
}

static void fill_sums(struct joint *j, const uint32_t *hist)
{
	for (int i = 0; i < BINS; i++) {
		double n = j->n[i] = hist[i];
		j->mass[i + 1] = j->mass[i] + n;
		j->moment[i + 1] = j->moment[i] + n * i;
		j->square[i + 1] = j->square[i] + n * i * i;
	}
	j->total = j->mass[BINS];
	for (int i = 0; i < BINS; i++)
		j->own[i + 1] = j->own[i] + share_log(j->n[i] / j->total);
	for (int g = 0; g < LEVELS; g++) {
		int from = g * GROUP, to = from + GROUP;
		double n = j->mass[to] - j->mass[from];
		j->group[g + 1] = j->group[g] + (n > 0 ? n * log10(group_mean(j, from, to)) : 0);
	}
}

// What the divergence grows by when `more` is added to a bin of n in a row whose bins sum
// up to `sum`; `mean` is its group's.
static double raised(const struct joint *j, double n, double more, double mean, double sum)
{
	double q = n > 0 ? mean / sum : 0;
	return share_log((n + more) / j->total) - share_log(n / j->total) - more / j->total * log10(q + TINY);
}

static double raised_at(const struct joint *j, int bin, double more, double sum)
{
	int from = bin / GROUP * GROUP;
	return raised(j, j->n[bin], more, group_mean(j, from, from + GROUP), sum);
}

// A row of the tool's buffer holds the bins from the range's start on, up to its own end once more beyond it;
// where these are over it holds what earlier rows of the same width have left there.
struct left {
	int copies;       // of the last STEP bins
	double loss;      // of what was clipped, on empty bins
	double on_last;   // what was clipped, on the last bin
};

static double divergence_at(const struct joint *j, int start, int width, const struct left *left)
{
	int end = 2 * start + width < BINS ? 2 * start + width : BINS, last = BINS - STEP;
	double sum = j->mass[end] - j->mass[start] + left->copies * (j->mass[BINS] - j->mass[last]);
	if (sum <= 0)
		return NAN;
	double own = j->own[end] - j->own[start] + left->copies * (j->own[BINS] - j->own[last]);
	double groups = j->group[end / GROUP] - j->group[start / GROUP] + left->copies * (j->group[LEVELS] - j->group[last / GROUP]);
	double below = j->mass[start] * ((width - LEVELS) / STEP + 1), above = j->total - j->mass[start + width]; // below: added once a row
	double d = own - (groups - sum * log10(sum)) / j->total + left->loss + raised_at(j, start, below, sum);
	if (left->on_last > 0)
		d += raised_at(j, BINS - 1, left->on_last, sum);
	return d + (2 * start + width <= BINS ? raised_at(j, 2 * start + width - 1, above, sum) : raised(j, 0, above, 0, sum));
}

static void leave(struct left *left, const struct joint *j, int start, int width)
{
	double above = j->total - j->mass[start + width];
	if (2 * start + width < BINS)
		return;
	left->copies++;
	if (2 * start + width == BINS)
		left->on_last = above;
	else
		left->loss += raised(j, 0, above, 0, 1);
}

// Sum over bins [from, to) of their counts times (i - at)^2.
static double outside(const struct joint *j, int from, int to, double at)
{
	return j->square[to] - j->square[from] - 2 * at * (j->moment[to] - j->moment[from]) + at * at * (j->mass[to] - j->mass[from]);
}

// Steps are whole 256ths, so that nothing is rounded on the way.
static void fill_errors(struct joint *j, int width)
{
	double step = fmax((double)width / LEVELS, 1), middle = (step - 1) / 2, at = 0;
	for (int i = 0; i < width; i++) {
		double off = middle - fabs(at - middle) + .5;
		j->error_of_bin[i] = off * off;
		at = at + 1 < step ? at + 1 : at + 1 - step;
	}
}

static double error_at(const struct joint *j, int start, int width)
{
	double below = outside(j, 0, start, start - .5), above = outside(j, start + width, BINS, start + width - .5);
	return (below + scan_weighted(j->error_of_bin, j->n + start, width) + above) / j->total;
}

// Widths from the narrowest on for every start, behind the percentiles'.
static struct candidate *candidate_at(struct joint *j, int start, int width)
{
	int before = start / STEP, row = (width - LEVELS) / STEP;
	return &j->range[1 + before * ROWS - before * (before - 1) / 2 + row];
}

static void try_width(struct joint *j, int width)
{
	struct left left = {0};
	fill_errors(j, width);
	for (int start = 0; start + width <= BINS; start += STEP) {
		*candidate_at(j, start, width) = (struct candidate){
			.divergence = divergence_at(j, start, width, &left), .error = error_at(j, start, width), .start = start, .width = width};
		leave(&left, j, start, width);
	}
}

// The percentiles' range lies anywhere, so that its groups do: position 0 is its first bin,
// and behind the histogram there is nothing.
static double divergence_anywhere(const struct joint *j, int start, int width)
{
	int end = start + width, n = end < BINS - start ? end : BINS - start;
	double d = 0, sum = j->mass[start + n] - j->mass[start];
	for (int i = 0; i < end; i++) {
		int from = i / GROUP * GROUP, to = from + GROUP < n ? from + GROUP : n;
		double count = i < n ? j->n[start + i] : 0, more = (i == 0 ? j->mass[start] : 0) + (i == end - 1 ? j->total - j->mass[end] : 0);
		double q = count > 0 ? group_mean(j, start + from, start + to) / sum : 0, p = (count + more) / j->total;
		d += share_log(p) - p * log10(q + TINY);
	}
	return d;
}

static bool less_error(const struct candidate *a, const struct candidate *b)
{
	return a->error < b->error || (a->error == b->error && a->divergence < b->divergence);
}

// The factor at which the error weighs as much as the divergence:
// root mean square of their ratio where the error is least.
static double weight_of_error(const struct joint *j)
{
	const struct candidate *least[WEIGHED + 1];
	double sum = 0;
	int n = 0;
	for (int i = 0; i < RANGES; i++) {
		int k = n;
		for (; k > 0 && less_error(&j->range[i], least[k - 1]); k--)
			least[k] = least[k - 1];
		least[k] = &j->range[i];
		n += n < WEIGHED;
	}
	for (int i = 0; i < WEIGHED; i++)
		sum += (least[i]->divergence / least[i]->error) * (least[i]->divergence / least[i]->error);
	return sqrt(sum / WEIGHED);
}

void joint_search(const uint32_t *hist, bool error, int *start, int *width)
{
	struct joint *j = xcalloc(1, sizeof *j);
	fill_sums(j, hist);
	fill_errors(j, *width);
	j->range[0] = (struct candidate){divergence_anywhere(j, *start, *width), error_at(j, *start, *width), *start, *width};
	for (int w = LEVELS; w <= BINS; w += STEP)
		try_width(j, w);
	double weight = error ? weight_of_error(j) : 0, least = INFINITY;
	for (int i = 0; i < RANGES; i++) {
		double loss = j->range[i].divergence + weight * j->range[i].error;
		if (loss < least) { // not where the divergence is undefined: a row without a value
			least = loss;
			*start = j->range[i].start;
			*width = j->range[i].width;
		}
	}
	free(j);
}

// Phase 0: ranges in the first half of o->range, percentiles in the second.
static void feed_both(struct observer *o, int sample, const float *x, int64_t n)
{
	observer_feed_range(o, sample, x, n);
	percentile_of_sample(&o->range[o->samples + sample], x, n, o->setup.target->calibration.percentile);
}

static void feed_counts(struct observer *o, int sample, const float *x, int64_t n)
{
	(void)sample;
	pthread_mutex_lock(&o->lock);
	observer_start(o, BINS);
	pthread_mutex_unlock(&o->lock);
	if (o->total.seen && o->total.hi > o->total.lo)
		observer_count(o, x, n);
}

static void choose(struct observer *o, double *lo, double *hi)
{
	double first, last, from = o->total.lo, bin = ((double)o->total.hi - from) / BINS;
	percentile_mean(&first, &last, o->range + o->samples, o->samples);
	if (bin <= 0 || fabs(first - last) < o->setup.target->scale.minimum)
		return;
	int start = (int)fmax(floor((first - from) / bin), 0), width = (int)ceil((last - first) / bin), p_start = start;
	width = width < BINS - start ? width : BINS - start;
	int p_width = width;
	joint_search(o->hist, o->setup.method == CALIB_MSE, &start, &width);
	bool percentiles = start == p_start && width == p_width;
	*lo = fmax(percentiles ? first : from + start * bin, o->setup.floor);
	*hi = percentiles ? last : *lo + width * bin;
}

static void finish(struct observer *o, float *scale, int32_t *zero)
{
	const struct quantizer *q = &o->setup.quant;
	observer_start(o, BINS);
	double lo = fmax(o->total.lo, o->setup.floor), hi = o->total.hi;
	if (q->qmax - q->qmin + 1 == LEVELS && !q->symmetric)
		choose(o, &lo, &hi);
	scale_of_range(scale, zero, o->setup.target, q, lo, hi);
}

const struct method observer_joint = {.phases = 2, .at_once = true, .feed = {feed_both, feed_counts}, .finish = finish};
