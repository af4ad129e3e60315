// ONNX Runtime's operators on tensors whose channels come last, as its optimizer writes them.
#ifndef QTUI_ENGINE_ONNX_REWRITE_CHANNELS_LAST_H
#define QTUI_ENGINE_ONNX_REWRITE_CHANNELS_LAST_H

#include "onnx.pb-c.h"

// Each gives way to the operator on channels first between two Transposes.
void channels_last_resolve(Onnx__ModelProto *m);

#endif
