// Poolings behind a convolution, whose output is in blocks: the engine's kernels against the plain interpreter,
// in one dimension and in two, and reductions that come to the same.
#include "infer_case.h"

enum { C = 3, K = 21, H = 9, W = 14 };

static void conv(struct onnx_case *c, int dims)
{
	struct support_random r = {81};
	float w[K * C];
	support_random_floats(&r, w, K * C, -1.0f, 1.0f);
	case_init(c);
	if (dims == 1) {
		case_input(c, "x", FLOAT, DIMS(2, C, W));
		case_floats(c, "w", DIMS(K, C, 1), w);
	} else {
		case_input(c, "x", FLOAT, DIMS(2, C, H, W));
		case_floats(c, "w", DIMS(K, C, 1, 1), w);
	}
	case_node(c, "Conv", "conv", "x w", "h");
}

void test_pools__windows_of_one_dimension(void **state)
{
	static const char *const ops[] = {"MaxPool", "AveragePool"};
	for (int i = 0; i < 4; i++) {
		struct onnx_case c;
		conv(&c, 1);
		Onnx__NodeProto *n = case_node(&c, ops[i % 2], "pool", "h", "y");
		case_attr_ints(&c, n, "kernel_shape", 1, (int64_t[]){3});
		case_attr_ints(&c, n, "strides", 1, (int64_t[]){1 + i / 2});
		case_attr_ints(&c, n, "pads", 2, (int64_t[]){1, i / 2});
		infer_check(&c, 1e-5f);
	}
}

void test_pools__whole_planes(void **state)
{
	static const char *const ops[] = {"GlobalMaxPool", "GlobalAveragePool"};
	for (int i = 0; i < 4; i++) {
		struct onnx_case c;
		conv(&c, 1 + i / 2);
		case_node(&c, ops[i % 2], "pool", "h", "y");
		infer_check(&c, 1e-5f);
	}
}

// Of the pixels of both, of one dimension and of two; of rows alone, which is no pooling; and with the channels.
void test_pools__reductions(void **state)
{
	static const char *const ops[] = {"ReduceMax", "ReduceMean"};
	static const struct {
		int dims, n;
		int64_t axes[3];
	} cases[] = {{1, 1, {2}}, {2, 2, {3, 2}}, {2, 2, {-1, -2}}, {2, 1, {2}}, {2, 3, {1, 2, 3}}, {1, 1, {1}}, {2, 2, {0, 1}}};
	for (int i = 0; i < 4 * (int)(sizeof cases / sizeof *cases); i++) {
		struct onnx_case c;
		conv(&c, cases[i / 4].dims);
		Onnx__NodeProto *n = case_node(&c, ops[i % 2], "reduce", "h", "y");
		case_attr_ints(&c, n, "axes", cases[i / 4].n, cases[i / 4].axes);
		case_attr_int(&c, n, "keepdims", i / 2 % 2);
		infer_check(&c, 1e-5f);
	}
}
