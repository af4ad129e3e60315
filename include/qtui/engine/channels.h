// Channels: along which dimension of a tensor they lie, and figures of each. Plain data: the caller owns every array
// that is filled here.
#ifndef QTUI_ENGINE_CHANNELS_H
#define QTUI_ENGINE_CHANNELS_H

#include "qtui/engine/graph.h"
#include "qtui/engine/stats.h"

enum {
	CHANNELS_WHOLE = -1,   // one for the whole tensor: a scalar, or a constant that is the same for all channels
	CHANNELS_UNKNOWN = -2, // cannot be told: the product of two activations, a Reshape that splits or joins them ...
};
// [n_values], the caller frees it: the dimension of every activation that holds channels. It follows from the
// operator that makes the tensor (Conv: 1, MatMul with weights: the last ...) through those that move, reduce and
// combine dimensions, or, where that says nothing, from those that read it.
int *channel_axes(const struct graph *g);

// To which channel the elements of a plain tensor belong: with one group, the channel is the index along `axis`.
// The weights of a ConvTranspose, [C_in, C_out / groups, ...], have several: group g is the rows
// [g * dim[0] / groups, (g + 1) * dim[0] / groups) of dimension 0, and its channels are g * dim[axis] + the index along
// `axis`.
struct channel_split {
	int axis;       // or CHANNELS_WHOLE, CHANNELS_UNKNOWN
	int64_t groups;
	int64_t n;      // channels; 0 where they are not known
};
struct channel_split channel_split(const struct shape *s, int axis);
// Of the constant that is input `input` of a node: its channels are those of the node's output.
struct channel_split channel_split_constant(const struct graph *g, const int *axes, int node, int input);

struct channel_sums {
	struct tensor_sums sums;
	double shift;      // sum of q - f over the elements where both are finite
	uint32_t seen[8];  // bit i: code qmin + i occurs; of quantizers with at most 256 codes
};
// Compares f with its quantized version q, channel by channel, into out[split->n], as stats_compare does for a whole
// tensor. Both are plain, float32 and of one shape; q holds the values that codes of `quant` stand for (`quant` may be
// NULL). Where `quant` has a scale per channel, these channels are those of `split`.
void channel_sums(struct channel_sums *out, const struct channel_split *split, const struct tensor *f, const struct tensor *q,
    const struct quantizer *quant);
// The largest finite |x| of each channel of a plain float32 tensor, into out[split->n].
void channel_reach(double *out, const struct channel_split *split, const struct tensor *x);
void channel_sums_merge(struct channel_sums *into, const struct channel_sums *one);
int channel_sums_codes(const struct channel_sums *s); // how many codes occur

#endif
