// Private to src/engine/run: what the families of exec_*.c share.
#ifndef QTUI_ENGINE_RUN_EXEC_EXEC_H
#define QTUI_ENGINE_RUN_EXEC_EXEC_H

#include "../../ops/attrs.h"
#include "../../ops/recurrent/rnn.h"
#include "../run_impl.h"

// Is input i a tensor of floats, or of codes that stand for floats? (What the graph knows of its type may be less.)
bool exec_float_input(const struct exec *x, int i);
// Makes *y output i of the step, through the step's gain and shift (struct step, `scaled`)
// and the output's quantizer. Takes over y's count.
MUST_CHECK enum status exec_finish(struct exec *x, int i, struct rep *y);
// The attributes of a recurrent node (RNN, GRU, LSTM) where the target rounds within its
// time steps, and what they point to.
struct rounded_steps {
	struct rnn_attrs attrs;
	struct rnn_rounding rounding;
	float scale;
	int32_t zero;
};
// Fills *own and returns true where it does; false: the node's own attributes hold.
bool exec_rounds_steps(const struct exec *x, struct rounded_steps *own);
// Input i on the grid of the step's outputs: codes of their quantizer; as it is where they have several, or none.
MUST_CHECK enum status exec_on_output_grid(struct exec *x, int i, struct rep *out);
// *y has elements of `from` in another order: codes keep their quantizer.
void exec_inherit(struct rep *y, struct rep *from);
// Is this a step that exec_pool computes, where anything computes it without going through floats?
bool exec_is_pool(const struct exec *x);
// Multiplies the node's own result by the target's factor (struct stand_in, `gain`), where there is one.
void exec_gain(const struct exec *x, struct rep *y);
// Memory for output 0, or for what exec_finish will make output 0. exec_place answers false where the output has
// no place in the result of a Concat (places.h) or cannot use it; exec_alloc then takes new memory.
bool exec_place(struct exec *x, struct rep *y, enum dtype type, enum layout layout, const struct shape *shape);
MUST_CHECK enum status exec_alloc(struct exec *x, struct rep *y, enum dtype type, enum layout layout, const struct shape *shape);
void exec_copy(char *to, const char *from, size_t bytes, int width);
// Shape of the step's output; STATUS_UNSUPPORTED when output 0 is left out,
// or its shape depends on values that are not there yet.
MUST_CHECK enum status exec_out_shape(struct exec *x, struct shape *out);
const struct tensor *exec_constant(const struct exec *x, int i); // input i where the file holds it; NULL: left out, or computed
// Does input i reach the step unrounded? Kernels round and pack the parameters of weighted
// operators once, when they are made.
bool exec_raw_parameter(const struct exec *x, int i);
// Inputs of the main node as plain tensors of floats (or of the integers that they are), parameters rounded;
// hold[n_in] keeps what was made for it.
MUST_CHECK enum status exec_plain_inputs(struct exec *x, struct rep *hold, const struct tensor **in);
MUST_CHECK enum status exec_eval(struct exec *x, const struct tensor *const *in, struct rep *y);
// Output channels from..from + n of an operator with weights; NULL stands for all.
struct channels {
	int64_t from, n;
};
// A parameter as the simulation sees it: the constant itself, or (heap, in *own, which the caller frees in any case)
// its rounded values or those of some channels. *out NULL: the node has none.
MUST_CHECK enum status exec_weights(const float **out, float **own, struct exec *x, int i, const struct channels *part);
bool exec_splits_channels(const struct exec *x, int i); // the parameter's scale, if any, is one for all or one for each channel
// Does this Resize only select elements (nearest)? resize_blocks runs one on LAYOUT_BLOCK;
// STATUS_UNSUPPORTED where it cannot.
bool resize_selects(const struct exec *x);
MUST_CHECK enum status resize_blocks(struct exec *x, struct rep *in, struct rep *y);
// The key that all kernels of this step share: operator, parameters with their quantizers, epilogue, backend.
struct key exec_kernel_key(struct exec *x, const char *kind);
// Makes the kernel of a convolution ahead of its run: the input has type, shape and layout, but no data yet.
// Errors are dropped here, since the run meets them again.
void exec_conv_prepare(struct exec *x);
// What an integer kernel needs beside its input: codes of the weights, the factor from an integer sum to a float,
// and the bias, as codes or as floats. affine_done frees the arrays.
struct affine {
	int16_t *weight;
	int64_t *bias;
	float *scale, *fbias;
	int64_t n; // channels
};
// Possible when input 0 is coded and the weights in slot 1 are symmetric codes of at most 16 bit,
// with one scale or one an output channel.
bool affine_possible(const struct exec *x);
// `channels`: output channels of the whole operator; `part`: those that are wanted, NULL for all.
MUST_CHECK enum status affine_make(struct affine *a, struct exec *x, int64_t channels, const struct channels *part);
void affine_done(struct affine *a);
// Does an integer kernel of this step write codes? Else floats, for an activation
// or a quantizer that its epilogue does not know.
bool exec_writes_codes(const struct exec *x);
enum dtype exec_kernel_type(const struct exec *x, bool integer); // of what the kernel writes
MUST_CHECK enum status exec_finish_kernel(struct exec *x, bool integer, struct rep *y); // takes y's count

#endif
