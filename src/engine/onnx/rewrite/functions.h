// Functions that a model brings along: their calls give way to their nodes.
#ifndef QTUI_ENGINE_ONNX_REWRITE_FUNCTIONS_H
#define QTUI_ENGINE_ONNX_REWRITE_FUNCTIONS_H

#include "onnx.pb-c.h"
#include "qtui/base/error.h"

// Changes the graph of an unpacked model in place, and the graphs inside. Names in a function become "CALL/NAME".
MUST_CHECK enum status functions_inline(Onnx__ModelProto *m, struct error *err);

#endif
