// Private to src/engine/onnx/rewrite: what is known of the sequences of a graph while its nodes are taken one by one.
#ifndef QTUI_ENGINE_ONNX_REWRITE_RESOLVER_H
#define QTUI_ENGINE_ONNX_REWRITE_RESOLVER_H

#include "../proto/proto_constants.h"
#include "qtui/base/hash.h"
#include "pieces.h"

enum {
	ELEMENTS_MAX = 4096,
	COPIED_MAX = 1 << 22, // elements of a sequence that others begin as copies of, in all
	REPEATED_MAX = 1 << 24, // bytes of nodes that are repeated for each iteration or element, in all
};

struct resolver {
	struct resolver *outer;    // that of the graph around; NULL: this is the model's
	const Onnx__GraphProto *g; // as it was
	struct sequence *list;
	size_t n, cap;
	size_t copied, repeated; // of the bounds above; those of the model's count
	struct namemap *names;   // sequence by the name of its tensor
	struct proto_list nodes; // that stand for those taken so far
	struct namemap *constants; // those among the first `indexed` of them that are Constants, by the name that they give
	size_t indexed;
};

struct resolver resolver_of(const Onnx__GraphProto *g, struct resolver *outer);
void resolver_done(struct resolver *r); // but for the nodes
void resolver_take(struct resolver *r, Onnx__NodeProto *p); // takes over p: it, or what stands for it, joins the nodes

bool resolver_int(int64_t *v, struct resolver *r, const char *name); // of a constant of one element, here or outside
// NULL: that name is no sequence. Valid until the next call of the resolver.
struct sequence *resolver_sequence(struct resolver *r, const char *name);
// Likewise, with its elements by name; NULL, too, where they are pieces and p, which reads it, cannot know how many.
const struct sequence *resolver_elements(struct resolver *r, const Onnx__NodeProto *p, const char *name);
struct sequence *resolver_new(struct resolver *r, const char *name);
void resolver_append(struct resolver *r, const char *name, const char *element);

const char *resolver_read_by(struct resolver *r, const Onnx__NodeProto *p); // a sequence that it, or a graph inside it, reads, or NULL

// Rules for nodes that have graphs inside. False: p stays.
bool resolve_loop(struct resolver *r, const Onnx__NodeProto *p);         // of a known number of iterations
bool resolve_sequence_map(struct resolver *r, const Onnx__NodeProto *p);
// For a node that stays: what the graphs inside it do with sequences, in place.
void resolve_inside(struct resolver *r, Onnx__NodeProto *p);

#endif
