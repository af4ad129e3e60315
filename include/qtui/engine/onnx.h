// ONNX in and out: reads a model file, builds and normalises its graph; writes a quantized one. Only src/engine/onnx knows
// protobuf-c.
#ifndef QTUI_ENGINE_ONNX_H
#define QTUI_ENGINE_ONNX_H

#include "qtui/base/file.h"
#include "qtui/base/str.h"
#include "qtui/engine/plan.h"

struct onnx_input_shape {
	const char *name; // input tensor; NULL or "": the first image-like input, else the first
	struct shape shape; // may be without its first dimension where the file leaves that open
	const char *file;   // that it is of, for errors; may be NULL
};
struct onnx_options {
	const struct onnx_input_shape *shape; // shapes that the caller fixes (from calibration data, --shape); may be NULL
	int n_shapes;
	// A first dimension that the file leaves open is that of the shape: samples to run at once. Else it is 1, whatever stands there.
	bool batched;
};
// Reads, checks, fixes dynamic dimensions (batch 1 unless the caller's; height and width: the caller's, the model's metadata, else the first
// common size at which every shape rule holds), folds constants, folds BatchNormalization and the Add of a bias into
// Conv/ConvTranspose/Gemm, removes Identity and Dropout, drops unused nodes. Float16, bfloat16 and double become float32.
// External data files are read. The caller owns *out. Errors name the node and the operator.
MUST_CHECK enum status onnx_load(struct graph **out, const char *path, const struct onnx_options *opt, struct error *err);

// A TensorProto file (.pb) as a tensor in plain layout; the caller drops it.
MUST_CHECK enum status onnx_read_tensor(struct tensor *out, char **name, const char *path, struct error *err);

// The normalised graph with the quantizers of a finished plan as an ONNX file, in QDQ form (docs/EXPORT.md). The caller calls
// bytes_done. `loss` gets a line for what the form cannot say.
MUST_CHECK enum status onnx_write_qdq(struct bytes *out, const struct plan *p, struct str *loss, struct error *err);
// The same graph in float, with tuned weights and biases in place of its own: what quantizes it on the same grids gets the tuned codes.
// Metadata ONNX_TUNED says which nodes are tuned, for which grids; those with a zero grid (equalize.h) are for any and not among them.
#define ONNX_TUNED "qtui_tuned"
MUST_CHECK enum status onnx_save_tuned(const char *path, const struct graph *g, const struct tuning *t, struct error *err);
// Tuned constants back from such a file, for the graph that they were made for.
MUST_CHECK enum status onnx_read_tuned(struct tuning **out, const struct graph *g, const char *path, struct error *err);

#endif
