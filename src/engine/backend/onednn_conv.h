// A convolution by oneDNN (private to onednn_conv*.c): onednn_conv_desc.c says what is to be computed
// in oneDNN's terms, onednn_conv.c packs the weights and runs it.
#ifndef QTUI_ENGINE_BACKEND_ONEDNN_CONV_H
#define QTUI_ENGINE_BACKEND_ONEDNN_CONV_H

#include "onednn.h"

// Groups whose channels do not fill whole blocks are merged into larger groups with zero weights between them: more
// arithmetic, but in a fast kernel.
struct grouping {
	int64_t group, c, oc; // as oneDNN sees them: channels in all, padded
	bool grouped;         // weights have a dimension for groups
};

struct onednn_conv {
	struct kernel base;
	struct conv_task task; // its output is blocked; its weight and bias are not kept
	struct grouping as;
	bool padded;           // the input is copied into one with its padding around it: oneDNN has no fast kernel for wide padding
	bool fused;            // the epilogue is part of the primitive
	float *bias;           // padded, or NULL
	struct buf *weights;
	struct onednn_prims prims;
};

// False when no grouping is worth it.
bool conv_desc_group(struct grouping *as, const struct conv_geometry *g);
// Whether oneDNN reads the plain input as it is.
bool conv_desc_is_flat(const struct conv_task *t);
// Primitive for a kernel whose task and as are set; sets fused. NULL when oneDNN has no fast one.
dnnl_primitive_t conv_desc_choose(struct onednn_conv *k);
// An onednn_make_fn for a kernel with all of these set.
dnnl_primitive_t conv_desc_make(const void *kernel);
// The dimensions of the weights as oneDNN sees them: [groups, outputs a group, inputs a group, rows, columns].
void conv_desc_weight_dims(int64_t dims[5], const struct onednn_conv *k);
dnnl_status_t conv_desc_weight_md(struct api_md *out, const struct onednn_conv *k, bool plain);
// Sets the channels past the last real one to zero where `act` has changed them.
void conv_desc_clear_padding(float *y, const struct conv_geometry *g, const struct act *act);
// The rows and columns of the input that the primitive reads.
int64_t conv_desc_height(const struct onednn_conv *k);
int64_t conv_desc_width(const struct onednn_conv *k);
// How many groups are one to oneDNN.
int64_t conv_groups_merged(const struct onednn_conv *k);
// Whether an input of n floats holds one whose product with 0 is not 0.
bool conv_groups_mix(const float *x, int64_t n);
// Of each run of `merged` groups the one at place `which`, in a blocked tensor.
struct conv_groups {
	int64_t images, channels, real, pixels; // channels: padded, of which so many are real
	int64_t each, merged, which;      // each: channels of a group
};
// Takes over the channels of these groups; those of others become 0 (blank) or stay, padding becomes 0.
void conv_groups_take(float *to, const float *from, const struct conv_groups *g, bool blank);
// Where the residual stands among the post-ops.
int conv_desc_residual_index(const struct epilogue *e);

// The epilogue on n stored outputs.
void conv_epilogue(const struct epilogue *e, float *y, const float *residual, int64_t n, int width);
// A convolution with a plain input or output, by a kernel for blocked ones.
enum relaid { RELAID_INPUT, RELAID_OUTPUT };
MUST_CHECK enum status onednn_relaid(struct kernel **out, const struct conv_task *t, enum relaid what, struct error *err);
// A transposed convolution as one kernel for every phase of its stride.
MUST_CHECK enum status onednn_phases(struct kernel **out, const struct conv_task *t, struct error *err);

#endif
