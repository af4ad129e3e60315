// The grid of a QuantizeLinear that the model's file has itself.
#ifndef QTUI_ENGINE_FILE_GRID_H
#define QTUI_ENGINE_FILE_GRID_H

#include "qtui/engine/graph.h"

// Floats of 8 or 4 bits end as a grid does, and what is left of small values they lose about where 16 bits do:
// such a grid stands for them, with `finer` steps to one of the file's scale.
struct file_grid {
	double scale, zero, finer;
	double rounding; // noise over signal of what has the steps of floats; 0 for integers
	int64_t qmin, qmax;
};
// False: not one scale for the whole tensor, or none that is known before it runs.
bool file_grid_read(struct file_grid *out, const struct graph *g, const struct node *quantize_linear);

#endif
