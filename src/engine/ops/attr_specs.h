// The attribute specifications that the rows of ops.def name. Included by op.c only.
// clang-format off: rows of a table
#ifndef QTUI_ENGINE_OPS_ATTR_SPECS_H
#define QTUI_ENGINE_OPS_ATTR_SPECS_H

#include <float.h>
#include "attrs.h"

#define NO_CLASS INT32_MIN // no class is ignored

// SPEC(name, struct): a list that ends with END; struct fields not listed stay zero.
#define SPEC(name, type) enum { name##_size = sizeof(struct type) }; static const struct attr_spec name##_spec[]
#define END { NULL, ATTR_INT, 0, 0, NULL }
#define INT(type, field, text, dflt) {text, ATTR_INT, offsetof(struct type, field), dflt, NULL}
#define FLOAT(type, field, text, dflt) {text, ATTR_FLOAT, offsetof(struct type, field), dflt, NULL}
#define INTS(type, field, text) {text, ATTR_INTS, offsetof(struct type, field), 0, NULL}
#define FLOATS(type, field, text) {text, ATTR_FLOATS, offsetof(struct type, field), 0, NULL}
#define TEXT(type, field, text, dflt) {text, ATTR_TEXT, offsetof(struct type, field), 0, dflt}
#define TENSOR(type, field, text) {text, ATTR_TENSOR, offsetof(struct type, field), 0, NULL}

struct none_attrs {
	char unused;
};
SPEC(none, none_attrs) = {END};

// Element by element
SPEC(celu, act_attrs) = {FLOAT(act_attrs, alpha, "alpha", 1), END};
SPEC(clip, act_attrs) = {FLOAT(act_attrs, low, "min", -FLT_MAX), FLOAT(act_attrs, high, "max", FLT_MAX), END};
SPEC(elu, act_attrs) = {FLOAT(act_attrs, alpha, "alpha", 1), END};
SPEC(hardsigmoid, act_attrs) = {FLOAT(act_attrs, alpha, "alpha", 0.2f), FLOAT(act_attrs, beta, "beta", 0.5), END};
SPEC(leakyrelu, act_attrs) = {FLOAT(act_attrs, alpha, "alpha", 0.01f), END};
SPEC(quickgelu, act_attrs) = {FLOAT(act_attrs, alpha, "alpha", 1.702f), END};
SPEC(selu, act_attrs) = {
	FLOAT(act_attrs, alpha, "alpha", 1.67326319217681884765625),
	FLOAT(act_attrs, gamma, "gamma", 1.05070102214813232421875), END,
};
SPEC(shrink, act_attrs) = {FLOAT(act_attrs, beta, "bias", 0), FLOAT(act_attrs, alpha, "lambd", 0.5), END};
SPEC(swish, act_attrs) = {FLOAT(act_attrs, alpha, "alpha", 1), END};
SPEC(threshold, act_attrs) = {FLOAT(act_attrs, alpha, "alpha", 1), END};
SPEC(gelu, gelu_attrs) = {TEXT(gelu_attrs, approximate, "approximate", "none"), END};
SPEC(isinf, isinf_attrs) = {
	INT(isinf_attrs, negative, "detect_negative", 1), INT(isinf_attrs, positive, "detect_positive", 1), END,
};
#define CAST_ATTRS INT(cast_attrs, saturate, "saturate", 1), TEXT(cast_attrs, round_mode, "round_mode", "up")
SPEC(cast, cast_attrs) = {INT(cast_attrs, to, "to", 0), CAST_ATTRS, END};
SPEC(castlike, cast_attrs) = {INT(cast_attrs, to, "", 0), CAST_ATTRS, END};
SPEC(broadcast, broadcast_attrs) = {
	INT(broadcast_attrs, axis, "axis", NO_AXIS), INT(broadcast_attrs, broadcast, "broadcast", 0), END,
};
SPEC(mod, mod_attrs) = {INT(mod_attrs, fmod, "fmod", 0), END};
SPEC(bitshift, bitshift_attrs) = {TEXT(bitshift_attrs, direction, "direction", ""), END};

// Windows and products
#define CONV_ATTRS(type, at) \
	TEXT(type, at auto_pad, "auto_pad", "NOTSET"), INTS(type, at dilations, "dilations"), \
	INT(type, at group, "group", 1), \
	INTS(type, at kernel_shape, "kernel_shape"), INTS(type, at pads, "pads"), INTS(type, at strides, "strides"), \
	INTS(type, at output_padding, "output_padding"), INTS(type, at output_shape, "output_shape")
#define POOL_ATTRS(type, at) \
	TEXT(type, at auto_pad, "auto_pad", "NOTSET"), INTS(type, at dilations, "dilations"), \
	INT(type, at ceil_mode, "ceil_mode", 0), \
	INTS(type, at kernel_shape, "kernel_shape"), INTS(type, at pads, "pads"), INTS(type, at strides, "strides"), \
	INT(type, at count_include_pad, "count_include_pad", 0), INT(type, at storage_order, "storage_order", 0), \
	INT(type, at p, "p", 2)
#define GEMM_ATTRS(type, at) \
	FLOAT(type, at alpha, "alpha", 1), FLOAT(type, at beta, "beta", 1), \
	INT(type, at trans_a, "transA", 0), INT(type, at trans_b, "transB", 0)
SPEC(conv, conv_attrs) = {CONV_ATTRS(conv_attrs, ), END};
SPEC(pool, pool_attrs) = {POOL_ATTRS(pool_attrs, ), END};
SPEC(gemm, gemm_attrs) = {GEMM_ATTRS(gemm_attrs, ), END};
SPEC(cdist, cdist_attrs) = {TEXT(cdist_attrs, metric, "metric", "sqeuclidean"), END};
SPEC(maxroipool, maxroipool_attrs) = {
	INTS(maxroipool_attrs, pooled_shape, "pooled_shape"), FLOAT(maxroipool_attrs, spatial_scale, "spatial_scale", 1), END,
};
SPEC(globallp, pool_attrs) = {INT(pool_attrs, p, "p", 2), END};
SPEC(deform, deform_attrs) = {
	INTS(deform_attrs, dilations, "dilations"), INT(deform_attrs, group, "group", 1),
	INTS(deform_attrs, pads, "pads"),
	INTS(deform_attrs, strides, "strides"), INT(deform_attrs, offset_group, "offset_group", 1),
	INTS(deform_attrs, kernel_shape, "kernel_shape"), END,
};
SPEC(fusedconv, fused_attrs) = {
	CONV_ATTRS(fused_attrs, conv.), TEXT(fused_attrs, activation, "activation", ""),
	FLOATS(fused_attrs, params, "activation_params"), END,
};
SPEC(fusedgemm, fusedgemm_attrs) = {
	GEMM_ATTRS(fusedgemm_attrs, gemm.), TEXT(fusedgemm_attrs, activation, "activation", ""),
	FLOAT(fusedgemm_attrs, alpha, "activation_alpha", 0), FLOAT(fusedgemm_attrs, beta, "activation_beta", 0),
	FLOAT(fusedgemm_attrs, gamma, "activation_gamma", 0), END,
};
SPEC(fusedmatmul, fusedmatmul_attrs) = {
	FLOAT(fusedmatmul_attrs, alpha, "alpha", 1), INT(fusedmatmul_attrs, trans_a, "transA", 0),
	INT(fusedmatmul_attrs, trans_b, "transB", 0), INT(fusedmatmul_attrs, trans_batch_a, "transBatchA", 0),
	INT(fusedmatmul_attrs, trans_batch_b, "transBatchB", 0), END,
};
SPEC(nbits, nbits_attrs) = {
    INT(nbits_attrs, k, "K", 0),
    INT(nbits_attrs, n, "N", 0),
    INT(nbits_attrs, bits, "bits", 4),
    INT(nbits_attrs, block, "block_size", 0),
    END,
};
SPEC(bnb4, nbits_attrs) = {
	INT(nbits_attrs, k, "K", 0), INT(nbits_attrs, n, "N", 0), INT(nbits_attrs, bits, "", 4), INT(nbits_attrs, block, "block_size", 0),
	INT(nbits_attrs, kind, "quant_type", 0), INT(nbits_attrs, trans_b, "transB", 1), END,
};
SPEC(einsum, einsum_attrs) = {TEXT(einsum_attrs, equation, "equation", ""), END};
#define ROIALIGN_ATTRS(transform_dflt) \
	TEXT(roialign_attrs, transform, "coordinate_transformation_mode", transform_dflt), \
	TEXT(roialign_attrs, mode, "mode", "avg"), INT(roialign_attrs, output_height, "output_height", 1), \
	INT(roialign_attrs, output_width, "output_width", 1), \
	INT(roialign_attrs, sampling_ratio, "sampling_ratio", 0), \
	FLOAT(roialign_attrs, spatial_scale, "spatial_scale", 1)
SPEC(roialign, roialign_attrs) = {ROIALIGN_ATTRS("output_half_pixel"), END};
SPEC(roialign_16, roialign_attrs) = {ROIALIGN_ATTRS("half_pixel"), END};

// Attention; scores are softmaxed in float32, whatever softmax_precision asks for
SPEC(attention, attention_attrs) = {
	FLOAT(attention_attrs, scale, "scale", NAN), FLOAT(attention_attrs, softcap, "softcap", 0),
	INT(attention_attrs, causal, "is_causal", 0), INT(attention_attrs, heads, "q_num_heads", 0),
	INT(attention_attrs, kv_heads, "kv_num_heads", 0), INT(attention_attrs, output_mode, "qk_matmul_output_mode", 0), END,
};
SPEC(rotary, rotary_attrs) = {
	INT(rotary_attrs, interleaved, "interleaved", 0), INT(rotary_attrs, heads, "num_heads", 0),
	INT(rotary_attrs, rotated, "rotary_embedding_dim", 0), END,
};
SPEC(fused_attention, fused_attention_attrs) = {
	FLOAT(fused_attention_attrs, scale, "scale", 0), FLOAT(fused_attention_attrs, hidden, "mask_filter_value", -10000),
	INT(fused_attention_attrs, causal, "unidirectional", 0), INT(fused_attention_attrs, heads, "num_heads", 0),
	INT(fused_attention_attrs, rotary, "do_rotary", 0), INT(fused_attention_attrs, share_buffer, "past_present_share_buffer", 0),
	INTS(fused_attention_attrs, widths, "qkv_hidden_sizes"), END,
};

SPEC(group_attention, group_attention_attrs) = {
	FLOAT(group_attention_attrs, scale, "scale", 0), FLOAT(group_attention_attrs, softcap, "softcap", 0),
	INT(group_attention_attrs, heads, "num_heads", 0), INT(group_attention_attrs, kv_heads, "kv_num_heads", 0),
	INT(group_attention_attrs, rotary, "do_rotary", 0), INT(group_attention_attrs, interleaved, "rotary_interleaved", 0),
	INT(group_attention_attrs, window, "local_window_size", -1), INT(group_attention_attrs, smooth, "smooth_softmax", 0), END,
};

// Normalisation
SPEC(batchnorm, norm_attrs) = {
	FLOAT(norm_attrs, epsilon, "epsilon", 1e-5f), FLOAT(norm_attrs, momentum, "momentum", 0.9f),
	INT(norm_attrs, spatial, "spatial", 1), INT(norm_attrs, training, "training_mode", 0), END,
};
SPEC(groupnorm, norm_attrs) = {
	FLOAT(norm_attrs, epsilon, "epsilon", 1e-5f), INT(norm_attrs, num_groups, "num_groups", 0), END,
};
SPEC(instancenorm, norm_attrs) = {FLOAT(norm_attrs, epsilon, "epsilon", 1e-5f), END};
SPEC(layernorm, norm_attrs) = {FLOAT(norm_attrs, epsilon, "epsilon", 1e-5f), INT(norm_attrs, axis, "axis", -1), END};
SPEC(skipnorm, norm_attrs) = {FLOAT(norm_attrs, epsilon, "epsilon", 1e-12f), END};
SPEC(lrn, norm_attrs) = {
	FLOAT(norm_attrs, alpha, "alpha", 0.0001f), FLOAT(norm_attrs, beta, "beta", 0.75),
	FLOAT(norm_attrs, bias, "bias", 1),
	INT(norm_attrs, size, "size", 0), END,
};
SPEC(lpnorm, norm_attrs) = {INT(norm_attrs, axis, "axis", -1), INT(norm_attrs, p, "p", 2), END};
SPEC(mvn, norm_attrs) = {INTS(norm_attrs, axes, "axes"), END};

// Axes, shapes and positions
SPEC(axis_0, axis_attrs) = {INT(axis_attrs, axis, "axis", 0), END};
SPEC(axis_1, axis_attrs) = {INT(axis_attrs, axis, "axis", 1), END};
SPEC(loss, loss_attrs) = {INT(loss_attrs, ignore_index, "ignore_index", NO_CLASS), TEXT(loss_attrs, reduction, "reduction", "mean"), END};
SPEC(axis_last, axis_attrs) = {INT(axis_attrs, axis, "axis", -1), END};
SPEC(split, axis_attrs) = {
	INT(axis_attrs, axis, "axis", 0), INTS(axis_attrs, split, "split"),
	INT(axis_attrs, num_outputs, "num_outputs", 0), END,
};
SPEC(reduce, reduce_attrs) = {
	INTS(reduce_attrs, axes, "axes"), INT(reduce_attrs, keepdims, "keepdims", 1),
	INT(reduce_attrs, noop_with_empty_axes, "noop_with_empty_axes", 0), END,
};
SPEC(argreduce, reduce_attrs) = {
	INT(reduce_attrs, axis, "axis", 0), INT(reduce_attrs, keepdims, "keepdims", 1),
	INT(reduce_attrs, select_last_index, "select_last_index", 0), END,
};
SPEC(cumulate, cumulate_attrs) = {
	INT(cumulate_attrs, exclusive, "exclusive", 0), INT(cumulate_attrs, reverse, "reverse", 0), END,
};
SPEC(topk, topk_attrs) = {
	INT(topk_attrs, axis, "axis", -1), INT(topk_attrs, k, "k", -1), INT(topk_attrs, largest, "largest", 1),
	INT(topk_attrs, sorted, "sorted", 1), END,
};
SPEC(dropout, none_attrs) = {END};
SPEC(reshape, reshape_attrs) = {
	INTS(reshape_attrs, shape, "shape"), INT(reshape_attrs, allowzero, "allowzero", 0), END,
};
SPEC(axes, reshape_attrs) = {INTS(reshape_attrs, axes, "axes"), END};
SPEC(depth, depth_attrs) = {INT(depth_attrs, blocksize, "blocksize", 0), TEXT(depth_attrs, mode, "mode", "DCR"), END};
SPEC(gatherblock, gatherblock_attrs) = {
	INT(gatherblock_attrs, gather_axis, "gather_axis", 0), INT(gatherblock_attrs, quantize_axis, "quantize_axis", 1),
	INT(gatherblock_attrs, bits, "bits", 4), INT(gatherblock_attrs, block, "block_size", 128), END,
};
SPEC(gathernd, gathernd_attrs) = {INT(gathernd_attrs, batch_dims, "batch_dims", 0), END};
SPEC(pad, pad_attrs) = {
	TEXT(pad_attrs, mode, "mode", "constant"), INTS(pad_attrs, pads, "pads"), INTS(pad_attrs, paddings, "paddings"),
	FLOAT(pad_attrs, value, "value", 0), END,
};
#define RANDOM_ATTRS INT(random_attrs, dtype, "dtype", 0), FLOAT(random_attrs, seed, "seed", 0), INTS(random_attrs, shape, "shape")
SPEC(random_normal, random_attrs) = {
	RANDOM_ATTRS, FLOAT(random_attrs, mean, "mean", 0), FLOAT(random_attrs, scale, "scale", 1), END,
};
SPEC(random_uniform, random_attrs) = {
	RANDOM_ATTRS, FLOAT(random_attrs, low, "low", 0), FLOAT(random_attrs, high, "high", 1), END,
};
SPEC(bernoulli, random_attrs) = {INT(random_attrs, dtype, "dtype", 0), FLOAT(random_attrs, seed, "seed", 0), END};
SPEC(imagescaler, imagescaler_attrs) = {
	FLOAT(imagescaler_attrs, scale, "scale", 1), FLOATS(imagescaler_attrs, bias, "bias"), END,
};
SPEC(scaler, scaler_attrs) = {FLOATS(scaler_attrs, offset, "offset"), FLOATS(scaler_attrs, scale, "scale"), END};
SPEC(normalizer, normalizer_attrs) = {TEXT(normalizer_attrs, norm, "norm", "MAX"), END};
SPEC(binarizer, binarizer_attrs) = {FLOAT(binarizer_attrs, threshold, "threshold", 0), END};
SPEC(imputer, imputer_attrs) = {
	FLOATS(imputer_attrs, floats, "imputed_value_floats"), FLOAT(imputer_attrs, missing, "replaced_value_float", 0),
	INTS(imputer_attrs, ints, "imputed_value_int64s"), INT(imputer_attrs, missing_int, "replaced_value_int64", 0), END,
};
SPEC(vectorizer, vectorizer_attrs) = {INTS(vectorizer_attrs, dimensions, "inputdimensions"), END};
SPEC(reverse, reverse_attrs) = {
	INT(reverse_attrs, batch_axis, "batch_axis", 1), INT(reverse_attrs, time_axis, "time_axis", 0), END,
};
SPEC(scatter, scatter_attrs) = {
	INT(scatter_attrs, axis, "axis", 0), TEXT(scatter_attrs, reduction, "reduction", "none"), END,
};
SPEC(tensorscatter, tensorscatter_attrs) = {
	INT(tensorscatter_attrs, axis, "axis", -2), TEXT(tensorscatter_attrs, mode, "mode", "linear"), END,
};
SPEC(slice, slice_attrs) = {
	INTS(slice_attrs, starts, "starts"), INTS(slice_attrs, ends, "ends"), INTS(slice_attrs, axes, "axes"), END,
};
SPEC(transpose, transpose_attrs) = {INTS(transpose_attrs, perm, "perm"), END};
SPEC(trilu, trilu_attrs) = {INT(trilu_attrs, upper, "upper", 1), END};
SPEC(constant, constant_attrs) = {
	TENSOR(constant_attrs, value, "value"), FLOAT(constant_attrs, value_float, "value_float", NAN),
	INT(constant_attrs, value_int, "value_int", NO_NUMBER), FLOATS(constant_attrs, value_floats, "value_floats"),
	INTS(constant_attrs, value_ints, "value_ints"), END,
};
SPEC(fill, fill_attrs) = {TENSOR(fill_attrs, value, "value"), END};
SPEC(eyelike, eyelike_attrs) = {INT(eyelike_attrs, dtype, "dtype", 0), INT(eyelike_attrs, k, "k", 0), END};
SPEC(shape, shapeof_attrs) = {INT(shapeof_attrs, start, "start", 0), INT(shapeof_attrs, end, "end", INT32_MAX), END};
SPEC(compress, compress_attrs) = {INT(compress_attrs, axis, "axis", NO_AXIS), END};
SPEC(nms, nms_attrs) = {INT(nms_attrs, center_point_box, "center_point_box", 0), END};
SPEC(scan, scan_attrs) = {
	INT(scan_attrs, num_scan_inputs, "num_scan_inputs", 0), INTS(scan_attrs, scan_input_axes, "scan_input_axes"),
	INTS(scan_attrs, scan_input_directions, "scan_input_directions"), INTS(scan_attrs, scan_output_axes, "scan_output_axes"),
	INTS(scan_attrs, scan_output_directions, "scan_output_directions"), END,
};
SPEC(unique, unique_attrs) = {INT(unique_attrs, axis, "axis", NO_AXIS), INT(unique_attrs, sorted, "sorted", 1), END};
SPEC(unique_ms, unique_attrs) = {INT(unique_attrs, axis, "", NO_AXIS), END}; // as they appear

// Spectra
SPEC(dft, signal_attrs) = {
	INT(signal_attrs, axis, "axis", 1), INT(signal_attrs, inverse, "inverse", 0), INT(signal_attrs, onesided, "onesided", 0), END,
};
SPEC(stft, signal_attrs) = {INT(signal_attrs, onesided, "onesided", 1), END};
SPEC(window, signal_attrs) = {
	INT(signal_attrs, output_dtype, "output_datatype", 1), INT(signal_attrs, periodic, "periodic", 1), END,
};
SPEC(mel, signal_attrs) = {INT(signal_attrs, output_dtype, "output_datatype", 1), END};

// Sampling
SPEC(gridsample, gridsample_attrs) = {
	TEXT(gridsample_attrs, mode, "mode", "linear"), TEXT(gridsample_attrs, padding_mode, "padding_mode", "zeros"),
	INT(gridsample_attrs, align_corners, "align_corners", 0), END,
};
SPEC(affinegrid, gridsample_attrs) = {INT(gridsample_attrs, align_corners, "align_corners", 0), END};
SPEC(col2im, col2im_attrs) = {
	INTS(col2im_attrs, dilations, "dilations"), INTS(col2im_attrs, pads, "pads"), INTS(col2im_attrs, strides, "strides"), END,
};
SPEC(upsample_1, resize_attrs) = {
	TEXT(resize_attrs, mode, "mode", "nearest"), FLOAT(resize_attrs, height_scale, "height_scale", 1),
	FLOAT(resize_attrs, width_scale, "width_scale", 1), TEXT(resize_attrs, transform, "", "asymmetric"),
	TEXT(resize_attrs, nearest_mode, "", "floor"), END,
};
// Resize 10 and Upsample compute x_in = x_out / scale and round down: "asymmetric" and "floor", which no attribute
// names yet.
SPEC(resize, resize_attrs) = {
	TEXT(resize_attrs, mode, "mode", "nearest"), FLOATS(resize_attrs, scales, "scales"),
	TEXT(resize_attrs, transform, "", "asymmetric"), TEXT(resize_attrs, nearest_mode, "", "floor"), END,
};
SPEC(resize_11, resize_attrs) = {
	TEXT(resize_attrs, mode, "mode", "nearest"),
	TEXT(resize_attrs, transform, "coordinate_transformation_mode", "half_pixel"),
	TEXT(resize_attrs, nearest_mode, "nearest_mode", "round_prefer_floor"),
	TEXT(resize_attrs, keep_aspect, "keep_aspect_ratio_policy", "stretch"),
	FLOAT(resize_attrs, cubic_a, "cubic_coeff_a", -0.75),
	FLOAT(resize_attrs, extrapolation, "extrapolation_value", 0),
	INT(resize_attrs, exclude_outside, "exclude_outside", 0),
	INT(resize_attrs, antialias, "antialias", 0), INTS(resize_attrs, axes, "axes"), END,
};

// Quantization and recurrent networks
SPEC(quantize, quantize_attrs) = {
	INT(quantize_attrs, axis, "axis", 1), INT(quantize_attrs, block_size, "block_size", 0),
	INT(quantize_attrs, output_dtype, "output_dtype", 0), INT(quantize_attrs, saturate, "saturate", 1),
	INT(quantize_attrs, zero_type, "", 0), END,
};
#define QUANTIZE_TO(type) INT(quantize_attrs, axis, "axis", 1), INT(quantize_attrs, block_size, "block_size", 0), \
	INT(quantize_attrs, output_dtype, "", type), INT(quantize_attrs, saturate, "", 1)
SPEC(quantize_e4m3, quantize_attrs) = {QUANTIZE_TO(17), END};
SPEC(quantize_int4, quantize_attrs) = {QUANTIZE_TO(22), END};
SPEC(qpool, qpool_attrs) = {POOL_ATTRS(qpool_attrs, pool.), INT(qpool_attrs, channels_last, "channels_last", 0), END};
SPEC(qsoftmax, qsoftmax_attrs) = {
	INT(qsoftmax_attrs, axis, "axis", -1), INT(qsoftmax_attrs, opset, "opset", 13), END,
};
#define RNN_ATTRS \
	TEXT(rnn_attrs, direction, "direction", "forward"), INT(rnn_attrs, hidden_size, "hidden_size", 0), \
	INT(rnn_attrs, layout, "layout", 0), FLOAT(rnn_attrs, clip, "clip", 0), \
	TEXT(rnn_attrs, activations, "activations", ""), \
	FLOATS(rnn_attrs, alpha, "activation_alpha"), FLOATS(rnn_attrs, beta, "activation_beta")
SPEC(rnn, rnn_attrs) = {RNN_ATTRS, END};
SPEC(gru, rnn_attrs) = {RNN_ATTRS, INT(rnn_attrs, linear_before_reset, "linear_before_reset", 0), END};
SPEC(lstm, rnn_attrs) = {RNN_ATTRS, INT(rnn_attrs, input_forget, "input_forget", 0), END};

#endif
