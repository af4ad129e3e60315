// Private to src/engine/onnx: the names of tensors in a node, and in the graphs inside it.
#ifndef QTUI_ENGINE_ONNX_PROTO_PROTO_NAMES_H
#define QTUI_ENGINE_ONNX_PROTO_PROTO_NAMES_H

#include "onnx.pb-c.h"

// Is given each name, which may be NULL, and may put another, on the heap, in its place.
typedef void proto_renamer(char **name, void *arg);
void proto_rename(Onnx__NodeProto *p, proto_renamer *each, void *arg);

#endif
