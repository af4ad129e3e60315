// Private to src/engine/run: Concat without a copy. Where the parts of a Concat's result lie one after
// another in memory, the step that computes a part writes it where it will lie.
#ifndef QTUI_ENGINE_RUN_PLACES_H
#define QTUI_ENGINE_RUN_PLACES_H

#include "run_impl.h"

// What the graph tells, once for all samples.
struct places {
	struct part {
		int concat; // index of a Concat, -1: none
		int input;  // which of its inputs the value is, or becomes as another shape on the same bytes
	} *of_value;        // [n_values]
	int *of_node;       // [n_nodes] index of a Concat, -1
	int *node;          // [n] the Concats
	int n;
};
void places_build(struct places *p, const struct graph *g);
void places_done(struct places *p);

// The result of one Concat while its parts are made, under one simulation.
struct whole {
	struct rep rep;     // its memory, type and layout, from the first part on
	uint64_t given;     // bit i: the room of input i was given to what should become it
};
// Where a step may write its output 0.
struct place {
	const struct graph *g;
	const struct node *concat;
	struct whole *whole;
	int input;
};
// Memory of the Concat's result for what has this type, layout and shape; false: it has to lie elsewhere.
bool place_take(const struct place *p, struct rep *out, enum dtype type, enum layout layout, const struct shape *shape);
// The Concat's result of these inputs, where all have its form; those that are not where they belong are copied there.
// False: it has to be made elsewhere.
bool whole_take(const struct place *p, struct rep *in, int n, struct rep *out, int width);

#endif
