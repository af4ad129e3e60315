// The normalisation passes, one file each, and what they share.
#ifndef QTUI_ENGINE_ONNX_PASSES_PASS_H
#define QTUI_ENGINE_ONNX_PASSES_PASS_H

#include "../draft.h"

MUST_CHECK enum status pass_folded(struct draft *d, struct error *err);
MUST_CHECK enum status pass_identity(struct draft *d, struct error *err);
MUST_CHECK enum status pass_nbits(struct draft *d, struct error *err);
MUST_CHECK enum status pass_batchnorm(struct draft *d, struct error *err);
MUST_CHECK enum status pass_bias(struct draft *d, struct error *err);
MUST_CHECK enum status pass_pairs(struct draft *d, struct error *err);
MUST_CHECK enum status pass_unused(struct draft *d, struct error *err);

// Lets value `from` stand for value `to` everywhere. An output of the model keeps its name: `from` takes it over where
// it may be renamed; else (an input, a constant or another output) nothing is done and false returned.
bool pass_on(struct draft *d, int to, int from);
// A copy of constant `value` under a name made from `name`, for a pass to change; its data are unique.
MUST_CHECK enum status pass_copy_constant(
    int *out, struct draft *d, const char *name, const struct tensor *value, struct error *err);
// A new zeroed float constant of n elements.
MUST_CHECK enum status pass_new_vector(int *out, struct draft *d, const char *name, int64_t n, struct error *err);
// Sets input i (the arrays grow as needed).
void pass_set_input(struct draft *d, struct draft_node *n, int i, int value);
// Appends a node of an operator of ai.onnx with its defaults, which computes value `out`.
void pass_add_node(struct draft *d, const char *name, const char *op, int opset, const int *in, int n_in, int out);
// Another operator of ai.onnx in the node's place; its attributes, with their defaults.
void *pass_become(struct draft *d, struct node *n, const char *op, int opset);
// A new name "NODE_SUFFIX"; in the arena.
const char *pass_name(struct draft *d, const struct draft_node *n, const char *suffix);

#endif
