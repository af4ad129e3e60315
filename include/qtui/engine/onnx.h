// ONNX in and out: reads a model file, builds and normalises its graph; writes a quantized one. Only src/engine/onnx
// knows protobuf-c.
#ifndef QTUI_ENGINE_ONNX_H
#define QTUI_ENGINE_ONNX_H

#include "qtui/base/file.h"
#include "qtui/base/str.h"
#include "qtui/engine/plan.h"

struct onnx_input_shape {
	const char *name; // input tensor; NULL or "": that at `place`
	int place;        // from 1; 0: the first image-like input, else the first
	struct shape shape; // may leave out the batch, the first dimension of the model's input, or be of a stack of samples
	const char *file;   // where the shape was found, for errors; may be NULL
};
struct onnx_options {
	const struct onnx_input_shape *shape; // shapes that the caller fixes (from calibration data); may be NULL
	int n_shapes;
	// Where the model leaves the batch (the first dimension) open: true takes it from the shape, so that several
	// samples run at once; false makes it 1, whatever the shape says.
	bool batched;
	// Operators on codes (QLinearConv and its like) become those on floats between pairs: what they make are then floats with
	// names, which lie a code apart from what the operator would give where a value is in the middle between two.
	bool pairs;
	// QuantizeLinear and DequantizeLinear of what is computed go: the network in floats, with the file's weights. A Relu (a Clip
	// at 6) stands where codes begin at zero (and end there) behind an operator that makes negative values, too.
	bool floats;
	// A DequantizeLinear of constants stays a node, whose codes and scales can be read; false computes its weight.
	bool codes;
	// What an input of one integer (inputs->input[input]) is in the data:
	// how many different values it has (0: not known, 2: two or more), and the first two of them.
	// Asked of inputs that decide the condition of an If: one with one value is fixed at that (struct value).
	// NULL: nothing is known. `inputs` has nothing but the model's inputs.
	int (*values)(int64_t value[2], const struct graph *inputs, int input, const void *arg);
	const void *arg;
};
// Reads, checks, fixes dynamic dimensions (batch 1 unless the caller's; height and width: the caller's, the model's
// metadata, else the first common size at which every shape rule holds; sequences likewise, of 128 tokens at first),
// folds constants, folds BatchNormalization and the Add of a bias into Conv/ConvTranspose/Gemm, removes Identity and
// Dropout, drops unused nodes. Float16, bfloat16 and double become float32. External data files are read. The caller
// owns *out. Errors name the node and the operator.
MUST_CHECK enum status onnx_load(struct graph **out, const char *path, const struct onnx_options *opt, struct error *err);

// Is an operator with this name in a file a QuantizeLinear? AMD Quark has names of its own.
bool onnx_quantizes(const char *op_type);

// A TensorProto file (.pb) as a tensor in plain layout; the caller drops it.
MUST_CHECK enum status onnx_read_tensor(struct tensor *out, char **name, const char *path, struct error *err);

// The normalised graph with the quantizers of a finished plan as an ONNX file, in QDQ form (docs/EXPORT.md); "-": standard
// output. Beside the plan's constants it takes memory for the codes of the largest only. `loss` gets a line for what the
// form cannot say.
MUST_CHECK enum status onnx_save_qdq(const char *path, const struct plan *p, struct str *loss, struct error *err);
// The same graph in float, with tuned weights and biases in place of its own: a tool that quantizes them on the same
// grids gets the tuned codes. The metadata ONNX_TUNED says which nodes are tuned and for which grids; weights for any
// grid (equalize.h) are not listed there.
#define ONNX_TUNED "qtui_tuned"
MUST_CHECK enum status onnx_save_tuned(const char *path, const struct graph *g, const struct tuning *t, struct error *err);
// Reads the tuned constants back from such a file. `g` is the graph that they were made for; the caller drops *out.
MUST_CHECK enum status onnx_read_tuned(struct tuning **out, const struct graph *g, const char *path, struct error *err);

#endif
