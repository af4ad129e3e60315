// Plans of the target onnxruntime, of what its static quantizer (python/tools/quantization) has a rule of its own for.
// Expected: its rules, worked out by hand.
#include "plan_case.h"

static const struct grid usual = {0x1p-6f, 20};

// Its scale is a weight, without a sign only where weights are; its bias has the scale of a bias.
void test_plan_onnxruntime__a_normalization_has_weight_and_bias(void **state)
{
	static const char *const types[] = {"LayerNormalization", "InstanceNormalization", "BatchNormalization"};
	for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
		struct builder b = one_convolution("c");
		b.g->opset = 17;
		builder_constant(&b, "gain", DT_F32, shape_of(1, (int64_t[]){2}), (const float[]){2, .5f});
		builder_constant(&b, "shift", DT_F32, shape_of(1, (int64_t[]){2}), (const float[]){.25f, -1});
		builder_node(&b, types[i], "norm", i == 2 ? "c gain shift gain gain" : "c gain shift", "y");
		builder_output(&b, "y");
		struct fixture f;
		fixture_grids(&f, b.g, "onnxruntime", usual, usual);
		const struct quantizer *gain = &in(&f, "norm", 1)->quant, *shift = &in(&f, "norm", 2)->quant;
		has_grid(in(&f, "norm", 1), 2.0f / 127, 0, 127);
		assert_int_equal(gain->qmin, -127);
		assert_int_equal(gain->n, 1);
		assert_int_not_equal(in(&f, "norm", 2)->state, SLOT_FLOAT);
		assert_int_equal(shift->bits, 32);
		assert_float_equal(shift->scale[0], gain->scale[0] * usual.scale, 0);
		if (i == 2)
			assert_int_equal(in(&f, "norm", 3)->state, SLOT_FLOAT);
		teardown(&f);
	}
}

// What TopK picks keeps its codes, a CumSum has ranges of its own on both sides.
void test_plan_onnxruntime__topk_and_cumsum(void **state)
{
	struct builder b = one_convolution("wide");
	builder_constant(&b, "k", DT_I64, shape_of(1, (int64_t[]){1}), (const int64_t[]){3});
	builder_constant(&b, "axis", DT_I64, shape_of(0, NULL), (const int64_t[]){3});
	builder_node(&b, "TopK", "top", "wide k", "t places");
	builder_node(&b, "Exp", "exp", "t", "e");
	builder_node(&b, "CumSum", "sum", "e axis", "y");
	builder_output(&b, "y");
	struct fixture f;
	fixture_grids(&f, b.g, "onnxruntime", usual, (struct grid){0x1p-4f, 50});
	has_grid(in(&f, "top", 0), 0x1p-4f, 50, 255);
	has_grid(out(&f, "top"), 0x1p-4f, 50, 255);
	assert_int_equal(out(&f, "exp")->state, SLOT_FLOAT);
	has_grid(in(&f, "sum", 0), usual.scale, usual.zero, 255);
	has_grid(out(&f, "sum"), usual.scale, usual.zero, 255);
	teardown(&f);
}

// A Pad quantizes what it reads, whoever made that; other moves wait for somebody who does.
void test_plan_onnxruntime__a_pad_quantizes_its_input(void **state)
{
	struct builder b = builder_new();
	b.g->opset = 13;
	b.g->value[builder_input(&b, "x")].shape = shape_of(4, (int64_t[]){1, 2, 4, 4});
	b.g->value[builder_value(&b, "y")].shape = shape_of(4, (int64_t[]){1, 2, 6, 6});
	builder_constant(&b, "pads", DT_I64, shape_of(1, (int64_t[]){8}), (const int64_t[]){0, 0, 1, 1, 0, 0, 1, 1});
	builder_node(&b, "Transpose", "move", "x", "m");
	builder_node(&b, "Exp", "exp", "m", "e");
	int pad = builder_node(&b, "Pad", "pad", "e pads", "y");
	*(struct pad_attrs *)b.g->node[pad].attrs = (struct pad_attrs){.mode = "constant"};
	builder_output(&b, "y");
	struct fixture f;
	fixture_grids(&f, b.g, "onnxruntime", usual, usual);
	assert_false(f.p->quantizable[node(&f, "move")]);
	has_grid(in(&f, "pad", 0), usual.scale, usual.zero, 255);
	assert_int_equal(out(&f, "pad")->state, SLOT_OVERLAPPED);
	teardown(&f);
}

// What the arguments reduce_range and WeightSymmetric make of weights of 1 and -.25: 129 codes, or all 256 with a zero point.
void test_plan_onnxruntime__weights_of_other_arguments(void **state)
{
	static const struct { const char *target; double scale; int zero, qmin, qmax; } cases[] = {
		{"onnxruntime", 1.0 / 127, 0, -127, 127},
		{"onnxruntime,weight.reduce_range=true", 1.0 / 64, 0, -64, 64},
		{"onnxruntime,weight.symmetric=false", 1.0 / 255, -128, -128, 127},
		{"onnxruntime,weight.signed=false,weight.symmetric=false", 1.0 / 255, 0, 0, 255},
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct builder b = one_convolution("y");
		builder_output(&b, "y");
		struct fixture f;
		fixture_grids(&f, b.g, cases[i].target, usual, usual);
		const struct quantizer *w = &in(&f, "conv", 1)->quant;
		assert_float_equal(w->scale[0], cases[i].scale, 1e-9);
		assert_int_equal(w->zero[0], cases[i].zero);
		assert_int_equal(w->qmin, cases[i].qmin);
		assert_int_equal(w->qmax, cases[i].qmax);
		teardown(&f);
	}
}

// x -> two Convs; a Where of both, one of its result and a constant, one that reads what another Conv rounds first.
static struct graph *three_choices(void)
{
	static const char *const made[] = {"picked", "masked", "e", "late"};
	struct builder b = one_convolution("c");
	struct shape image = shape_of(4, (int64_t[]){1, 2, 4, 4});
	for (size_t i = 0; i < sizeof made / sizeof *made; i++)
		b.g->value[builder_value(&b, made[i])].shape = image;
	b.g->value[builder_input(&b, "mask")].type = DT_BOOL;
	builder_node(&b, "Conv", "other", "x w bias", "o");
	builder_node(&b, "Where", "choose", "mask c o", "picked");
	builder_node(&b, "Where", "hide", "mask picked low", "masked");
	builder_node(&b, "Exp", "exp", "masked", "e");
	builder_node(&b, "Conv", "reader", "e w", "r");
	builder_node(&b, "Where", "again", "mask e picked", "late");
	builder_output(&b, "masked");
	builder_output(&b, "late");
	return b.g;
}

// A Where is quantized where both that it chooses from are already, whatever its condition is.
void test_plan_onnxruntime__a_where_follows_both_that_it_chooses_from(void **state)
{
	struct fixture f;
	fixture_grids(&f, three_choices(), "onnxruntime", usual, usual);
	has_grid(out(&f, "choose"), usual.scale, usual.zero, 255);
	assert_int_equal(in(&f, "choose", 0)->state, SLOT_FLOAT);
	assert_int_equal(in(&f, "choose", 1)->state, SLOT_OVERLAPPED);
	assert_false(f.p->quantizable[node(&f, "hide")]);
	assert_int_equal(out(&f, "hide")->state, SLOT_FLOAT);
	has_grid(out(&f, "again"), usual.scale, usual.zero, 255);
	teardown(&f);
}

// A Where that quantizes what it reads does so: AMD's A8W8, and every operator of VINT8.
void test_plan_onnxruntime__a_where_of_amd_quantizes_its_constant(void **state)
{
	static const char *const targets[] = {"a8w8", "vint8"};
	for (size_t i = 0; i < sizeof targets / sizeof *targets; i++) {
		struct fixture f;
		fixture_grids(&f, three_choices(), targets[i], usual, usual);
		assert_true(f.p->quantizable[node(&f, "hide")]);
		assert_int_equal(in(&f, "hide", 2)->state, SLOT_ACTIVE);
		assert_int_equal(in(&f, "hide", 0)->state, SLOT_FLOAT);
		teardown(&f);
	}
}

// x -> Conv -> Clip -> Conv -> y.
static struct graph *clipped_convolution(void)
{
	struct builder b = one_convolution("c");
	builder_node(&b, "Clip", "clip", "c low six", "wide");
	builder_node(&b, "Conv", "next", "wide w", "y");
	builder_output(&b, "y");
	return b.g;
}

// ActivationSymmetric: a Clip is left out only where codes end at its limits. It stays, with floats as limits, and what it
// reads is rounded for itself.
void test_plan_onnxruntime__a_clip_stays_where_codes_are_symmetric(void **state)
{
	static const struct grid here = {0x1p-6f, 0}, wide = {0x1p-4f, 0};
	struct fixture f;
	fixture_grids(&f, clipped_convolution(), "onnxruntime,activation.symmetric=true,activation.signed=true", here, wide);
	has_grid(out(&f, "conv"), here.scale, 0, 127);
	assert_int_equal(out(&f, "conv")->state, SLOT_ACTIVE);
	assert_int_equal(in(&f, "clip", 2)->state, SLOT_FLOAT);
	has_grid(out(&f, "clip"), wide.scale, 0, 127);
	teardown(&f);
	fixture_grids(&f, clipped_convolution(), "onnxruntime", here, wide);
	assert_int_equal(out(&f, "conv")->state, SLOT_OVERLAPPED);
	has_grid(out(&f, "conv"), wide.scale, 0, 255);
	teardown(&f);
}

// Scales of symmetric activations are chosen for -127 .. 127, or for all the codes without a sign.
void test_plan_onnxruntime__scales_of_symmetric_activations(void **state)
{
	static const struct { const char *target; double scale; int zero; } cases[] = {
		{"onnxruntime,activation.symmetric=true,activation.signed=true", 2.0 / 127, 0},
		{"onnxruntime,activation.symmetric=true", 4.0 / 255, 128},
		{"onnxruntime,activation.signed=true", 3.0 / 255, -43},
	};
	static const float x[2] = {-1, 2};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct builder b = one_convolution("c");
		struct fixture f;
		builder_constant(&b, "shift", DT_F32, shape_of(1, (int64_t[]){2}), x);
		builder_node(&b, "Add", "add", "c shift", "y");
		builder_output(&b, "y");
		fixture_plan(&f, b.g, cases[i].target, CALIB_MINMAX);
		struct quantizer q = in(&f, "add", 1)->quant;
		assert_float_equal(q.scale[0], (float)cases[i].scale, 0);
		assert_int_equal(q.zero[0], cases[i].zero);
		teardown(&f);
	}
}

// A MatMul has scales along dimension 1 of whatever constant it multiplies: columns of a matrix, rows of several, and what
// the left one is summed over. A vector has one.
void test_plan_onnxruntime__constants_of_a_product(void **state)
{
	static const float left[6] = {1, 2, 3, -4, 0, .5f}, right[8] = {1, -2, 3, 4, -5, 6, 7, 8};
	struct builder b = builder_new();
	b.g->value[builder_input(&b, "x")].shape = shape_of(3, (int64_t[]){1, 3, 2});
	builder_constant(&b, "left", DT_F32, shape_of(2, (int64_t[]){2, 3}), left);
	builder_constant(&b, "several", DT_F32, shape_of(3, (int64_t[]){2, 2, 2}), right);
	builder_constant(&b, "vector", DT_F32, shape_of(1, (int64_t[]){2}), right);
	builder_node(&b, "MatMul", "first", "left x", "l");
	builder_node(&b, "MatMul", "second", "l several", "r");
	builder_node(&b, "MatMul", "third", "r vector", "y");
	builder_output(&b, "y");
	struct fixture f;
	fixture_grids(&f, b.g, "onnxruntime", usual, usual);
	const struct quantizer *l = &in(&f, "first", 0)->quant, *r = &in(&f, "second", 1)->quant, *v = &in(&f, "third", 1)->quant;
	assert_int_equal(l->qmin, -127);
	assert_int_equal(l->axis, 1);
	assert_int_equal(l->n, 3);
	assert_float_equal(l->scale[0], 4.0f / 127, 0);
	assert_float_equal(l->scale[1], 2.0f / 127, 0);
	assert_int_equal(r->axis, 1);
	assert_float_equal(r->scale[0], 6.0f / 127, 0);
	assert_float_equal(r->scale[1], 8.0f / 127, 0);
	assert_int_equal(v->n, 1);
	teardown(&f);
}

// Behind a Conv that is excluded the tool leaves a Relu and a MaxPool as they are: only the next Conv rounds what it reads.
void test_plan_onnxruntime__what_takes_its_input_follows_an_edit(void **state)
{
	for (int edited = 0; edited < 2; edited++) {
		struct builder b = one_convolution("c");
		struct fixture f;
		builder_node(&b, "Relu", "relu", "c", "r");
		builder_node(&b, "MaxPool", "pool", "r", "p");
		builder_node(&b, "Conv", "next", "p w", "y");
		builder_output(&b, "y");
		fixture_plan(&f, b.g, "onnxruntime", CALIB_MINMAX);
		if (edited) {
			f.e->precision[node(&f, "conv")] = PREC_FLOAT;
			f.e->precision[node(&f, "relu")] = PREC_INT8;
			fixture_replan(&f);
		}
		assert_true(f.p->quantizable[node(&f, "relu")]);
		assert_int_equal(f.p->precision[node(&f, "relu")], edited ? PREC_FLOAT : PREC_INT8);
		assert_int_equal(f.p->precision[node(&f, "pool")], edited ? PREC_FLOAT : PREC_INT8);
		assert_int_equal(in(&f, "relu", 0)->state, edited ? SLOT_FLOAT : SLOT_OVERLAPPED);
		assert_int_equal(in(&f, "next", 0)->state, edited ? SLOT_ACTIVE : SLOT_OVERLAPPED);
		assert_int_equal(f.p->n_refused, edited);
		if (edited)
			assert_non_null(strstr(f.p->refused[0].reason, "what it reads comes in float"));
		teardown(&f);
	}
}
