// Graphs inside nodes: an If whose condition is known gives way to its branch; the graphs of others become subgraphs.
#ifndef QTUI_ENGINE_ONNX_BRANCH_H
#define QTUI_ENGINE_ONNX_BRANCH_H

#include "draft.h"

// Puts the nodes of the taken branch in the place of every If with a constant condition. *changed: there was one.
MUST_CHECK enum status branch_inline(struct draft *d, bool *changed, struct error *err);
// Builds the subgraphs of the nodes that still have graphs inside.
MUST_CHECK enum status branch_build(struct draft *d, struct error *err);

#endif
