// The parts of an observer. Every method keeps one result a sample or integer counts,
// so that the order in which threads feed samples does not show in the scale.
#ifndef QTUI_ENGINE_PLAN_OBSERVERS_OBSERVER_IMPL_H
#define QTUI_ENGINE_PLAN_OBSERVERS_OBSERVER_IMPL_H

#include <pthread.h>
#include <stdatomic.h>
#include "../plan_impl.h"

// Scales that MSE_EXPONENTS tries; bins of MSE's grid, of the joint search,
// and the most with which a histogram is kept for later.
enum { EXPONENTS = 5, MSE_BINS = 2048, JOINT_BINS = 4096, KEPT_BINS = 8192 };

struct range {
	float lo, hi;
	bool seen;   // has finite values
	float least; // the smallest magnitude, of the method that wants it; else 0
};
struct observer {
	struct observer_setup setup;
	const struct method *method;
	pthread_mutex_t lock;      // guards hist and started
	int samples;
	struct range *range;       // [samples] phase 0; [2 * samples] of the joint search: percentiles behind the ranges
	double *sum;               // [samples * EXPONENTS] squared errors, of the method that wants them
	atomic_bool fed;           // some element, finite or not
	bool thin;                 // phase 1 is fed some of the elements
	bool started;              // phase 1 has its total range and histogram
	struct range total;
	uint32_t *hist;            // phase 1: `bins` entries, and one for what is outside
	int bins;
};
// What phase 0 leaves in o->range, which any method can take over that leaves the same.
enum gathered {
	GATHERS_OWN,        // and more beside: nobody takes it over
	GATHERS_RANGE,
	GATHERS_MAGNITUDES, // the range with the smallest magnitude
	GATHERS_TAILS,      // percentiles
};
struct method {
	int phases;
	bool at_once; // wants all elements of a sample in one call; else they may come in parts
	bool counts;  // phase 1: all elements in bins over the range, which can be taken over likewise
	enum gathered gathers;
	void (*feed[OBSERVER_PHASES])(struct observer *o, int sample, const float *x, int64_t n);
	void (*finish)(struct observer *o, float *scale, int32_t *zero);
};
extern const struct method observer_minmax, observer_percentile, observer_kl, observer_mse_grid, observer_mse_exponents,
    observer_mse_growing, observer_percentile_pooled, observer_joint;

// Makes phase 1 ready: total range over the samples, histogram of `bins`. Called under the lock.
void observer_start(struct observer *o, int bins);
// `into` gets what `one` has beyond it; the larger magnitude of both ends.
void range_join(struct range *into, const struct range *one);
float range_largest(const struct range *r);
struct range observer_total(const struct observer *o);
// Phase 0 of the methods that begin with ranges.
void observer_feed_range(struct observer *o, int sample, const float *x, int64_t n);
// Percentiles of one sample, and their mean over those that have any. At least one must.
void percentile_of_sample(struct range *r, const float *x, int64_t n, double p);
void percentile_mean(double *lo, double *hi, const struct range *r, int n);
// Counts |x| or x - lo in o->hist; takes the lock as long as it must.
void observer_count_abs(struct observer *o, const float *x, int64_t n);
void observer_count(struct observer *o, const float *x, int64_t n);

// Adds hist[o->bins] to o->hist, under the lock; a count stays at its largest.
void observer_add_counts(struct observer *o, const uint32_t *hist);

// The searches, on counts alone; what they find is in bins. KL: where magnitudes are clipped.
// The others: the range [*start, *end).
int kl_search(const uint32_t *hist, int bins, int levels);
void mse_search(const uint32_t *hist, int bins, int levels, bool symmetric, double lo_bins, int *start, int *end);
// hist[JOINT_BINS], the last one not empty. The divergence decides, or, with `error`, both.
// Called with the percentiles' range in *start and *width, which is a candidate too.
void joint_search(const uint32_t *hist, bool error, int *start, int *width);

// scan.c: passes over floats, vectorised where the processor allows. Values that are not finite are skipped.
void scan_range(struct range *r, const float *x, int64_t n);
// hist[bins + 1]: bin = (int)((x - lo) * bins / (hi - lo)) in float, the last bin closed;
// hist[bins] counts what is outside. The first form is for |x| in [0, hi], hi > 0.
void scan_hist_abs(uint32_t *hist, int bins, float hi, const float *x, int64_t n);
void scan_hist(uint32_t *hist, int bins, float lo, float hi, const float *x, int64_t n);
// Elements below lo and above hi into low[max] and high[max], and how many are equal to lo
// and hi. False when max is not enough.
struct tails {
	float lo, hi;
	float *low, *high;
	int64_t max, n_low, n_high, equal_lo, equal_hi;
};
bool scan_tails(struct tails *t, const float *x, int64_t n);
double scan_squared_error(float scale, float zero, float qmin, float qmax, const float *x, int64_t n);
double scan_weighted(const double *weight, const double *x, int n); // sum of products

#endif
