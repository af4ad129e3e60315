// Convolutions whose weights or bias the network computes: the engine's kernels,
// made for one call, against the plain interpreter.
#include "infer_case.h"

enum { C = 8, K = 12, H = 9, W = 14 };

// "w" of this shape is a constant times what the input's first row gives.
static void begin(struct onnx_case *c, const int64_t *dims, int64_t n, bool bias)
{
	struct support_random r = {81};
	float w[K * C * 9], b[K];
	support_random_floats(&r, w, (size_t)n, -1.0f, 1.0f);
	support_random_floats(&r, b, K, -1.0f, 1.0f);
	case_init(c);
	case_input(c, "x", FLOAT, DIMS(2, C, H, W));
	case_node(c, "GlobalAveragePool", "mean", "x", "m");
	case_node(c, "ReduceMean", "one", "m", "style");
	case_floats(c, "w0", 4, dims, w);
	case_node(c, "Add", "modulate", "w0 style", "w");
	if (!bias)
		return;
	case_floats(c, "b0", DIMS(1, 1, 1, K), b);
	case_ints(c, "row", 1, (int64_t[]){K});
	case_node(c, "Add", "shift", "b0 style", "b1");
	case_node(c, "Reshape", "flat", "b1 row", "b");
}

void test_computed_weights__conv(void **state)
{
	struct onnx_case c;
	begin(&c, (int64_t[]){K, C, 3, 3}, K * C * 9, false);
	case_node(&c, "Conv", "conv", "x w", "h");
	case_node(&c, "Relu", "relu", "h", "y");
	infer_check(&c, 1e-4f);
}

void test_computed_weights__and_a_bias(void **state)
{
	struct onnx_case c;
	begin(&c, (int64_t[]){K, C, 1, 1}, K * C, true);
	case_node(&c, "Conv", "conv", "x w b", "y");
	infer_check(&c, 1e-4f);
}

void test_computed_weights__in_groups(void **state)
{
	struct onnx_case c;
	begin(&c, (int64_t[]){K, C / 4, 3, 3}, K * C / 4 * 9, false);
	case_attr_int(&c, case_node(&c, "Conv", "conv", "x w", "y"), "group", 4);
	infer_check(&c, 1e-4f);
}

void test_computed_weights__transposed(void **state)
{
	struct onnx_case c;
	begin(&c, (int64_t[]){C, K, 3, 3}, K * C * 9, false);
	case_node(&c, "ConvTranspose", "conv", "x w", "y");
	infer_check(&c, 1e-4f);
}
