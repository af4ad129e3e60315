// The channels of one tensor at which a quantizer acts, and the samples that it goes through: figures that no run
// needs, made when somebody looks at them. Immutable and reference-counted once they are part of a snapshot.
#ifndef QTUI_ANALYSIS_CHANNELS_H
#define QTUI_ANALYSIS_CHANNELS_H

#include <stdatomic.h>
#include "qtui/base/error.h"
#include "qtui/base/hash.h"
#include "qtui/engine/channels.h"

// What is conspicuous about a channel; several may hold.
enum channel_flag {
	CHANNEL_DEAD = 1 << 0,    // nothing but zeros, or below CHANNEL_DEAD_SHARE of the largest channel
	CHANNEL_OUTLIER = 1 << 1, // it reaches CHANNEL_OUTLIER_RATIO times as far as the median channel, and so sets a range for all
	CHANNEL_COARSE = 1 << 2,  // its largest value is fewer than CHANNEL_FEW_CODES steps from zero
	CHANNEL_CLIPPED = 1 << 3, // more than a hundredth of it lies beyond the grid
	CHANNEL_SHIFTED = 1 << 4, // its mean moves by more than half a step, and that is a tenth of its squared error
};
enum { CHANNEL_FLAGS = 5, CHANNEL_FEW_CODES = 8, CHANNEL_OUTLIER_RATIO = 4 };
#define CHANNEL_DEAD_SHARE 1e-5 // of the largest channel's reach: so small that it was pruned
const char *channel_flag_name(int bit); // of 1 << bit: "dead" ...

struct channel {
	float min, max, qmin, qmax;   // of the float and the quantized values
	float scale;                  // 0: the quantizer has no scale (a cast)
	struct metrics now;           // everything upstream quantized too; of a weight its own
	double alone_db;              // only this node quantized: INFINITY exact, NAN not known or a weight
	double share;                 // of the tensor's squared error, 0..1; NAN: there is none
	double shift;                 // mean of (quantized - float)
	double unused_bits;           // log2(max |tensor| / max |channel|); INFINITY: all zeros
	double used;                  // share of the quantizer's codes that occur; NAN: more than 8 bit
	unsigned flags;
};
struct channel_sample {           // the whole tensor on one sample
	const char *name;             // lives as long as the study
	double snr_db;                // INFINITY: exact; NAN: the sample is all zeros there
};
struct channels {
	atomic_int refs;
	int slot;                     // of the plan: what site.slot says
	struct key decision;          // under which they were made: what snapshot.decision says
	int axis;                     // CHANNELS_WHOLE, or CHANNELS_UNKNOWN: then there are none
	int n;
	struct channel *at;           // [n]
	int samples, of;              // samples that the figures are over, and will be over; 1 of 1: a weight
	struct channel_sample *sample; // [n_samples] those that the tensor is worst on first; of a weight none
	int n_samples;
	char problem[sizeof ((struct error *)0)->text]; // why there is nothing to show
	int count[CHANNEL_FLAGS];     // channels with each flag
	double spread;                // mean of unused_bits over those that are not dead
};
struct channels *channels_take(struct channels *c);
void channels_drop(struct channels **c);

// Makes figures of sums[split->n], gathered on `samples` of `of` samples, and of alone[split->n] (may be NULL), those
// of the node alone. The caller holds the only count.
struct channels *channels_of(const struct channel_split *split, const struct channel_sums *sums, const struct channel_sums *alone,
    const struct quantizer *q, int samples, int of);
// How unlike channels are in their reach, the largest |x| of each.
struct channel_spread {
	double top, median;           // the largest reach; the median of those that are not dead
	double unused_bits;           // mean of log2(top / reach) over those
	int dead, outliers;
};
struct channel_spread channel_spread(const double *reach, int n);
// Copies the samples and puts the worst first. Called before the channels become part of a snapshot.
void channels_set_samples(struct channels *c, const struct channel_sample *sample, int n);

#endif
