// What a node must not find to be 0: a divisor, what a Log reads, what is raised to a negative power.
#ifndef QTUI_ANALYSIS_MEASURE_DIVISORS_H
#define QTUI_ANALYSIS_MEASURE_DIVISORS_H

#include "qtui/engine/graph.h"

// The value that the node must not find to be 0; -1: none.
int divisor_of(const struct graph *g, int node);
// The value that this one has its zeros from: what it is the root, the magnitude, a power or a part of; -1: none.
int zeros_behind(const struct graph *g, int value);
// Marks in takes[n_nodes] the node and what computes its divisor, from the last weights, mean or Sigmoid on. Movers
// end that, but for those between the divisor and `lost`, which it has its zeros from, and those of the terms of a sum.
void divisor_mark(bool *takes, const struct graph *g, int node, int lost);

#endif
