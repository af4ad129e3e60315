// Private to src/engine/onnx: what a node says in its attributes and its constant inputs,
// before the file has become a graph.
#ifndef QTUI_ENGINE_ONNX_PROTO_PROTO_CONSTANTS_H
#define QTUI_ENGINE_ONNX_PROTO_PROTO_CONSTANTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "onnx.pb-c.h"

// Where constants are looked for: the initializers of the graph, and Constant nodes among these.
struct proto_constants {
	const Onnx__GraphProto *g;
	Onnx__NodeProto *const *node;
	size_t n_nodes;
};

const Onnx__AttributeProto *proto_attribute(const Onnx__NodeProto *p, const char *name); // NULL where the node has none
int64_t proto_int(const Onnx__NodeProto *p, const char *name, int64_t absent);
// The *n integers of a constant of int32, int64 or bool, which the caller frees;
// NULL when the name is of none. *rank: of its tensor.
int64_t *proto_constant_ints(size_t *n, int *rank, const struct proto_constants *c, const char *name);
bool proto_constant_int(int64_t *v, const struct proto_constants *c, const char *name); // false when it is not a single one

#endif
