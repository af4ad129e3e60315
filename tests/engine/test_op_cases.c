// Operators against the cases of ONNX's own suite.
#include "node_case.h"

void test_op_cases__quantize(void **state)
{
	node_case_each((const char *const[]){ "quantizelinear", "quantizelinear_axis", "dequantizelinear", "dequantizelinear_axis",
	    "dynamicquantizelinear", "dynamicquantizelinear_max_adjusted", "dynamicquantizelinear_min_adjusted",
	    "basic_convinteger", "convinteger_with_padding", "convinteger_without_padding", "matmulinteger", "qlinearconv",
	    "qlinearmatmul_2D", "qlinearmatmul_3D", NULL }, 1e-6);
}

void test_op_cases__making_tensors(void **state)
{
	node_case_each((const char *const[]){ "constant", "constantofshape_float_ones", "constantofshape_int_shape_zero",
	    "constantofshape_int_zeros", "range_float_type_positive_delta", "range_int32_type_negative_delta", "shape", "shape_clip_end",
	    "shape_clip_start", "shape_end_1", "shape_end_negative_1", "shape_example", "shape_start_1", "shape_start_1_end_2",
	    "shape_start_1_end_negative_1", "shape_start_negative_1", "size", "size_example", "eyelike_populate_off_main_diagonal",
	    "eyelike_with_dtype", "eyelike_without_dtype", "onehot_negative_indices", "onehot_with_axis", "onehot_with_negative_axis",
	    "onehot_without_axis", NULL }, 1e-6);
}

void test_op_cases__along_an_axis(void **state)
{
	node_case_each((const char *const[]){ "cumsum_1d", "cumsum_1d_exclusive", "cumsum_1d_reverse", "cumsum_1d_reverse_exclusive",
	    "cumsum_2d_axis_0", "cumsum_2d_axis_1", "cumsum_2d_negative_axis", "reversesequence_batch", "reversesequence_time",
	    "compress_0", "compress_1", "compress_default_axis", "compress_negative_axis", "tril", "tril_neg", "tril_one_row_neg",
	    "tril_out_neg", "tril_out_pos", "tril_pos", "tril_square", "tril_square_neg", "tril_zero", "triu", "triu_neg",
	    "triu_one_row", "triu_out_neg_out", "triu_out_pos", "triu_pos", "triu_square", "triu_square_neg", "triu_zero", NULL }, 1e-6);
}
