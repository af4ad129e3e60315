// A graph while it is being imported and normalised. Values are ids into a growing array; nodes are pointers in
// topological order and stay in the list when they are gone, so that at the end each still tells what became of it. The
// draft owns all, until draft_finish moves what is left into a struct graph.
#ifndef QTUI_ENGINE_ONNX_DRAFT_H
#define QTUI_ENGINE_ONNX_DRAFT_H

#include "onnx.pb-c.h"
#include "proto/external.h"
#include "qtui/engine/graph.h"
#include "qtui/engine/onnx.h"
#include "qtui/engine/op.h"

// Tensor names of one GraphProto. A branch or body sees the names of the graphs around it.
struct scope {
	struct scope *parent;
	struct namemap *names; // to draft value ids
};

struct draft_value {
	const char *name;
	enum dtype type;
	struct shape shape;          // rank -1: not known
	struct draft_node *producer; // NULL: input or initializer
	struct tensor *constant;     // holds one count; NULL: not constant
	const char *unread;          // of a constant that the engine has no type for: the type's name; else NULL
	bool is_input, is_output;
	int elements;                // TensorProto.DataType in the file, of inputs, outputs, constants and what a Cast gives; else 0
	const int64_t *fixed;        // as in struct value
	int same_as;             // the value that stands for this one, or -1
	int uses;                // after draft_count_uses: by nodes that are kept, and as output
	struct draft_node *user; // after draft_count_uses: one of the users
};

struct draft_node {
	struct node n; // in and out are draft value ids; op is NULL for Constant
	const char *op_type;
	bool unnamed;          // the file has no name for it
	const char **out_name; // as in the file
	int n_out_names;
	enum fate fate;               // FATE_KEPT: the node is live
	struct draft_node *into;      // for FATE_FUSED and FATE_REMOVED, or NULL
	const Onnx__NodeProto *proto; // If, Loop, Scan: to read their graphs when the shapes are known
	struct scope *scope;
	int n_explicit;        // inputs of the file; the rest are outer values that the graphs inside read ...
	const char **captured; // ... under these names
	int order;             // scratch of the sort
};

struct draft {
	struct arena *arena;
	const Onnx__ModelProto *model;
	struct externals *externals;
	const struct onnx_options *opt; // of the caller, or NULL
	struct draft_value *value;
	size_t n_values, cap_values;
	struct draft_node **node;
	size_t n_nodes, cap_nodes;
	int *input, *output; // value ids
	size_t n_inputs, cap_inputs, n_outputs, cap_outputs;
	struct scope **scopes; // all, to free them
	size_t n_scopes, cap_scopes;
	struct namemap *node_names, *value_names; // those in use
	struct {
		int64_t bytes, work, loop_work;   // what constant folding has made, and what it has spent; on loops apart
	} folded;
	int depth;                                // of a graph inside an If: 1
	bool shape_failed;                        // a shape rule did not hold: another input size may
	bool lenient;                             // such a rule leaves shapes unknown
};

struct draft *draft_new(const Onnx__ModelProto *model, struct externals *externals);
void draft_free(struct draft **d);

struct scope *draft_scope(struct draft *d, struct scope *parent);
int scope_find(const struct scope *s, const char *name); // -1 when absent

// A new value with this name, or with a name made from it when it is taken; type and shape not known.
int draft_value_add(struct draft *d, const char *name);
// Takes over the count of `t`.
void draft_set_constant(struct draft *d, int value, struct tensor *t);
// Appends a node of this name (or one made from it); fate FATE_KEPT.
struct draft_node *draft_node_add(struct draft *d, const char *name);
// Moves the nodes from `first` on to the position `at` <= first.
void draft_move_nodes(struct draft *d, size_t first, size_t at);
void draft_mark_output(struct draft *d, int value);
void draft_mark_input(struct draft *d, int value);

// The value that stands for `value` (-1 for -1).
int draft_resolve(const struct draft *d, int value);
void draft_count_uses(struct draft *d);
const struct tensor *draft_constant(
    const struct draft *d, const struct draft_node *n, int input); // NULL: not constant or absent
struct draft_value *draft_in(const struct draft *d, const struct draft_node *n, int input); // NULL: absent
struct draft_value *draft_out(const struct draft *d, const struct draft_node *n, int output);
// The node is gone: part of `into`, or passed on.
void draft_fuse(struct draft_node *n, struct draft_node *into);
void draft_remove(struct draft_node *n, struct draft_node *producer);

// finish.c: what is left, as a graph. The draft is empty afterwards.
struct graph *draft_finish(struct draft *d);

#endif
