// Shapes and constants: one walk in topological order gives every value its type and shape, and computes what is
// constant.
#ifndef QTUI_ENGINE_ONNX_INFER_H
#define QTUI_ENGINE_ONNX_INFER_H

#include "draft.h"

// May run again after the draft has changed. Sets d->shape_failed when a shape rule or a folded node does not hold.
MUST_CHECK enum status infer_draft(struct draft *d, struct error *err);
// Whether constants of so many bytes may be made of those of the file,
// besides what was made already; if so, they count.
bool infer_takes(struct draft *d, int64_t bytes);

#endif
