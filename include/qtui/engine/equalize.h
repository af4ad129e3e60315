// Cross-layer equalization: of every channel of a tensor a factor moves from the weights that make it to the weights
// that read it, through operators that let positive factors pass, so that the channels fill one scale alike. The
// float network computes what it did. With
//   u[c] = max |weights of the nodes in front that make channel c|, d[c] = max |weights of the nodes behind that read it|
//   f[c] = sqrt(d[c] / u[c]), between 0.1 and 10; 1 where u[c] + d[c] < threshold
// weights and biases in front are multiplied by f, weights behind divided by it; every group in turn, `rounds` times,
// since the weights of a node are mostly behind one tensor and in front of another. Nagel et al., "Data-Free
// Quantization Through Weight Equalization and Bias Correction" (2019); limits, threshold and what is passed through
// as PPQ has them.
//
// Where it is known how far each channel reaches on samples, that is evened out in place of the weights in front,
// which have a scale a channel on most targets: with a[c] = max |channel c of the tensors that the nodes behind read|
//   f[c] = sqrt(d[c] / a[c]) / (geometric mean of that), between 0.1 and 10; 1 where d[c] or a[c] is 0
// Xiao et al., "SmoothQuant" (2022), at alpha 0.5. MatMul, LayerNormalization, factors and addends a channel take
// part then as well.
//
// AMD Quark has rules of its own (`cle`): pairs of a Conv or Gemm and the only one that reads it, through Relu,
// LeakyRelu, ReduceMean over places and Pad with zeros. u counts biases too, divided by 2 to 20 as they are large
// beside the weights; factors have no limits. A depthwise convolution between two others, with nothing but Relu about
// it, makes a triple as well, whose three ranges become their geometric mean.
#ifndef QTUI_ENGINE_EQUALIZE_H
#define QTUI_ENGINE_EQUALIZE_H

#include <stdatomic.h>
#include "qtui/engine/data.h"
#include "qtui/engine/graph.h"
#include "qtui/engine/run.h"
#include "qtui/engine/tuning.h"

enum equalize_rules { EQUALIZE_PPQ, EQUALIZE_QUARK };
struct equalize_options {
	enum equalize_rules rules; // Quark's know neither `sums` nor `bias` nor `reach`
	int rounds;       // at least 1
	double threshold; // of u + d, in the weights' own unit
	double bias;      // biases in front count this much in u, beside the weights: PPQ's bias_multiplier; 0: they do not
	bool sums;        // groups reach through Add and Sub too: PPQ's opt_level 2
	double *const *reach; // [n_values] of equalize_reach with the same `sums`, or NULL: weights alone
	const atomic_bool *cancel; // heard before every group; may be NULL
};
#define EQUALIZE_DEFAULT ((struct equalize_options){.rounds = 10, .threshold = 0.5})
#define EQUALIZE_DEFAULT_QUARK ((struct equalize_options){.rules = EQUALIZE_QUARK, .rounds = 1, .threshold = 0.5})

// The tensors that share one factor a channel, and the nodes with weights around them.
struct equalize_group {
	int *front, n_front;   // node ids in order
	int *behind, n_behind;
	int64_t channels;
	bool chained;          // front[0], front[1] and behind[0] follow each other: Quark's triple
	// Bits that a channel leaves unused under one scale for all, on average: of log2(max u / u[c]), and of d.
	// Channels of zeros do not count.
	double front_before, front_after, behind_before, behind_after;
	double reach_before, reach_after; // the same of a; 0 without reach
};
struct equalization {
	struct equalize_group *group;
	int n_groups;
	bool by_reach;          // else by weights alone
	struct tuning *weights; // what stands in for the graph's own, for nodes that changed; grid zero: for any
};
// The caller calls equalization_done; the graph stays as it is. STATUS_NOMEM when the weights do not fit twice,
// STATUS_CANCELLED.
MUST_CHECK enum status equalize(struct equalization *out, const struct graph *g, const struct equalize_options *opt, struct error *err);
void equalization_done(struct equalization *e);
// What the reach of channels is read for.
struct equalize_reading {
	int samples;               // of the engine's dataset, from the first on
	bool sums;                 // groups reach through Add and Sub too
	const atomic_bool *cancel; // or NULL
};
// How far the channels that can be equalized reach in the float network: the largest |x| of each on the samples, what
// is not finite left out. [n_values], NULL for values that nothing behind reads; equalize_reach_free frees all of it.
// STATUS_CANCELLED: `cancel` was set.
MUST_CHECK enum status equalize_reach(
    double ***out, const struct graph *g, struct engine *e, const struct equalize_reading *of, struct error *err);
void equalize_reach_free(double ***reach, const struct graph *g);
// The channel of what a node reads that by the weights around it reaches farthest beyond the median channel.
struct equalize_outlier {
	int value;                 // the tensor that the node reads
	int64_t channel, channels; // of these
	double front;              // largest weight that makes it / the median channel's; NAN: the tensor cannot be equalized
	double behind;             // the median channel's largest weight that reads it / its own
	int maker;                 // the first node in front; -1: the tensor cannot be equalized
	bool sums;                 // it can, through Add and Sub
};
// What can be equalized, found once for all nodes of a graph, which is borrowed.
struct equalize_fronts;
struct equalize_fronts *equalize_fronts_new(const struct graph *g);
void equalize_fronts_free(struct equalize_fronts **f);
// false: the node's weights do not tell.
bool equalize_outlier(struct equalize_outlier *out, const struct equalize_fronts *f, int node);
// [n_nodes], the caller frees it: are the node's weights behind, or in front of, a tensor that is equalized through
// Relu and its kin alone?
bool *equalize_reaches(const struct graph *g);

#endif
