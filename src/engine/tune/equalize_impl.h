// Private to src/engine/tune: what equalize.c works on.
#ifndef ENGINE_EQUALIZE_IMPL_H
#define ENGINE_EQUALIZE_IMPL_H

#include "qtui/engine/equalize.h"

// A node with constant weights [first][second][inner]: its rows make output channels, its columns read input channels. With groups the
// first index says which stretch of the other channels the second one counts in.
struct layer {
	int node;
	bool rows_first;              // rows are the first index (ConvTranspose, Gemm without transB: columns)
	int64_t first, second, inner, groups;
	int64_t rows, columns;
	const struct tensor *weight, *bias; // of the graph; bias: [rows], or NULL
	struct tensor w, b;           // their copies under work: equalize.c's
};
bool layer_find(struct layer *l, const struct graph *g, int node); // false: no weights that factors can move to or from
// Tensors that share a factor a channel, with the layers around them: heap, as equalization_done frees them. Figures are zero.
int groups_find(struct equalize_group **out, const struct graph *g, bool sums);
void group_done(struct equalize_group *g);

#endif
