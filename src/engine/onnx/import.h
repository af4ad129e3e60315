// GraphProto into a draft: names to ids, operators and attributes looked up, nodes in topological order.
#ifndef QTUI_ENGINE_ONNX_IMPORT_H
#define QTUI_ENGINE_ONNX_IMPORT_H

#include "draft.h"

// Appends the constants and nodes of `g` to the draft; `scope` holds its inputs already and gets its other names.
MUST_CHECK enum status import_graph(struct draft *d, const Onnx__GraphProto *g, struct scope *scope, struct error *err);
// Defines `name` in `scope`; an error when the file defines it twice.
MUST_CHECK enum status import_name(int *id, struct draft *d, struct scope *scope, const char *name, struct error *err);

// Refuses what node `n` reads, value `id` under that `name`, where its elements have no type here.
MUST_CHECK enum status import_readable(const struct draft *d, const struct draft_node *n, int id, const char *name, struct error *err);

// order.c: sorts the nodes from `first` on topologically, file order where it may; an error names a node of a cycle.
MUST_CHECK enum status order_nodes(struct draft *d, size_t first, struct error *err);
// capture.c: appends to n->n.in the outer values that the graphs inside node `n` read.
MUST_CHECK enum status capture_outer(struct draft *d, struct draft_node *n, struct error *err);

#endif
