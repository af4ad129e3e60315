// Plans of the target tflite. Expected: what TensorFlow Lite's specification of 8-bit quantization says of each operator.
#include "plan_case.h"

// Every observed scale is 1/64 with zero point -20, except that of "wide", 1/16 with -50.
static void setup(struct fixture *f, struct builder *b)
{
	fixture_grids(f, b->g, "tflite", (struct grid){0x1p-6f, -20}, (struct grid){0x1p-4f, -50});
}

void test_plan_tflite__weights_and_biases(void **state)
{
	struct builder b = one_convolution("y");
	builder_output(&b, "y");
	struct fixture f;
	setup(&f, &b);
	const struct quantizer *w = &in(&f, "conv", 1)->quant, *bias = &in(&f, "conv", 2)->quant;
	assert_int_equal(w->n, 2);
	assert_int_equal(w->qmin, -127);
	assert_int_equal(w->qmax, 127);
	assert_float_equal(w->scale[0], 1.0 / 127, 1e-9);
	assert_float_equal(w->scale[1], .25 / 127, 1e-9);
	assert_int_equal(bias->bits, 32);
	assert_float_equal(bias->scale[1], .25 / 127 / 64, 1e-10);
	assert_int_equal(out(&f, "conv")->quant.rounding, ROUND_HALF_FAR_FROM_ZERO);
	assert_int_equal(out(&f, "conv")->quant.qmin, -128);
	teardown(&f);
}

// The converter keeps biases within half of 32 bits, and no range of weights is narrower than 1e-6.
void test_plan_tflite__a_bias_widens_the_weights_steps(void **state)
{
	for (int dead = 0; dead < 2; dead++) {
		struct builder b = one_convolution("y");
		builder_output(&b, "y");
		((float *)b.g->value[builder_value(&b, "w")].constant->data)[1] = dead ? 0 : 2e-6f;
		((float *)b.g->value[builder_value(&b, "bias")].constant->data)[1] = -.75f;
		struct fixture f;
		setup(&f, &b);
		const struct quantizer *w = &in(&f, "conv", 1)->quant, *bias = &in(&f, "conv", 2)->quant;
		assert_float_equal(w->scale[0], 1.0 / 127, 1e-9);
		assert_float_equal(w->scale[1] / (.75 / 1073741823 * 64), 1, 1e-6);
		int64_t codes[2];
		codes_of_bias(codes, b.g->value[builder_value(&b, "bias")].constant, bias);
		assert_in_range(-codes[1], 1073741000, 1073742000);
		teardown(&f);
	}
}

// The weights of a channel that are all zero leave its small bias as exact as others'.
void test_plan_tflite__a_dead_channel(void **state)
{
	struct builder b = one_convolution("y");
	builder_output(&b, "y");
	((float *)b.g->value[builder_value(&b, "w")].constant->data)[1] = 0;
	((float *)b.g->value[builder_value(&b, "bias")].constant->data)[1] = 3e-3f;
	struct fixture f;
	setup(&f, &b);
	assert_float_equal(in(&f, "conv", 1)->quant.scale[1] / (1e-6 / 254), 1, 1e-6);
	teardown(&f);
}

// Relu and Relu6 run with what computes, sums and pools; a Clip to other limits and what stands alone do not.
void test_plan_tflite__fused_activations(void **state)
{
	struct builder b = one_convolution("c");
	builder_constant(&b, "two", DT_F32, shape_of(0, NULL), &(float){2});
	builder_node(&b, "Clip", "relu6", "c low six", "r");
	builder_node(&b, "Add", "add", "r r", "a");
	builder_node(&b, "Relu", "behind", "a", "s");
	builder_node(&b, "Clip", "other", "s low two", "t");
	builder_node(&b, "Sigmoid", "sigmoid", "t", "u");
	builder_node(&b, "Relu", "alone", "u", "y");
	builder_output(&b, "y");
	struct fixture f;
	setup(&f, &b);
	assert_int_equal(out(&f, "conv")->state, SLOT_OVERLAPPED);
	assert_int_equal(out(&f, "add")->state, SLOT_OVERLAPPED);
	assert_int_equal(out(&f, "behind")->state, SLOT_ACTIVE);
	assert_int_equal(out(&f, "other")->state, SLOT_ACTIVE);
	assert_int_equal(out(&f, "alone")->state, SLOT_ACTIVE);
	teardown(&f);
}

void test_plan_tflite__fixed_outputs(void **state)
{
	struct builder b = one_convolution("c");
	builder_node(&b, "Sigmoid", "sigmoid", "c", "s");
	builder_node(&b, "Mul", "silu", "c s", "m");
	builder_node(&b, "Tanh", "tanh", "m", "t");
	builder_node(&b, "Softmax", "softmax", "t", "p");
	builder_node(&b, "LogSoftmax", "logsoftmax", "t", "q");
	builder_output(&b, "p");
	builder_output(&b, "q");
	struct fixture f;
	setup(&f, &b);
	has_grid(out(&f, "sigmoid"), 0x1p-8f, -128, 127);
	has_grid(in(&f, "silu", 0), 0x1p-6f, -20, 127);
	has_grid(in(&f, "silu", 1), 0x1p-8f, -128, 127);
	has_grid(out(&f, "tanh"), 0x1p-7f, 0, 127);
	has_grid(out(&f, "softmax"), 0x1p-8f, -128, 127);
	has_grid(out(&f, "logsoftmax"), 0x1p-4f, 127, 127);
	teardown(&f);
}

// Input and output have one scale: a pool has that of its input. What is joined is brought to the scale of the result where it
// is joined, and has its own before: a Sigmoid, which can have no other, and what has more readers. A mean has its own.
void test_plan_tflite__shared_scales(void **state)
{
	struct builder b = one_convolution("c");
	builder_node(&b, "Relu", "relu", "c", "r");
	builder_node(&b, "MaxPool", "pool", "r", "p");
	builder_node(&b, "Sigmoid", "sigmoid", "p", "s");
	builder_node(&b, "Concat", "concat", "r p s", "wide");
	builder_node(&b, "AveragePool", "average", "wide", "v");
	builder_node(&b, "GlobalAveragePool", "mean", "v", "y");
	builder_output(&b, "y");
	struct fixture f;
	setup(&f, &b);
	has_grid(out(&f, "relu"), 0x1p-6f, -20, 127);
	has_grid(out(&f, "pool"), 0x1p-6f, -20, 127);
	has_grid(out(&f, "sigmoid"), 0x1p-8f, -128, 127);
	for (int i = 0; i < 3; i++)
		has_grid(in(&f, "concat", i), 0x1p-4f, -50, 127);
	has_grid(out(&f, "concat"), 0x1p-4f, -50, 127);
	has_grid(out(&f, "average"), 0x1p-4f, -50, 127);
	has_grid(out(&f, "mean"), 0x1p-6f, -20, 127);
	teardown(&f);
}

void test_plan_tflite__no_16_bits(void **state)
{
	struct builder b = one_convolution("y");
	struct error err;
	builder_output(&b, "y");
	struct fixture f;
	setup(&f, &b);
	struct plan *bare = plan_bare(f.g, f.t);
	assert_int_equal(plan_check_edit(bare, node(&f, "conv"), PREC_INT16, &err), STATUS_REFUSED);
	assert_int_equal(plan_check_edit(bare, node(&f, "conv"), PREC_FLOAT, &err), STATUS_OK);
	plan_free(&bare);
	teardown(&f);
}
