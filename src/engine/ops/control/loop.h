// What the two halves of Loop and Scan share: what is known before they run (loop_known.c), and running (loop.c).
#ifndef QTUI_ENGINE_OPS_CONTROL_LOOP_H
#define QTUI_ENGINE_OPS_CONTROL_LOOP_H

#include "../ops.h"

// A loop without an end is an error, not a program that hangs.
#define LOOP_TRIPS_MAX ((int64_t)1 << 20)

// The first input of the node, and of its body, that is carried from iteration to iteration;
// the body's output that becomes it.
static inline int loop_first_state(const struct node *n)
{
	return n->op->id == OP_Loop ? 2 : 0;
}

static inline int loop_first_part(const struct node *n)
{
	return n->op->id == OP_Loop ? 1 : 0;
}

// How many inputs a Scan takes apart, the last of its own; any number where the attribute is not in order.
static inline int loop_scanned(const struct node *n)
{
	const struct scan_attrs *a = n->attrs;
	int own = n->n_in - n->n_captured;
	return n->op->id != OP_Scan ? 0 : a->num_scan_inputs >= 1 && a->num_scan_inputs <= own ? (int)a->num_scan_inputs : own;
}

static inline int64_t loop_listed(const struct ints *list, int i)
{
	return i < list->n ? list->at[i] : 0;
}

// How often it runs whatever the values are; -1: only they tell. `in` has the inputs' shapes, and values where they are
// known.
int64_t loop_trips(const struct node *n, const struct tensor *const *in);
bool loop_is_true(const struct tensor *condition);
// The shape rule where not all values are at hand: outputs of which nothing is known have rank -1.
MUST_CHECK enum status loop_known(const struct node *n, const struct tensor *const *in, struct tensor *out, struct error *err);

#endif
