// An Einsum's equation taken apart (private).
#ifndef QTUI_ENGINE_OPS_PRODUCT_EINSUM_H
#define QTUI_ENGINE_OPS_PRODUCT_EINSUM_H

#include "../ops.h"
#include "../strided.h"

// An equation with more different letters, or of more inputs, is refused.
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
// Where operands lie: elements between neighbours along each label, 0 where an operand has only one or none.
// A label that an operand has twice walks its diagonal.
struct einsum_walk {
	const struct einsum *e;
	const struct tensor *const *in;
	int64_t stride[EINSUM_OPERANDS][EINSUM_LABELS];
	int64_t terms; // of each sum
};
// All operands at once, into `out`, which is dense and has the first w->e->out.n labels in their order.
MUST_CHECK enum status einsum_at_once(const struct einsum_walk *w, struct tensor *out, int width, struct error *err);
void einsum_sums(const struct einsum_walk *w, struct tensor *out, int64_t count, int width);
// Two at a time (einsum_path.c); w->terms is not 0.
MUST_CHECK enum status einsum_path(const struct einsum_walk *w, struct tensor *out, int width, struct error *err);
int64_t einsum_path_macs(const struct einsum_walk *w); // of steps that sum; 0 where there are more than anybody counts
// Two float operands as matrix products: the widest label of each alone and the widest
// that is summed make the matrices.
MUST_CHECK enum status einsum_pair(const struct einsum_walk *w, float *y, int width, struct error *err);

// The same as matrices side by side, [batch, m, k] by [batch, k, n] into [batch, m, n]. Operands that do not lie so,
// turned or not, and a result that does not, have to be copied: array 0 of a copy is where to.
struct einsum_product {
	int64_t batch, m, n, k;
	bool a_turned, b_turned;               // [batch, k, m], [batch, n, k]
	bool a_copied, b_copied, y_copied;
	struct strided a, b, y;
};
// False where an operand has a sum or a diagonal of its own, or nothing is in it.
bool einsum_product_of(struct einsum_product *p, const struct einsum_walk *w);
bool einsum_product(struct einsum_product *p, const char *equation, const struct tensor *const *in);

#endif
