// Plans of the target pytorch. Expected: what torch.ao.quantization's prepare_fx with its mapping
// for fbgemm (torch 1.13, run beside this program on these patterns) shares, fixes and fuses;
// scales by hand from its observers' formulas.
#include "plan_case.h"

// Every observed scale is 1/64 with zero point 20, except that of "wide", 1/16 with 50.
static void setup(struct fixture *f, struct builder *b)
{
	fixture_grids(f, b->g, "pytorch", (struct grid){0x1p-6f, 20}, (struct grid){0x1p-4f, 50});
}

void test_plan_pytorch__weights_have_all_codes(void **state)
{
	struct builder b = one_convolution("y");
	builder_output(&b, "y");
	struct fixture f;
	setup(&f, &b);
	const struct quantizer *w = &in(&f, "conv", 1)->quant;
	assert_int_equal(w->n, 2);
	assert_int_equal(w->qmin, -128);
	assert_float_equal(w->scale[0], 2.0 / 255, 1e-9);
	assert_float_equal(w->scale[1], .5 / 255, 1e-9);
	teardown(&f);
}

// A ReLU6 keeps the scale of what it reads, and a Relu too unless it runs with a convolution,
// a linear layer, a sum or a product.
void test_plan_pytorch__what_keeps_the_scale(void **state)
{
	struct builder b = one_convolution("wide");
	builder_node(&b, "Clip", "relu6", "wide low six", "c");
	builder_node(&b, "MaxPool", "pool", "c", "p");
	builder_node(&b, "Relu", "alone", "p", "r");
	builder_node(&b, "GlobalAveragePool", "mean", "r", "m");
	builder_node(&b, "Add", "add", "m m", "a");
	builder_node(&b, "Relu", "behind", "a", "y");
	builder_output(&b, "y");
	struct fixture f;
	setup(&f, &b);
	static const char *const keep[] = {"conv", "relu6", "pool", "alone", "mean"};
	for (size_t i = 0; i < sizeof keep / sizeof *keep; i++)
		has_grid(out(&f, keep[i]), 0x1p-4f, 50, 127);
	assert_int_equal(out(&f, "add")->state, SLOT_OVERLAPPED);
	has_grid(out(&f, "behind"), 0x1p-6f, 20, 127);
	teardown(&f);
}

// Those of Sigmoid and Tanh use all 256 codes, also behind a mean that keeps the scale.
void test_plan_pytorch__fixed_scales(void **state)
{
	struct builder b = one_convolution("c");
	builder_node(&b, "Sigmoid", "sigmoid", "c", "s");
	builder_node(&b, "GlobalAveragePool", "mean", "s", "m");
	builder_node(&b, "Tanh", "tanh", "m", "t");
	builder_node(&b, "Mul", "mul", "t c", "y");
	builder_output(&b, "y");
	struct fixture f;
	setup(&f, &b);
	has_grid(out(&f, "sigmoid"), 0x1p-8f, 0, 255);
	has_grid(in(&f, "mean", 0), 0x1p-8f, 0, 255);
	has_grid(out(&f, "mean"), 0x1p-8f, 0, 255);
	has_grid(out(&f, "tanh"), 0x1p-7f, 128, 255);
	has_grid(in(&f, "mul", 0), 0x1p-7f, 128, 255);
	has_grid(in(&f, "mul", 1), 0x1p-6f, 20, 127);
	teardown(&f);
}

// The observer of a Concat is that of all its inputs; a SiLU, which has none inside, is one operator.
void test_plan_pytorch__concat_and_silu(void **state)
{
	struct builder b = one_convolution("c");
	builder_node(&b, "Sigmoid", "sigmoid", "c", "s");
	builder_node(&b, "Mul", "mul", "c s", "m");
	builder_node(&b, "Concat", "concat", "c m", "wide");
	builder_output(&b, "wide");
	struct fixture f;
	setup(&f, &b);
	assert_int_equal(out(&f, "sigmoid")->state, SLOT_FLOAT);
	has_grid(out(&f, "conv"), 0x1p-4f, 50, 127);
	has_grid(out(&f, "mul"), 0x1p-4f, 50, 127);
	has_grid(out(&f, "concat"), 0x1p-4f, 50, 127);
	teardown(&f);
}
