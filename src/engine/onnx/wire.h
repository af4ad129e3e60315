// What protobuf-c does not check: nesting (it recurses without a limit) and how much memory a small file would become.
#ifndef QTUI_ENGINE_ONNX_WIRE_H
#define QTUI_ENGINE_ONNX_WIRE_H

#include <protobuf-c/protobuf-c.h>
#include "qtui/base/error.h"

// Walks the encoded message `data` of type `type`; `name` is the file, for the message.
MUST_CHECK enum status wire_check(
    const ProtobufCMessageDescriptor *type, const void *data, size_t size, const char *name, struct error *err);

#endif
