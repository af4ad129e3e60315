// Private to src/cli: the shapes that inputs get where the model leaves them open, of --shape and of what has others behind it.
#ifndef QTUI_CLI_SHAPES_H
#define QTUI_CLI_SHAPES_H

#include "qtui/cli/options.h"

// Takes the texts of --shape apart, into o->study.shape.
MUST_CHECK enum status shapes_read(struct options *o, struct error *err);
// Puts more shapes behind those that are there, which win; their texts are borrowed.
void shapes_add(struct options *o, const struct onnx_input_shape *more, int n);
// Once the graph is there: each of --shape means an input of it, and is the shape that it has (the shape of arrays wins).
MUST_CHECK enum status shapes_check(const struct options *o, const struct graph *g, struct error *err);
void shapes_free(struct options *o);

#endif
