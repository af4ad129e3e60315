// What each node with multiply-accumulates, quantized alone, does to the network's outputs: PPQ's layerwise analysis.
// (The figures called layerwise elsewhere are measured at the node itself.) The whole network behind a node runs for
// every node, so this is done on demand only.
#ifndef QTUI_ANALYSIS_ISOLATE_H
#define QTUI_ANALYSIS_ISOLATE_H

#include "qtui/analysis/study.h"

// One row for each node of the graph. With several outputs the figures are means over all float outputs, whatever their
// sizes, and the decibels are those of the mean ratio. `known` 0: the node has no multiply-accumulates or quantizes
// nothing.
struct isolation {
	uint64_t generation;  // of the decisions that it was made under
	int n;
	struct figures *node; // [n]
};
// Nodes that isolate_nodes will run.
int isolate_count(const struct snapshot *s);
// Blocks; the study must be idle and `s` its newest snapshot, of a run that has ended. Figures known from before are
// not computed again. The study keeps the result. `done` counts nodes. STATUS_CANCELLED when it was cancelled.
MUST_CHECK enum status isolate_nodes(struct study *st, const struct snapshot *s, const atomic_bool *cancel, atomic_int *done,
    struct error *err);
void isolation_free(struct isolation **i);
// What was made under the decisions that the snapshot shows; NULL: nothing.
const struct isolation *study_isolation(const struct study *st, const struct snapshot *s);

#endif
