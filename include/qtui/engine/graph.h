// The graph: arrays of nodes and values joined by integer ids, nodes in topological order, immutable once normalised.
// One arena owns nodes, names, attributes and constants; graph_free frees all. The map of origins keeps what became of
// every node and tensor of the file: the user always speaks in the file's names.
#ifndef QTUI_ENGINE_GRAPH_H
#define QTUI_ENGINE_GRAPH_H

#include <stdbool.h>
#include "qtui/base/error.h"
#include "qtui/base/hash.h"
#include "qtui/engine/tensor.h"

struct op;

struct value {
	const char *name;      // the ONNX tensor name; unique
	enum dtype type;       // DT_NONE: not known before it runs
	struct shape shape;    // rank -1: not known before it runs (data-dependent)
	int producer;          // node id; -1 for inputs and constants
	int *consumer;         // node ids in order, one entry a use
	int n_consumers;
	const struct tensor *constant; // initializers and folded results; NULL for activations. Plain layout.
	struct key content;    // of a constant: key of type, shape and bytes
	bool is_input, is_output;
	int float_bytes;       // of an input or output that the file declares as float16 (2) or float64 (8), which are DT_F32 here; else 0
	const int64_t *fixed;  // of an input that chooses what is computed: its value in all samples, for which the graph is; else NULL
	int minifloat;         // of floats of 8 or 4 bits in the file, which are DT_F32 here: their TensorProto.DataType; else 0
};

struct node {
	const char *name;      // the ONNX name, or Op_INDEX (index in the file's order) for an unnamed node; unique
	const struct op *op;
	int *in, n_in;         // value ids; -1: optional input left out
	int *out, n_out;       // value ids; -1: output not wanted
	const void *attrs;     // the struct that op->attrs describes, filled with defaults
	int origin;            // index into graph.origin
	// If: then_branch, else_branch; Loop/Scan: body. NULL otherwise. What these graphs read from outside is
	// appended to `in`, and each has those values, in that order, as its last inputs: a node depends on its
	// inputs only.
	const struct graph *const *subgraph;
	int n_subgraphs;
	int n_captured;        // how many of `in` these are
	// If: the branch whose shapes contradict those of the inputs, so that its constants mean nothing. NULL: both
	// fit.
	const struct graph *unfit;
	// What a BatchNormalization that was folded into the node says of its output in training: means[n_trained],
	// then standard deviations[n_trained], one a channel. NULL: there was none.
	const float *trained;
	int64_t n_trained;
};

enum fate {
	FATE_KEPT,     // is node `node`
	FATE_FUSED,    // part of node `node` (BatchNormalization folded into a Conv, a bias Add ...)
	FATE_FOLDED,   // computed at load: its outputs are constants
	FATE_REMOVED,  // Identity, Dropout, or its results are not used; `node` is the producer that it passed on, or -1
};
struct origin {
	const char *name, *op_type; // as in the file
	bool unnamed;               // the file has no name for it: it is called Op_INDEX here
	const char **out;           // names of its output tensors as in the file
	int n_out;
	enum fate fate;
	int node;                   // a node id, or -1
	int serves;                 // FATE_FOLDED: the first node that reads what it computed, or -1
};

struct metadata {
	const char *key, *text;
};

struct graph {
	struct arena *arena;
	struct value *value;
	int n_values;
	struct node *node;
	int n_nodes;
	int *input, n_inputs;       // value ids of the true inputs (initializers left out)
	int *output, n_outputs;
	struct origin *origin;
	int n_origins;
	struct metadata *metadata;  // of the model: Ultralytics writes task, imgsz, names ...
	int n_metadata;
	int opset;                  // of the ai.onnx domain
	const char *path;
	char sha256[65];            // of the file
	struct key key;             // of the whole normalised graph, weights included
	struct namemap *node_by_name, *value_by_name, *origin_by_name; // file names of nodes -> origin index
};

void graph_free(struct graph **g);
// The node with this (file's or normalised) name, following the map of origins; -1 when there is none.
int graph_find_node(const struct graph *g, const char *name);
int graph_find_value(const struct graph *g, const char *name); // -1 when there is none
// STATUS_NOTFOUND and why: no such name (and the nearest), or what became of a node of the file that is not in the
// graph.
enum status graph_no_node(const struct graph *g, const char *name, struct error *err);
// The two halves of that, for lists: why a node that the file has is none here (a literal; NULL: the file has none of this name),
// and the name of a node which is near, or of which `name` is a part (then *part is set); NULL: there is none.
const char *graph_why_no_node(const struct graph *g, const char *name);
const char *graph_near_node(const struct graph *g, const char *name, bool *part);
// Puts "FILE: tensor NAME: " in front of the text of an error that is set already; without the tensor where `value`
// is -1, without the file where the graph has none (one in a node). Returns its status.
enum status graph_error(const struct graph *g, int value, struct error *err);
// Does the model hold nodes that quantize activations? Then it went through a quantizer before.
bool graph_is_quantized(const struct graph *g);
const char *graph_metadata(const struct graph *g, const char *key); // NULL when absent
// The tensor that is meant where a tensor is asked for and a node is named: the first output that anything reads; -1:
// there is none.
int graph_output(const struct graph *g, int node);
bool graph_is_further(const struct graph *g, int value); // an output of a node, but not the one that graph_output gives
// Where a scale is given to a tensor, it goes by the name of its node, or by its own: a further output, and an input of
// the network.
bool graph_goes_by_own_name(const struct graph *g, int value);
// The node at which a tensor is told of: who makes it; of an input of the network its first reader; -1: there is none.
int graph_node_of(const struct graph *g, int value);
// The name of a tensor for the user: that of its node, or its own, as above.
const char *graph_output_name(const struct graph *g, int value);
// All tensors that nodes make, in the order of nodes: value ids, heap.
int *graph_made(const struct graph *g, int *n);
// All tensors that a scale may be given to: those that nodes make, and then the inputs of the network. Value ids, heap.
int *graph_scalable(const struct graph *g, int *n);
// Multiply-accumulates of a node for the shapes of the graph: convolutions, products of matrices, RNN, GRU, LSTM and
// attention, with their fused and integer forms (ops/macs.c); 0 for others.
int64_t graph_macs(const struct graph *g, int node);
// The same, of a Loop or Scan those of its body as often as it runs: they are computed in float, whatever is decided.
// 0 where only values tell how often that is.
int64_t graph_macs_with_body(const struct graph *g, int node);
// STATUS_NOMEM, naming the node, where `times` copies of the outputs of one node would not fit the memory that the
// system could give now. Asked before a run, which would fill the memory before it failed.
MUST_CHECK enum status graph_fits(const struct graph *g, int times, struct error *err);
// The key of operator, attributes and subgraphs, for memos of results; without names, inputs and weights.
struct key graph_node_key(const struct node *n);
struct key graph_key(const struct graph *g);       // what g->key holds
struct key tensor_key(const struct tensor *t);     // of type, shape and bytes

#endif
