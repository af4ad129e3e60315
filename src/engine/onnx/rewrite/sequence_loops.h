// Private to src/engine/onnx: lists that loops append to.
#ifndef QTUI_ENGINE_ONNX_REWRITE_SEQUENCE_LOOPS_H
#define QTUI_ENGINE_ONNX_REWRITE_SEQUENCE_LOOPS_H

#include "onnx.pb-c.h"

// A sequence that a Loop begins empty and appends to once in each iteration (torch: a list in a for loop)
// is what a SplitToSequence takes apart of an output that the Loop collects.
// Changes the Loops of the graph in place; others are left alone.
void sequence_loops(Onnx__GraphProto *g);

#endif
