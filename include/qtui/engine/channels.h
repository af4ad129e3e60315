// Channels: along which dimension of a tensor they lie, and figures of each. Plain data; nothing is kept.
#ifndef QTUI_ENGINE_CHANNELS_H
#define QTUI_ENGINE_CHANNELS_H

#include "qtui/engine/graph.h"
#include "qtui/engine/stats.h"

enum {
	CHANNELS_WHOLE = -1,   // one for the whole tensor: a scalar, or a constant that is the same for all channels
	CHANNELS_UNKNOWN = -2, // nothing says: the product of two activations, a Reshape that splits or joins them ...
};
// [n_values], the caller frees it: the dimension of every activation that holds channels. It follows from the operator that makes the tensor
// (Conv: 1, MatMul with weights: the last ...) through those that move, reduce and combine dimensions, or, where that says nothing, from
// those that read it.
int *channel_axes(const struct graph *g);

// Element i of a plain tensor is of channel (group of its index along dimension 0) * dim[axis] + (its index along `axis`).
struct channel_split {
	int axis;       // or CHANNELS_WHOLE, CHANNELS_UNKNOWN
	int64_t groups; // more than 1: the output channels of a ConvTranspose lie so in its weights; each has dim[0] / groups rows
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
// Of f (float32) and its quantized version q (float32: the values of codes of `quant`, which may be NULL), both plain and of one shape, into
// out[split->n]. As stats_compare counts; a scale per channel must lie along the same dimension.
void channel_sums(struct channel_sums *out, const struct channel_split *split, const struct tensor *f, const struct tensor *q,
    const struct quantizer *quant);
// The largest |x| of each channel of a plain float32 tensor, what is not finite left out, into out[split->n].
void channel_reach(double *out, const struct channel_split *split, const struct tensor *x);
void channel_sums_merge(struct channel_sums *into, const struct channel_sums *one);
int channel_sums_codes(const struct channel_sums *s); // how many codes occur

#endif
