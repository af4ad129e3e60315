// Private to src/engine/tune: what equalize.c works on, layers and groups.
#ifndef QTUI_ENGINE_TUNE_EQUALIZE_IMPL_H
#define QTUI_ENGINE_TUNE_EQUALIZE_IMPL_H

#include "qtui/engine/equalize.h"

// A node with constant weights [first][second][inner]: its rows make output channels, its columns read input channels.
// With groups the first index says which stretch of the other channels the second one counts in.
struct layer {
	int node, slot;               // the weights are its input `slot`
	int in; // value whose channels its columns read; -1: nothing can be divided out of it (LayerNormalization, an addend)
	int axis;                     // of the channels of what it reads and makes, from the end: -1 is the last dimension
	bool rows_first;              // rows are the first index (ConvTranspose, MatMul, Gemm without transB: columns)
	bool addend;                  // added to the tensor: it takes the factors, and says nothing of how far weights reach
	int64_t first, second, inner, groups;
	int64_t rows, columns;
	const struct tensor *weight, *bias; // of the graph; bias: [rows], or NULL
	struct tensor w, b;           // their copies under work, from layer_open on
};
// What counts as a layer, and what factors pass.
struct reaching {
	bool sums;                    // Add and Sub are passed
	bool wide;                    // beyond what PPQ knows: see layer_find
};
// false: no weights that factors can move to or from. Conv, ConvTranspose and Gemm;
// wide: MatMul, LayerNormalization, and a factor or an addend for each channel.
bool layer_find(struct layer *l, const struct graph *g, int node, bool wide);
// Copies the weights of a layer that was found. On error it has none. One that is all zero may be closed.
MUST_CHECK enum status layer_open(struct layer *l, const struct graph *g, struct error *err);
void layer_close(struct layer *l);
bool layer_is_finite(const struct layer *l); // weights and biases
void layer_raise(float *top, const struct layer *l, bool rows); // top[c] becomes at least the largest weight of row (else column) c
void layer_raise_by_bias(float *top, const struct layer *l, double by); // at least by * the bias of row c
void layer_multiply_rows(struct layer *l, const float *factor); // factor[rows]; the bias too
void layer_divide_columns(struct layer *l, const float *factor); // factor[columns]
// The copies become tuned constants, if they are others than the graph's.
void layer_put(struct tuning *t, struct layer *l);
// Tensors that share a factor a channel, with the layers around them:
// heap, as equalization_done frees them. Figures are zero.
int groups_find(struct equalize_group **out, const struct graph *g, const struct reaching *r);
// Quark's rules: its groups; the order (heap, n_order of it) in which it goes through them; one step with one of them.
int quark_groups(struct equalize_group **out, const struct graph *g);
int *quark_order(int *n_order, const struct equalize_group *group, int n);
MUST_CHECK enum status quark_move(struct layer *layer, const struct equalize_group *g, double threshold, struct error *err);
void group_done(struct equalize_group *g);

#endif
