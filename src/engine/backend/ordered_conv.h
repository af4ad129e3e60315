// Convolutions whose sums go in ONNX Runtime's order (see ordered.h), along k: channel, row, column of the kernel.
// Where a group has one output (depthwise), four products at a time are added up without fusing.
#ifndef QTUI_ENGINE_BACKEND_ORDERED_CONV_H
#define QTUI_ENGINE_BACKEND_ORDERED_CONV_H

#include "backend.h"

MUST_CHECK enum status ordered_conv(struct kernel **out, const struct conv_task *t, struct error *err);

enum { ORDERED_ROWS = 6, ORDERED_COLUMNS = 16 };
// Private to ordered_conv*.c.
// c[ORDERED_ROWS][ORDERED_COLUMNS] = a * b over one block: a is [k][ORDERED_ROWS], b is [k][ORDERED_COLUMNS].
void ordered_tile_avx2(const float *a, const float *b, int64_t k, float *c);
// c[ORDERED_COLUMNS] = a[k] * b, the order of a group with one output.
void ordered_single_avx2(const float *a, const float *b, int64_t k, float *c);
// to[i] = plane[at[i]], 0 where at[i] is negative, for ORDERED_COLUMNS places.
void ordered_gather_avx2(float *to, const float *plane, const int32_t *at);

#endif
