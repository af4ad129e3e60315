// The plain interpreter of graphs: it serves the graphs inside nodes and whatever must be computed without a plan or a store.
#ifndef QTUI_ENGINE_EVAL_H
#define QTUI_ENGINE_EVAL_H

#include <stdatomic.h>
#include "qtui/engine/graph.h"

// Computes the outputs (plain layout; the caller drops them) from the inputs, node by node through op->shape and op->eval:
// slow and simple, no plan, no store.
MUST_CHECK enum status graph_eval(const struct graph *g, const struct tensor *const *in, struct tensor *out, int width,
    struct error *err);
// What ends graph_eval on the calling thread before its nodes have; NULL: nothing does. A Loop may run its body a million times.
struct eval_limits {
	const atomic_bool *cancel; // STATUS_CANCELLED
	int64_t *work;             // what eval_work says of each node, and EVAL_NODE_WORK, is taken from it; below 0: STATUS_UNSUPPORTED without a text
};
#define EVAL_NODE_WORK 1000
struct eval_limits eval_limit(struct eval_limits l); // returns those that held before
// An upper bound of the multiplications or comparisons that a node takes, from the shapes of its inputs and outputs.
int64_t eval_work(const struct node *n, const struct tensor *const *in, const struct tensor *out);

#endif
