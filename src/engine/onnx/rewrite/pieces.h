// Private to src/engine/onnx/rewrite: sequences that are pieces of a tensor, and the nodes that stand for what is done with
// them. How many pieces there are need not be known before the shapes are: nodes compute it.
#ifndef QTUI_ENGINE_ONNX_REWRITE_PIECES_H
#define QTUI_ENGINE_ONNX_REWRITE_PIECES_H

#include <stdbool.h>
#include "../proto/proto_nodes.h"

struct sequence {
	char **at; // names of the elements
	size_t n, cap;
	// Or pieces of a tensor, `piece` long along `axis`, 0: one each, without that axis. Nobody may know how many there
	// are; they have names from when somebody asks for these.
	char *whole;
	int64_t axis, piece;
};

// Each adds nodes to the list in the place of p; what it returns is freed by the caller.

// Piece *at (from the end when negative), which p's input 1 says; NULL: not before the model runs. False: it cannot.
bool pieces_take(struct proto_list *to, const Onnx__NodeProto *p, const struct sequence *s, const int64_t *at);
void pieces_count(struct proto_list *to, const Onnx__NodeProto *p, const struct sequence *s);
// False: not without knowing how many there are.
bool pieces_concat(struct proto_list *to, const Onnx__NodeProto *p, const struct sequence *s, int64_t axis, bool stack);
// What the file says of the size of the tensor that they are cut from; 0: nothing.
int64_t pieces_length(const Onnx__GraphProto *g, const struct sequence *s);
// Cuts all of so many elements; the pieces' names, [*n].
char **pieces_cut(struct proto_list *to, const Onnx__NodeProto *p, const struct sequence *s, int64_t length, size_t *n);

#endif
