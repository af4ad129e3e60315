// Private to src/engine/onnx: nodes made in the place of others before the file has become a graph.
// They are protobuf-c's: freed with the model, or by onnx__node_proto__free_unpacked.
#ifndef QTUI_ENGINE_ONNX_PROTO_PROTO_NODES_H
#define QTUI_ENGINE_ONNX_PROTO_PROTO_NODES_H

#include <stdbool.h>
#include "onnx.pb-c.h"

struct proto_list { // nodes of a graph that is made anew
	Onnx__NodeProto **at;
	size_t n, cap;
};
void proto_push(struct proto_list *l, Onnx__NodeProto *p);
// The graph's nodes are those of the list from now on.
void proto_replace(Onnx__GraphProto *g, struct proto_list *l);

// The caller fills in input[] and output[], NULL so far, with what free() takes.
Onnx__NodeProto *proto_node(const char *op, const char *name, size_t n_in, size_t n_out);
const char *proto_node_name(const Onnx__NodeProto *p); // or the name of its output, where it has none
void proto_set_text(char **field, const char *text); // in the place of what it held
void proto_add_int(Onnx__NodeProto *p, const char *name, int64_t v);
void proto_add_ints(Onnx__NodeProto *p, const char *name, const int64_t *v, size_t n);
void proto_add_tensor(Onnx__NodeProto *p, const char *name, const Onnx__TensorProto *t); // a copy of it

// Nodes in the place of `from`, put at the end of the list.
Onnx__NodeProto *proto_add_node(struct proto_list *to, const Onnx__NodeProto *from, const char *op, size_t n_in, size_t n_out);
// Operator `op` on `from`, which gives `name` of what p gives (NULL: p's own output). The caller says the other inputs.
Onnx__NodeProto *proto_add_step(
    struct proto_list *to, const Onnx__NodeProto *p, const char *op, const char *from, size_t n_in, const char *name);
// The name, which the caller frees, of a list of constants; of a number, or a list of that number.
char *proto_add_constants(struct proto_list *to, const Onnx__NodeProto *from, const char *what, const int64_t *v, size_t n);
char *proto_add_constant(struct proto_list *to, const Onnx__NodeProto *from, const char *what, int64_t v, bool list);

#endif
