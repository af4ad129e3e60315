// The grid of a QuantizeLinear that the model's file has itself, and its constants that are codes.
#ifndef QTUI_ENGINE_FILE_GRID_H
#define QTUI_ENGINE_FILE_GRID_H

#include "qtui/engine/graph.h"
#include "qtui/engine/quantizer.h"

// Floats of 8 or 4 bits end as a grid does, and what is left of small values they lose about where 16 bits do:
// such a grid stands for them, with `finer` steps to one of the file's scale.
struct file_grid {
	double scale, zero, finer;
	double rounding; // noise over signal of what has the steps of floats; 0 for integers
	int64_t qmin, qmax;
};
// False: not one scale for the whole tensor, or none that is known before it runs.
bool file_grid_read(struct file_grid *out, const struct graph *g, const struct node *quantize_linear);

// The constant that a DequantizeLinear makes of codes, or of what a QuantizeLinear makes of floats: a weight, a bias.
struct file_codes {
	struct tensor codes;
	struct tensor scale, zero; // float32 and int32, one of each or one for each index along q.axis
	struct quantizer q;        // of all codes of their type; its arrays are those of `scale` and `zero`
};
// Of a model that was loaded with onnx_options.codes. STATUS_UNSUPPORTED: its input is computed, or its scales are of blocks, or its
// codes are floats. The caller calls file_codes_done, whatever the status.
MUST_CHECK enum status file_codes_read(struct file_codes *out, const struct graph *g, const struct node *dequantize_linear, struct error *err);
MUST_CHECK enum status file_codes_floats(
    struct tensor *out, const struct file_codes *c, struct error *err); // what it makes; the caller drops it
void file_codes_done(struct file_codes *c);

#endif
