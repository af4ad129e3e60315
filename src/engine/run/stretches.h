// Private to src/engine/run: a pass of two rounds in stretches. A stretch is a run of steps that all
// samples go through twice before the next begins: what the first round computes is held in the store
// until the second has read it, and what a later stretch starts from until that one is through.
// What is cheap, or takes too much memory, is computed again.
#ifndef QTUI_ENGINE_RUN_STRETCHES_H
#define QTUI_ENGINE_RUN_STRETCHES_H

#include "run_impl.h"

struct stretches {
	int n;
	int *end;   // [n] stretch i is the steps end[i - 1]..end[i] - 1
	int *until; // [n_values] 1 + the stretch with which a held value is let go; 0: it is not held. NULL: nothing is
};
// What stretches are found for: a pass of two rounds, and the room that it has.
struct stretched {
	const bool *first; // [n_values] shown in the first round
	const bool *any;   // [n_values] shown in one round or both
	int samples;
	size_t most;       // bytes, about, that may be held at once
};
// One stretch where `most` is too little for anything that pays.
void stretches_find(struct stretches *out, const struct graph *g, const struct steps *steps, const struct stretched *of);
void stretches_whole(struct stretches *out, const struct steps *steps); // one stretch, and nothing held
void stretches_done(struct stretches *s);

#endif
