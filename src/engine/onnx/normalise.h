// From an imported draft to a normalised one: shapes, constants, branches, then the passes.
#ifndef QTUI_ENGINE_ONNX_NORMALISE_H
#define QTUI_ENGINE_ONNX_NORMALISE_H

#include "draft.h"

// Marks the outputs of `g`.
MUST_CHECK enum status normalise_outputs(
    struct draft *d, const Onnx__GraphProto *g, struct scope *scope, struct error *err);
MUST_CHECK enum status normalise_draft(struct draft *d, struct error *err);

#endif
