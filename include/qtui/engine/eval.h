// The plain interpreter of graphs: it serves the graphs inside nodes and whatever must be computed without a plan or
// a store.
#ifndef QTUI_ENGINE_EVAL_H
#define QTUI_ENGINE_EVAL_H

#include <stdatomic.h>
#include "qtui/engine/graph.h"

// Computes the outputs (plain layout; the caller drops them) from the inputs, node by node through op->shape and
// op->eval: slow and simple, no plan, no store.
MUST_CHECK enum status graph_eval(const struct graph *g, const struct tensor *const *in, struct tensor *out, int width,
    struct error *err);
// Limits of graph_eval on the calling thread, which may otherwise not end soon: a Loop may run its body a million
// times.
struct eval_limits {
	const atomic_bool *cancel; // once it is set: STATUS_CANCELLED. NULL: nothing cancels
	// The work that may still be done, borrowed; NULL: any amount. Every node takes its eval_work and
	// EVAL_NODE_WORK from it; below 0: STATUS_UNSUPPORTED without a text.
	int64_t *work;
};
#define EVAL_NODE_WORK 1000
struct eval_limits eval_limit(struct eval_limits l); // sets them, and returns those that held before
// An upper bound of the multiplications or comparisons that a node takes, from the shapes of its inputs and outputs.
int64_t eval_work(const struct node *n, const struct tensor *const *in, const struct tensor *out);

#endif
