// Attributes of a NodeProto into the struct that the operator's row describes.
#ifndef QTUI_ENGINE_ONNX_PROTO_ATTR_H
#define QTUI_ENGINE_ONNX_PROTO_ATTR_H

#include "../draft.h"

// Sets n->n.attrs (defaults where an attribute is absent). Graphs inside are not read here.
MUST_CHECK enum status attr_parse(
    struct draft *d, struct draft_node *n, const Onnx__NodeProto *proto, struct error *err);

// The operator's attribute of that name; NULL: it has none.
const struct attr_spec *attr_spec_of(const struct op *op, const char *name);
// The attributes' struct with every default.
void *attr_defaults(struct draft *d, const struct op *op);
// The value of a float or integer attribute that the operator's row has.
float attr_number(const struct node *n, const char *name);

#endif
