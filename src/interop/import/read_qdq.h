// Private to src/interop/import: a model that another tool quantized, while it is read. read_qdq_names.c finds its parts in the
// model, read_qdq.c reads its pairs, read_qdq_floats.c finds what is in float, read_qdq_weights.c its weights.
#ifndef QTUI_INTEROP_IMPORT_READ_QDQ_H
#define QTUI_INTEROP_IMPORT_READ_QDQ_H

#include "qtui/engine/op.h"
#include "wishes.h"

enum said { SAID_NOTHING, ON_FLOATS, ON_CODES };
struct reading {
	struct wishes *w;
	const struct graph *file;
	int *pair;              // [file->n_values] the first QuantizeLinear that reads it, or -1
	enum said *said;        // [g->n_nodes] how the file runs the operators that the node owns
	bool *there;            // [g->n_nodes] the file has one of them
	bool *pairs_within;     // [g->n_nodes] one of them has a pair behind it: it runs by itself where the others are in float
	double *ends;           // [g->n_nodes] bits of the pair behind it, 0: it has none
	bool *split;            // [g->n_nodes] they have pairs of different widths, and run by themselves
	bool *between;          // [g->n_nodes] an activation that ends an operator, with a pair before it and none or one of that width behind it
	// Pairs: at tensors of the model, at others, within operators that run as one here, of tensors that a pair has rounded already.
	int found, lost, inner, again;
	int zeros;  // pairs with a zero that is not the middle code
	int biases; // of nodes that have none in the model
};

static inline bool qdq_is(const struct graph *g, int node, enum op_id op)
{
	return node >= 0 && g->node[node].op->id == op;
}

// ---- read_qdq_names.c
// The tensor of the model that a tensor of the file is; -1: none.
int qdq_value(const struct graph *g, const struct graph *file, int value);
// The file's node that the model's is; -1: none.
int qdq_node(const struct reading *r, int node);
// Was the node left out of the file? A Relu goes where the codes end at its zero.
bool qdq_is_gone(const struct reading *r, int node);
// Behind a DequantizeLinear; or as codes, on which some operators work that only move them.
bool qdq_comes_quantized(const struct graph *file, int value);
bool qdq_has_weights(const struct node *n);

// ---- read_qdq_floats.c
// What the file's node n, which the model's is, says of it, whether its output has a pair or not. Those in front of it are said.
enum said qdq_said_by_node(const struct reading *r, int node, const struct node *n);

// ---- read_qdq_weights.c
void qdq_read_weights(struct reading *r);
void qdq_note_constants(struct reading *r); // operands of an Add, a Mul ...: no edit gives them a scale

#endif
