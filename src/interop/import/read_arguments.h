// Private to the readers of ONNX Runtime's and Quark's arguments: what these say of all tensors is the target's to decide, so
// that only what it does otherwise is noted.
#ifndef QTUI_INTEROP_IMPORT_READ_ARGUMENTS_H
#define QTUI_INTEROP_IMPORT_READ_ARGUMENTS_H

#include "wishes.h"

// Of codes, by the names of the tools' enumerations.
struct type {
	const char *name;
	int bits; // WISH_FLOAT: no integers
	bool sign;
};
const struct type *find_type(const char *name); // with whatever Python puts in front; NULL: there is none

// A calibrator by its name there, with whatever Python puts in front; -1: it is not known here, which is noted.
int quark_method(struct wishes *w, const char *name);
// A step that changes weights.
void note_weight_step(struct wishes *w, const char *member, const char *step);
// The type of activations; 16 bit are a wish for all nodes.
void read_activation_type(struct wishes *w, const char *name, bool symmetric);
void note_other_weights(struct wishes *w, const struct cJSON *root, const struct cJSON *extra);
// Quark's newer way to say it, of a tensor; `inputs` are activations of `p`. `where` begins each line.
void note_other_tensors(struct wishes *w, const char *where, const struct cJSON *inputs, const struct cJSON *weight, enum precision p);
// That scales are powers of two, or not: the member says so by what `said` is.
void note_scales(struct wishes *w, const char *where, const char *member, const char *said, bool pow2, bool weight);
void note_percentile(struct wishes *w, const struct cJSON *extra, const char *name);
// Where the target has Quark's rules: which of these it does otherwise. For other targets they are not read.
#define QUARK_MEMBERS "enable_npu_cnn"
#define QUARK_OPTIONS "EnableNPUCnn Int32Bias QuantizeAllOpTypes ConvertSigmoidToHardSigmoid"
void note_quark_options(struct wishes *w, const struct cJSON *root, const struct cJSON *extra);

#endif
