// The elements of a blocked tensor in another order, in one pass:
// a Transpose that puts channels last, of what a convolution wrote, with or without a Reshape between them.
// Channels of a pixel lie side by side in blocks already, so that runs of them are copied.
#ifndef QTUI_ENGINE_TENSOR_UNBLOCK_H
#define QTUI_ENGINE_TENSOR_UNBLOCK_H

#include "qtui/engine/tensor.h"

struct unblock {
	int rank;                                // dimensions of the result that are not 1, neighbours merged where both lie alike
	int64_t dim[SHAPE_MAX_RANK + 1];
	int64_t pixel_step[SHAPE_MAX_RANK + 1];  // in the blocked tensor: elements from index to index
	int64_t channel_step[SHAPE_MAX_RANK + 1]; // likewise, channels
};
// `src` seen in plain order as `seen` (as many elements), whose dimension perm[i] becomes dimension i of the result.
// False: a dimension mixes channels and pixels, or the last one of the result is no run of channels.
bool unblock_of(struct unblock *u, const struct tensor *src, const struct shape *seen, const int64_t *perm);
// dst: plain, as many elements of the same type, allocated.
void unblock_run(const struct unblock *u, struct tensor *dst, const struct tensor *src, int width);

#endif
