// Private to src/engine/run: element-wise steps, a strip at a time. A strip of the operands
// becomes floats in the first-level cache, goes through the function and onto the output's grid;
// whole tensors one after another would give the same numbers. So do, where 8-bit codes become 8-bit codes,
// a table of 256 entries for one tensor, and one loop for the sums and products of two (elt_codes).
#ifndef QTUI_ENGINE_RUN_STRIPS_H
#define QTUI_ENGINE_RUN_STRIPS_H

#include "exec/exec.h"

struct operand {
	struct rep *rep;     // floats or codes
	bool spread;         // one pixel for a whole plane of the result
	int64_t pixels;      // spread: how many such pixels there are; plane p takes pixel p % pixels
};
// y = f(a, b); b is NULL for functions of one operand. y may be a.
typedef void strip_fn(void *arg, const float *a, const float *b, float *y, int64_t n);
struct strips {
	struct operand in[2];
	int n_in;
	strip_fn *fn;
	void *arg;
	bool arithmetic;     // fn is elt_binary of the node and then the step's activation
	enum layout layout;  // of the result
	struct shape shape;
	bool by_plane;       // planes are (image, channel block) pairs of LAYOUT_BLOCK; else the tensor is one plane
	int64_t pixel;       // spread: elements of a pixel: 1, the channels of a block, or a row (the last dimension); STRIPS_PIXEL at the most
};
enum { STRIPS_PIXEL = 2048 };
// Makes the step's output 0, as codes where its quantizer has them; over a single operand that nobody else has.
// Operands that are not spread have the result's size and layout.
MUST_CHECK enum status strips_run(struct exec *x, const struct strips *s);

#endif
