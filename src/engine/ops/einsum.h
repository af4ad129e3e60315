// An Einsum's equation taken apart (private).
#ifndef QTUI_ENGINE_OPS_EINSUM_H
#define QTUI_ENGINE_OPS_EINSUM_H

#include "ops.h"

#define EINSUM_LABELS 24
#define EINSUM_OPERANDS 8

struct einsum_term {
	char label[SHAPE_MAX_RANK + 1];
	int n;
};
struct einsum {
	struct einsum_term in[EINSUM_OPERANDS], out;
	int operands;
	char label[EINSUM_LABELS]; // those of the output first
	int64_t dim[EINSUM_LABELS];
	int labels;
};
// Where operands lie: elements between neighbours along each label, 0 where an operand has only one or none. A label that an operand
// has twice walks its diagonal.
struct einsum_walk {
	const struct einsum *e;
	const struct tensor *const *in;
	int64_t stride[EINSUM_OPERANDS][EINSUM_LABELS];
	int64_t terms; // of each sum
};
// Two float operands as matrix products: the widest label of each alone and the widest that is summed make the matrices.
MUST_CHECK enum status einsum_pair(const struct einsum_walk *w, float *y, int width, struct error *err);

#endif
