// Private to src/engine/run: a pass of two rounds in stretches. A stretch is a run of steps that all samples go through twice before the
// next begins: what the first round computes is held in the store until the second has read it, and what a later stretch starts from
// until that one is through. What is cheap, or takes too much memory, is computed again.
#ifndef QTUI_ENGINE_RUN_STRETCHES_H
#define QTUI_ENGINE_RUN_STRETCHES_H

#include "run_impl.h"

struct stretches {
	int n;
	int *end;   // [n] stretch i is the steps end[i - 1]..end[i] - 1
	int *until; // [n_values] 1 + the stretch with which a held value is let go; 0: it is not held. NULL: nothing is
};
// Of a pass over so many samples that shows the values `first` in its first round and `any` in one or both, [n_values] each; what is held
// at once takes about `most` bytes at the most. Where that is too little for anything that pays: one stretch.
void stretches_find(struct stretches *out, const struct graph *g, const struct steps *steps, const bool *first, const bool *any, int samples,
    size_t most);
void stretches_whole(struct stretches *out, const struct steps *steps); // one stretch, and nothing held
void stretches_done(struct stretches *s);

#endif
