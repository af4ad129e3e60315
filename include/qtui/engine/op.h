// The op table: one row per operator and since-version (src/engine/ops/ops.def). Rows give the parser its attributes,
// the graph its shapes, the executor its plain evaluation; whatever a target does to an operator is data in
// targets/*.json.
#ifndef QTUI_ENGINE_OP_H
#define QTUI_ENGINE_OP_H

#include <stddef.h>
#include "qtui/base/error.h"
#include "qtui/engine/graph.h"
#include "qtui/engine/tensor.h"

enum attr_kind { ATTR_INT, ATTR_FLOAT, ATTR_INTS, ATTR_FLOATS, ATTR_TEXT, ATTR_TENSOR };
struct ints {
	int64_t *at;
	int n; // -1: absent
};
struct floats {
	float *at;
	int n; // -1: absent
};
// Fields in the parsed struct: int64_t, float, struct ints, struct floats, const char *, const struct tensor * (NULL:
// absent). ATTR_TEXT takes a list of strings too, joined by blanks (LSTM's activations). A spec named "" is a default
// that no attribute of that version can change.
struct attr_spec {
	const char *name;
	enum attr_kind kind;
	size_t offset;
	double dflt;            // for ATTR_INT and ATTR_FLOAT
	const char *dflt_text;  // for ATTR_TEXT
};

// Shape rule: sets type and shape of out[0..n_out-1] from types and shapes of `in` (NULL: absent). in[i]->data is
// NULL where the value is not known yet; a rule that needs it then returns STATUS_UNSUPPORTED with err->text empty,
// which means "known when it runs", and is called again with data. The same rule serves loading and running. Layout
// is plain. Where shapes can only be found by computing the results, the rule leaves the results themselves in `out`,
// data included, and nothing is evaluated afterwards.
typedef enum status op_shape_fn(const struct node *n, const struct tensor *const *in, struct tensor *out, struct error *err);
// Plain evaluation: inputs have data in plain layout, outputs are allocated as the shape rule said. `width` OpenMP
// threads. This is the reference: clear first, but not needlessly slow, since it also serves all operators without a
// faster kernel.
typedef enum status op_eval_fn(const struct node *n, const struct tensor *const *in, struct tensor *out, int width,
    struct error *err);

// What the executor may know of an operator besides (flags).
enum {
	OPF_UNARY = 1 << 0,       // y = f(x) per element on floats: serves as a 256-entry table on int8 codes
	OPF_BINARY = 1 << 1,      // element by element with broadcasting (Add, Mul ...)
	OPF_MOVES = 1 << 2,       // only moves or selects elements of input 0 (Reshape, Transpose, Slice, Gather, Concat, MaxPool
	                          // ...): works on codes as well as on floats
	OPF_VIEW = 1 << 3,        // output is input 0 with another shape (Reshape, Squeeze, Flatten ...): no copy in plain layout
	OPF_WEIGHTED = 1 << 4,    // Conv, ConvTranspose, Gemm, MatMul: a multiply-accumulate operator
	OPF_DATA_DEPENDENT = 1 << 5, // shapes depend on values (NonZero, NonMaxSuppression)
	OPF_ONCE = 1 << 6,        // looks at each element of its inputs and outputs once, without being any of the first four
	OPF_FILLS = 1 << 7,       // of OPF_MOVES: writes numbers of its own beside them (Pad, Trilu), which codes need not have
};

enum op_id {
#define OP(name) OP_##name,
#include "qtui/engine/op_names.def"
#undef OP
	OP_COUNT
};

struct op {
	enum op_id id;
	const char *name, *domain; // domain "" is ai.onnx
	int since;
	int in_min, in_max, out_min, out_max; // in_max/out_max -1: any number
	const struct attr_spec *attrs;
	int n_attrs;
	size_t attrs_size;
	op_shape_fn *shape; // checks number and types of the inputs against the row, then calls `rule`, then checks its result
	op_eval_fn *eval;
	unsigned flags;
	const char *types;  // of the inputs: see ops.def
	op_shape_fn *rule;  // the operator's own part of `shape`
};
// What follows the shape rule: allocates and evaluates, unless the rule has left the results. On success the caller
// owns the tensors of out[n_out]; on failure they are dropped.
MUST_CHECK enum status op_finish(
    const struct node *n, const struct tensor *const *in, struct tensor *out, int width, struct error *err);
// The row with the highest since <= opset (of that domain); NULL when the operator is not in the table.
const struct op *op_find(const char *domain, const char *name, int opset);
// All rows, for listings and tests.
const struct op *op_rows(int *n);
int op_newest(void); // the newest opset of ai.onnx that the table knows: the largest `since` of its rows

// The evaluation whose results are ONNX Runtime's to the bit, for files that are quantized already: the last bit of a
// float decides there which code it becomes. NULL: the operator has none of its own. On constants and shapes it
// behaves like op->eval.
op_eval_fn *op_eval_ordered(enum op_id id);

// The weights of a MatMulNBits or MatMulBnb4 as a MatMul has them, [K, N], from its constant inputs 1 to 4;
// allocated, the caller drops them.
MUST_CHECK enum status matmulnbits_weights(struct tensor *w, const struct node *n, const struct tensor *const *in, struct error *err);

// Multiply-accumulates of an Einsum by the inputs' shapes, of which all are known: those of each pair that it takes together.
// 0: it sums none, or the equation does not fit the shapes.
int64_t einsum_macs(const struct node *n, const struct tensor *const *in);

// Loop and Scan: what their body is inferred with. loop_formals writes the type and shape of each of the node's own
// inputs as the body sees it, formal[n_in - n_captured], assuming that the body returns what it carries from one
// iteration to the next with the type and shape that it got; rank -1 where nothing is known. loop_settle checks that
// assumption against the body, inferred with these: what it returns otherwise becomes unknown in `formal`. It returns
// true when nothing had to change.
void loop_formals(struct tensor *formal, const struct node *n, const struct tensor *const *in);
bool loop_settle(struct tensor *formal, const struct node *n, const struct graph *body);

// y = f(x) of the OPF_UNARY node n on `count` floats (x and y may be the same array). Vectorised; the same bits whatever count or
// alignment.
void op_unary(const struct node *n, const struct tensor *const *in, const float *x, float *y, int64_t count);

// Attribute structs that other parts of the engine read.
struct act_attrs { // Clip before 11 (low, high), LeakyRelu, HardSigmoid, Elu, Selu, Celu, Swish, ThresholdedRelu, Shrink ...
	float alpha, beta, gamma, low, high;
};
struct conv_attrs { // Conv, ConvTranspose, ConvInteger
	const char *auto_pad;
	struct ints dilations, kernel_shape, pads, strides, output_padding, output_shape;
	int64_t group;
};
struct pool_attrs { // MaxPool, AveragePool, LpPool
	const char *auto_pad;
	struct ints dilations, kernel_shape, pads, strides;
	int64_t ceil_mode, count_include_pad, storage_order, p;
};
struct norm_attrs { // BatchNormalization, GroupNormalization, InstanceNormalization, LayerNormalization,
	            // LpNormalization, LRN, MVN
	float epsilon, momentum, alpha, beta, bias;
	int64_t axis, num_groups, p, size, spatial, training;
	struct ints axes;
};
struct pad_attrs { // pads and value: before 11; paddings: before 2
	const char *mode;
	struct ints pads, paddings;
	float value;
	const void *element; // what is added, of the type of input 0; NULL: input 2 or value. No attribute: the engine sets it
};
struct transpose_attrs {
	struct ints perm;
};
struct gemm_attrs { // Gemm, QGemm; FusedGemm's begin with them
	float alpha, beta;
	int64_t trans_a, trans_b;
};
struct fusedmatmul_attrs { // FusedMatMul, TransposeMatMul
	float alpha;
	int64_t trans_a, trans_b, trans_batch_a, trans_batch_b;
};
struct axis_attrs { // Concat, Softmax, Gather, Split, Flatten ...
	int64_t axis;
	struct ints split; // Split before 13
	int64_t num_outputs;
};
// The geometry of a convolution or pooling over rank-4 (rank-3: height 1) input, pads resolved (auto_pad, ceil_mode).
struct conv_geometry {
	int64_t n, c, h, w, oc, kh, kw, oh, ow, stride_h, stride_w, dil_h, dil_w, pad_t, pad_l, pad_b, pad_r, group;
};
// False for more than two spatial dimensions.
bool conv_geometry(struct conv_geometry *out, const struct node *n, const struct shape *x, const struct shape *w);
// The dimension that convolutions over three have beside those of conv_geometry: `in` slices of input, `out` of output.
struct conv_depth {
	int64_t n, c, in, out, taps, stride, dil, pad;
};
// A Conv of rank 5 slice by slice: g is the convolution that gives one slice of one image from the planes that its
// taps see, which are its channels (tap t of channel c is channel c * taps + t), so that its weights are those of the
// node as they lie. False for all others.
bool conv_geometry_deep(struct conv_geometry *g, struct conv_depth *d, const struct node *n, const struct shape *x, const struct shape *w);
// A pooling of rank 5 that may be done one after the other: of every slice (n images of c channels times slices),
// then of columns along the depth (the rows of images whose rows are the slices). False for all others.
bool pool_geometry_deep(struct conv_geometry *slices, struct conv_geometry *columns, const struct node *n, const struct shape *x);

#endif
