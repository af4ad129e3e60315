// Sequences of tensors whose length is known: what makes them and takes them apart gives
// way to nodes on their elements.
#ifndef QTUI_ENGINE_ONNX_REWRITE_SEQUENCES_H
#define QTUI_ENGINE_ONNX_REWRITE_SEQUENCES_H

#include <stdbool.h>
#include "onnx.pb-c.h"
#include "qtui/base/error.h"

// Changes the graph of an unpacked model in place. An operator on sequences that it cannot resolve stays as it is, and is
// refused by name later; STATUS_UNSUPPORTED: another node reads a sequence; STATUS_FORMAT: two nodes give one.
MUST_CHECK enum status sequences_resolve(Onnx__ModelProto *m, struct error *err);
// Does it resolve the operator where the file says how many elements there are?
bool sequences_name(const char *op, int opset);

#endif
