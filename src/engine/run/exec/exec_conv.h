// What the executors of convolutions share (private to exec_conv*.c).
#ifndef QTUI_ENGINE_RUN_EXEC_EXEC_CONV_H
#define QTUI_ENGINE_RUN_EXEC_EXEC_CONV_H

#include "exec.h"

// As the kernel reads and writes activations: in blocks where the backend has them and the channels fill them.
enum layout exec_conv_input_layout(const struct exec *x, const struct conv_geometry *g);
enum layout exec_conv_output_layout(const struct exec *x, const struct conv_geometry *g);
// The weights, where they and the bias are constants that kernels are made from; else NULL.
const struct tensor *exec_conv_weights(const struct exec *x);
// The step's kernel for this geometry, of codes if `integer`: made, or from an earlier run.
MUST_CHECK enum status exec_conv_kernel(struct exec *x, const struct conv_geometry *g, bool integer, struct prepared *p);
// The geometry of the step's run with such weights, and the shape of what it gives;
// false where that is not known or a kernel cannot have it.
bool exec_conv_geometry(struct exec *x, const struct shape *w, struct conv_geometry *g, struct shape *shape);

#endif
