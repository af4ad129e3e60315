// The parsed attributes of operators that only their own files read; those that other parts read are in op.h.
// attr_specs.h says which ONNX attribute fills which field, and its default.
#ifndef QTUI_ENGINE_OPS_ATTRS_H
#define QTUI_ENGINE_OPS_ATTRS_H

#include "qtui/engine/op.h"

#define NO_AXIS INT32_MIN   // "all elements", where an attribute `axis` may be left out
#define NO_NUMBER INT32_MIN // a Constant without value_int

struct attention_attrs {
	float scale, softcap; // scale NaN: one by the root of the heads' size
	int64_t causal, heads, kv_heads, output_mode;
};
struct bitshift_attrs {
	const char *direction;
};
struct broadcast_attrs { // before opset 7: b is aligned with the dimensions of a from `axis` on
	int64_t axis, broadcast;
};
struct cast_attrs {
	int64_t to; // a TensorProto.DataType; of CastLike where the file says it, else 0
	int64_t saturate;
	const char *round_mode;
};
struct cdist_attrs {
	const char *metric;
};
struct col2im_attrs {
	struct ints dilations, pads, strides;
};
struct compress_attrs {
	int64_t axis;
};
struct constant_attrs {
	const struct tensor *value;
	float value_float;
	int64_t value_int;
	struct floats value_floats;
	struct ints value_ints;
};
struct cumulate_attrs {
	int64_t exclusive, reverse;
};
struct deform_attrs {
	struct ints dilations, kernel_shape, pads, strides;
	int64_t group, offset_group;
};
struct depth_attrs {
	int64_t blocksize;
	const char *mode;
};
struct einsum_attrs {
	const char *equation;
};
struct eyelike_attrs {
	int64_t dtype, k;
};
struct fill_attrs {
	const struct tensor *value;
};
struct fused_attention_attrs { // Attention, MultiHeadAttention, QAttention of com.microsoft
	float scale, hidden; // scale 0: one by the root of the heads' size; hidden: added where a mask is 0
	int64_t causal, heads, rotary, share_buffer;
	struct ints widths; // columns of the weights that are queries, keys, values
};
struct fused_attrs { // FusedConv: the convolution's own attributes come first
	struct conv_attrs conv;
	const char *activation;
	struct floats params;
};
struct fusedgemm_attrs {
	struct gemm_attrs gemm;
	const char *activation;
	float alpha, beta, gamma;
};
struct gatherblock_attrs {
	int64_t gather_axis, quantize_axis, bits, block;
};
struct gathernd_attrs {
	int64_t batch_dims;
};
struct gelu_attrs {
	const char *approximate;
};
struct gridsample_attrs {
	const char *mode, *padding_mode;
	int64_t align_corners;
};
struct group_attention_attrs {
	float scale, softcap; // scale 0: one by the root of the heads' size
	int64_t heads, kv_heads, rotary, interleaved, window, smooth; // window -1: none
};
struct imagescaler_attrs {
	float scale;
	struct floats bias;
};
struct isinf_attrs {
	int64_t negative, positive;
};
struct loss_attrs {
	int64_t ignore_index; // of no class: NO_CLASS
	const char *reduction;
};
struct mod_attrs {
	int64_t fmod;
};
struct nbits_attrs { // MatMulNBits, MatMulBnb4
	int64_t k, n, bits, block;
	int64_t kind, trans_b; // MatMulBnb4
};
struct nms_attrs {
	int64_t center_point_box;
};
struct qpool_attrs {
	struct pool_attrs pool;
	int64_t channels_last;
};
struct qsoftmax_attrs {
	int64_t axis, opset;
};
struct quantize_attrs {
	int64_t axis, block_size, output_dtype, saturate;
	int64_t zero_type; // TensorProto.DataType of the zero point where the file says it, else 0
};
struct reduce_attrs { // ArgMax, ArgMin: axis
	struct ints axes;
	int64_t axis, keepdims, noop_with_empty_axes, select_last_index;
};
struct reshape_attrs { // Reshape, Squeeze, Unsqueeze: those of them that take their list as an attribute
	struct ints shape, axes;
	int64_t allowzero;
};
struct random_attrs {
	float low, high, mean, scale, seed;
	int64_t dtype; // 0: that of the input
	struct ints shape;
};
struct resize_attrs {
	const char *mode, *transform, *nearest_mode, *keep_aspect;
	float cubic_a, extrapolation, height_scale, width_scale;
	int64_t exclude_outside, antialias;
	struct ints axes;
	struct floats scales;
};
struct reverse_attrs {
	int64_t batch_axis, time_axis;
};
struct rnn_attrs {
	const char *direction;
	int64_t hidden_size, input_forget, layout, linear_before_reset;
	float clip;
	struct floats alpha, beta;
	const char *activations; // names joined by blanks, "" for the operator's own
	const struct rnn_rounding *rounding; // within the steps (rnn.h); NULL: none. No attribute: the engine sets it
};
struct maxroipool_attrs {
	struct ints pooled_shape;
	float spatial_scale;
};
struct roialign_attrs {
	const char *transform, *mode;
	int64_t output_height, output_width, sampling_ratio;
	float spatial_scale;
};
struct rotary_attrs {
	int64_t interleaved, heads, rotated; // rotated: elements of a head that are turned, 0: all
};
struct scatter_attrs {
	int64_t axis;
	const char *reduction;
};
struct shapeof_attrs {
	int64_t start, end;
};
struct signal_attrs { // DFT, STFT, MelWeightMatrix, windows
	int64_t axis, inverse, onesided, output_dtype, periodic;
};
struct slice_attrs {
	struct ints starts, ends, axes;
};
struct scaler_attrs {
	struct floats offset, scale;
};
struct normalizer_attrs {
	const char *norm;
};
struct binarizer_attrs {
	float threshold;
};
struct imputer_attrs {
	struct floats floats;
	struct ints ints;
	float missing;
	int64_t missing_int;
};
struct vectorizer_attrs {
	struct ints dimensions; // of each input
};
struct tensorscatter_attrs {
	int64_t axis;
	const char *mode;
};
struct topk_attrs {
	int64_t axis, k, largest, sorted;
};
struct trilu_attrs {
	int64_t upper;
};
struct scan_attrs {
	int64_t num_scan_inputs;
	struct ints scan_input_axes, scan_input_directions, scan_output_axes, scan_output_directions;
};
struct unique_attrs {
	int64_t axis, sorted;
};

#endif
