// A model file unpacked, but for its large weights: protobuf-c would copy them, and tensors are copies once more.
#ifndef QTUI_ENGINE_ONNX_PROTO_MODEL_FILE_H
#define QTUI_ENGINE_ONNX_PROTO_MODEL_FILE_H

#include "onnx.pb-c.h"
#include "qtui/base/file.h"

struct model_file {
	Onnx__ModelProto *proto;
	Onnx__TensorProto **lent; // initializers whose raw_data are bytes of the file; the list is the heap's
	size_t n_lent;
};
// `path` is for messages. The file's bytes have to stay until model_file_done, which an error does not need.
MUST_CHECK enum status model_file_unpack(
    struct model_file *out, const struct bytes *file, const char *path, struct error *err);
void model_file_done(struct model_file *m);

#endif
