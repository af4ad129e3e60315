// Private to src/engine/onnx/rewrite: the graph inside a node, put in the node's place.
#ifndef QTUI_ENGINE_ONNX_REWRITE_BODIES_H
#define QTUI_ENGINE_ONNX_REWRITE_BODIES_H

#include "../proto/proto_nodes.h"

// Adds the nodes of the body, its inputs being in[0..n_input). What it names itself begins with `part` of what p gives, its
// nodes with `part` of p's name. The names of its outputs, [n_output], which the caller frees with bodies_names_free.
char **bodies_put(struct proto_list *to, const Onnx__NodeProto *p, const Onnx__GraphProto *body, char *const *in, const char *part);
void bodies_names_free(char **name, size_t n);
const char *bodies_first_output(const Onnx__NodeProto *p); // that is not left out; "" where all are

#endif
