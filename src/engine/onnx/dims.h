// The inputs of the model: which they are, and what stands for their symbolic dimensions.
#ifndef QTUI_ENGINE_ONNX_DIMS_H
#define QTUI_ENGINE_ONNX_DIMS_H

#include "draft.h"
#include "lengths.h"

// One attempt at the dimensions that neither the file nor the caller fixes.
struct dims_try {
	int64_t image, other;        // height and width of images; any other
	struct lengths_try length;   // of sequences
	// Set by dims_inputs: whether the attempt could be another.
	bool used_image, used_other, used_length, used_past;
	uint64_t guessed;            // bit i: input i of the file (of the first 64) has a dimension from here
};
// The first attempt, and the next one after a failure (false: there is none).
struct dims_try dims_first(void);
bool dims_next(struct dims_try *t);
// Adds the inputs of `g` that are not initializers to the draft, with fixed shapes.
MUST_CHECK enum status dims_inputs(struct draft *d, const Onnx__GraphProto *g, struct scope *scope,
    const struct onnx_options *opt, struct dims_try *t, struct error *err);
// Tells the user (log) what was chosen.
void dims_report(const struct graph *g, const Onnx__GraphProto *proto, const struct dims_try *t);

#endif
