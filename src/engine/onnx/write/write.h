// A graph and its plan on the way to an ONNX file. The messages live in the writer's arena;
// tensors that are made for them are kept until the file is packed.
#ifndef QTUI_ENGINE_ONNX_WRITE_WRITE_H
#define QTUI_ENGINE_ONNX_WRITE_WRITE_H

#include "onnx.pb-c.h"
#include "qtui/base/file.h"
#include "qtui/base/hash.h"
#include "qtui/base/str.h"
#include "qtui/engine/plan.h"

struct late { // a constant whose elements are made when the file comes to them: all codes at once may be too much for the memory
	size_t initializer;            // its place among those of the file
	enum dtype type;               // DT_F32: what the quantizer makes of the values; else its codes
	const struct tensor *from;     // plain
	const struct quantizer *quant; // its codes of more than 16 bits are counted from its only zero point
};

struct writer {
	const struct plan *plan;     // NULL: the graph in float
	const struct tuning *tuning; // of a graph in float: what stands in for its constants; or NULL
	const struct graph *g;
	struct str *loss; // a line for everything that the file cannot say
	struct arena *arena;
	Onnx__GraphProto out;
	size_t cap_nodes, cap_constants;
	struct namemap *taken; // names of tensors and nodes in the file
	struct keymap *made;   // what quantizes a value alike is written once: its name, by value and quantizer
	const char **name;     // [g->n_values] of the value; another of the floats behind an input, or before an output, of halves or doubles
	const char **read;     // [g->n_values] the name under which nodes find a value
	const struct quantizer **grid; // [g->n_values] the pair behind which they find it; NULL: none
	struct tensor *own;
	size_t n_own, cap_own;
	struct late *late; // [n_late] by rising place
	size_t n_late, cap_late;
	int wide_biases, float_products;
	int opset; // that the file declares
};

// A name that no other tensor or node has: `base` followed by `suffix`, and by a number if need be.
const char *write_name(struct writer *w, const char *base, const char *suffix);
struct new_node {
	const char *domain, *op;
	const char *name; // NULL: one made from its first output
	const char *const *in, *const *out; // [n_in], [n_out] names of tensors; "": left out
	int n_in, n_out;
};
// Appends a node without attributes; all texts are copied.
Onnx__NodeProto *write_node(struct writer *w, const struct new_node *n);
// Appends a node of ai.onnx that reads one tensor and writes another.
Onnx__NodeProto *write_simple_node(struct writer *w, const char *op, const char *in, const char *out);
void write_int_attribute(struct writer *w, Onnx__NodeProto *n, const char *name, int64_t value);
void write_float_attribute(struct writer *w, Onnx__NodeProto *n, const char *name, float value);
void write_text_attribute(struct writer *w, Onnx__NodeProto *n, const char *name, const char *text);
void write_graph_attribute(struct writer *w, Onnx__NodeProto *n, const char *name, Onnx__GraphProto *value);
// Those that differ from their defaults, without graphs. What reads a Cast that rounds floats to 16 bits gets floats here:
// one back follows it.
void write_attributes(struct writer *w, Onnx__NodeProto *to, const struct node *n);
// Those and the graphs inside the node. `in`: the names of all its inputs,
// which end with those of what the graphs capture.
void write_all_attributes(struct writer *w, Onnx__NodeProto *to, const struct node *n, const char *const *in);
// Type and shape, where they are known.
Onnx__ValueInfoProto *write_info(struct writer *w, const char *name, const struct value *v);
// Appends an initializer that borrows the tensor's bytes (plain layout).
void write_constant(struct writer *w, const char *name, const struct tensor *t);
void write_constant_value(struct writer *w, const char *name, const struct value *v); // in the elements that the file had
// Appends an initializer of what the quantizer makes of the tensor (struct late); both are borrowed until the file is packed.
void write_late(struct writer *w, const char *name, const struct tensor *from, const struct quantizer *q, enum dtype type);
// A tensor of this type and shape, allocated, that lives until the file is packed.
MUST_CHECK enum status write_own(
    struct tensor **out, struct writer *w, enum dtype type, const struct shape *shape, struct error *err);
int32_t write_type(const struct value *v); // TensorProto.DataType

// write_parts.c Writes the file, all of whose initializers have raw data or are among late[n_late], without a copy of them.
// STATUS_UNSUPPORTED: a file cannot be so large.
MUST_CHECK enum status write_parts(
    const char *path, const Onnx__ModelProto *m, const struct late *late, size_t n_late, struct error *err);

// write_interface.c Inputs and outputs of the file have the elements of the model that it came from, though all floats
// are of 32 bits in between: names in w->name what stands between, and says which elements an input or an output has.
void interface_name_floats(struct writer *w);
int32_t interface_type(const struct writer *w, int value);
void interface_add_inputs(struct writer *w);  // before all nodes: Casts
void interface_add_outputs(struct writer *w); // behind them

// write_opset.c
int opset_of_file(const struct plan *p);
void opset_tell(const struct writer *w); // what the opset costs
// Where the file's opset is above the graph's: attributes that are left out, those that have another default there,
// and the inputs that they have become, behind the n_in that are there; in[] has room for OPSET_MOVED more.
enum { OPSET_MOVED = 3 };
const char *opset_operator(const struct writer *w, const struct node *n);
void opset_add_attributes(struct writer *w, Onnx__NodeProto *to, const struct node *n);
bool opset_leaves_out(const struct writer *w, const struct node *n, const char *attribute);
bool opset_has_default(const struct writer *w, const struct node *n);
MUST_CHECK enum status opset_add_inputs(const char **in, int *n_in, struct writer *w, const struct node *n, struct error *err);

// write_qdq.c
// What node `s->node` reads at the input slot `s`: the value itself, or what its quantizer makes of it.
MUST_CHECK enum status qdq_input(const char **name, struct writer *w, const struct slot *s, struct error *err);
// The name under which the node is to write the value of the output slot `s`.
const char *qdq_output(struct writer *w, const struct slot *s);
// After the node: the pair at its output, if there is one. From here on nodes read what the pair makes.
MUST_CHECK enum status qdq_after(struct writer *w, const struct slot *s, const char *written, struct error *err);

#endif
