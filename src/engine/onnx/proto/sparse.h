// SparseTensorProto to a dense struct tensor: the engine has no sparse ones.
#ifndef QTUI_ENGINE_ONNX_PROTO_SPARSE_H
#define QTUI_ENGINE_ONNX_PROTO_SPARSE_H

#include "tensor_proto.h"

// As tensor_proto_read.
MUST_CHECK enum status sparse_read(
    struct tensor *out, const Onnx__SparseTensorProto *t, struct externals *externals, const char *what, struct error *err);

#endif
