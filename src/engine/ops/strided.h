// Walking several arrays together: an outer odometer over merged dimensions and an inner run. Strides count elements
// and may be zero (broadcast) or negative.
#ifndef QTUI_ENGINE_OPS_STRIDED_H
#define QTUI_ENGINE_OPS_STRIDED_H

#include <stddef.h>
#include "qtui/engine/tensor.h"

#define STRIDED_MAX 4 // arrays
struct strided {
	int rank, arrays;
	int64_t dim[SHAPE_MAX_RANK];
	int64_t stride[STRIDED_MAX][SHAPE_MAX_RANK];
	int64_t start[STRIDED_MAX]; // first element of each
};
// Array 0 row-major over `y`, the others broadcast to it.
void strided_broadcast(struct strided *s, const struct shape *y, const struct shape *const *x, int n_x);
// Merges neighbouring dimensions where every array allows it and drops those of size 1: fewer, longer runs.
void strided_merge(struct strided *s);
// The run of index `row` in 0..rows-1: offsets of its first elements. Its length is the last dimension.
int64_t strided_rows(const struct strided *s);
int64_t strided_run(const struct strided *s);
void strided_at(const struct strided *s, int64_t row, int64_t offset[STRIDED_MAX]);
int64_t strided_step(const struct strided *s, int array); // stride within a run
// Copies array 1 to array 0.
void strided_copy(struct strided *s, void *dst, const void *src, size_t elem);

#endif
