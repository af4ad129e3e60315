// TensorProto to struct tensor: raw bytes, typed fields or external data; float16, bfloat16, double and floats of
// 8 and 4 bits become float32.
#ifndef QTUI_ENGINE_ONNX_PROTO_TENSOR_PROTO_H
#define QTUI_ENGINE_ONNX_PROTO_TENSOR_PROTO_H

#include "external.h"
#include "onnx.pb-c.h"
#include "qtui/engine/tensor.h"

// The engine's type for a TensorProto.DataType; DT_NONE when there is none (string, complex, integers of 2 bits).
enum dtype tensor_proto_type(int32_t onnx_type);
const char *tensor_proto_type_name(int32_t onnx_type); // of those that there is none for
// Allocates *out, which the caller drops. `what` names the tensor in messages. externals NULL: external data is
// refused.
MUST_CHECK enum status tensor_proto_read(
    struct tensor *out, const Onnx__TensorProto *t, struct externals *externals, const char *what, struct error *err);

#endif
