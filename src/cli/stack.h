// Private to src/cli: a stack of samples in one array, which are computed one after the other.
#ifndef QTUI_CLI_STACK_H
#define QTUI_CLI_STACK_H

#include "qtui/engine/tensor.h"

// How many samples of the shape of an input are in an array, one behind the other: as a dimension in front, or in place of a
// batch of 1. 0: it is no stack.
int64_t stack_height(const struct shape *input, const struct shape *array);
// The k-th sample, of the shape of the input; its bytes are the stack's.
struct tensor stack_sample(const struct tensor *stack, const struct shape *input, int64_t k);
// Puts what was computed of sample k of n into *stack, which is made of the first one; the caller drops it. The samples stand in
// place of a first dimension of 1, else there is one more. STATUS_UNSUPPORTED: they have not all one shape.
MUST_CHECK enum status stack_put(struct tensor *stack, const struct tensor *one, int64_t k, int64_t n, const char *name, struct error *err);

#endif
