// Properties of plans on small graphs: purity, sharing, and what a target decides for each operator.
#include <math.h>
#include "plan_case.h"

static int id_of(const struct fixture *f, const struct slot *s)
{
	return (int)(s - f->p->slot);
}

static bool same_plan(const struct plan *a, const struct plan *b)
{
	if (a->n_slots != b->n_slots || a->n_observe != b->n_observe)
		return false;
	for (int i = 0; i < a->n_slots; i++) {
		const struct slot *s = &a->slot[i], *t = &b->slot[i];
		if (s->state != t->state || s->follows != t->follows || s->locked != t->locked || s->observe != t->observe)
			return false;
		const struct quantizer *q = slot_quantizer(s), *r = slot_quantizer(t);
		if ((q == NULL) != (r == NULL) || (q && a->finished && b->finished && !quantizer_equal(q, r)))
			return false;
	}
	return true;
}

void test_plan__is_a_pure_function(void **state)
{
	struct fixture f, g;
	fixture_small(&f, "esp32p4");
	fixture_small(&g, "esp32p4");
	assert_true(same_plan(f.p, g.p));
	f.e->precision[node(&f, "conv2")] = PREC_INT16;
	fixture_replan(&f);
	assert_false(same_plan(f.p, g.p));
	f.e->precision[node(&f, "conv2")] = -1; // undo
	fixture_replan(&f);
	fixture_finish(&f);
	fixture_finish(&g);
	assert_true(same_plan(f.p, g.p));
	teardown(&f);
	teardown(&g);
}

void test_plan__every_follower_has_a_root(void **state)
{
	static const char *const targets[] = {"esp32p4", "tensorrt", "ppl_cuda", "fpga", "qnn", "onnxruntime", "xint8", "a16w8", "pytorch", "tflite",
	    "fp16"};
	for (size_t k = 0; k < sizeof targets / sizeof *targets; k++) {
		struct fixture f;
		fixture_small(&f, targets[k]);
		for (int i = 0; i < f.p->n_slots; i++) {
			const struct slot *s = &f.p->slot[i];
			assert_true(s->state != SLOT_OVERLAPPED || s->follows >= 0);
			if (s->follows < 0)
				continue;
			assert_int_equal(f.p->slot[s->follows].state, SLOT_ACTIVE);
			assert_int_equal(f.p->slot[s->follows].follows, -1);
		}
		teardown(&f);
	}
}

void test_plan__activation_shares_its_end(void **state)
{
	struct fixture f;
	fixture_small(&f, "esp32p4");
	int end = id_of(&f, out(&f, "relu1"));
	assert_int_equal(out(&f, "conv1")->state, SLOT_OVERLAPPED);
	assert_int_equal(out(&f, "conv1")->follows, end);
	assert_int_equal(in(&f, "relu1", 0)->follows, end);
	assert_int_equal(out(&f, "pool")->follows, end); // passes the scale on
	assert_int_equal(in(&f, "conv2", 0)->follows, end);
	const struct group *g = &f.p->group[node(&f, "relu1")];
	assert_int_equal(g->kind, GROUP_ACTIVATION);
	assert_int_equal(g->owner, node(&f, "conv1"));
	assert_int_equal(g->last, node(&f, "relu1"));
	teardown(&f);
}

void test_plan__swish_is_one_operator(void **state)
{
	struct fixture f;
	fixture_small(&f, "esp32p4");
	assert_int_equal(out(&f, "sigmoid")->state, SLOT_FLOAT);
	assert_int_equal(in(&f, "mul", 1)->state, SLOT_FLOAT);
	assert_int_equal(in(&f, "sigmoid", 0)->follows, id_of(&f, out(&f, "conv2")));
	assert_int_equal(in(&f, "mul", 0)->follows, id_of(&f, out(&f, "conv2")));
	assert_int_equal(in(&f, "mul", 0)->state, SLOT_OVERLAPPED);
	assert_int_equal(f.p->group[node(&f, "sigmoid")].kind, GROUP_SWISH);
	assert_int_equal(f.p->group[node(&f, "sigmoid")].last, node(&f, "mul"));
	// The Conv is float: the Sigmoid quantizes x itself, and the Mul reads the same codes.
	f.e->precision[node(&f, "conv2")] = PREC_FLOAT;
	fixture_replan(&f);
	assert_int_equal(in(&f, "sigmoid", 0)->state, SLOT_ACTIVE);
	assert_int_equal(in(&f, "mul", 0)->state, SLOT_PASSIVE);
	assert_int_equal(in(&f, "mul", 0)->follows, id_of(&f, in(&f, "sigmoid", 0)));
	teardown(&f);
}

// The Mul may read the gate first.
void test_plan__swish_in_the_other_order(void **state)
{
	static const float w = 0.5f;
	struct builder b = builder_new();
	struct fixture f;
	b.g->value[builder_input(&b, "x")].shape = shape_of(4, (int64_t[]){1, 1, 4, 4});
	builder_constant(&b, "w", DT_F32, shape_of(4, (int64_t[]){1, 1, 1, 1}), &w);
	builder_node(&b, "Conv", "conv", "x w", "c");
	builder_node(&b, "Sigmoid", "sigmoid", "c", "s");
	builder_node(&b, "Mul", "mul", "s c", "y");
	builder_output(&b, "y");
	fixture_plan(&f, b.g, "esp32p4", -1);
	f.e->precision[node(&f, "conv")] = PREC_FLOAT;
	fixture_replan(&f);
	assert_int_equal(in(&f, "mul", 0)->state, SLOT_FLOAT);
	assert_int_equal(in(&f, "mul", 1)->state, SLOT_PASSIVE);
	assert_int_equal(in(&f, "mul", 1)->follows, id_of(&f, in(&f, "sigmoid", 0)));
	teardown(&f);
}

void test_plan__swish_under_tensorrt_has_one_quantizer(void **state)
{
	struct fixture f;
	fixture_small(&f, "tensorrt");
	int end = id_of(&f, in(&f, "add", 0)); // aligned to the larger input, which pulls the Mul's output in
	assert_int_equal(out(&f, "mul")->follows, end);
	assert_int_equal(out(&f, "mul")->state, SLOT_PASSIVE);
	assert_int_equal(out(&f, "conv2")->follows, end);
	assert_int_equal(out(&f, "sigmoid")->state, SLOT_OVERLAPPED);
	assert_int_equal(f.p->group[node(&f, "mul")].owner, node(&f, "conv2"));
	teardown(&f);
}

// A gate that something else reads, too, is a tensor of its own; so is what a Clip with a computed limit reads.
void test_plan__what_others_read_or_give_is_not_fused(void **state)
{
	static const float w[4] = {0.5f, 0.25f, -1.5f, 2.0f};
	struct builder b = builder_new();
	struct fixture f;
	b.g->value[builder_input(&b, "x")].shape = shape_of(4, (int64_t[]){1, 2, 4, 4});
	builder_constant(&b, "w", DT_F32, shape_of(4, (int64_t[]){2, 2, 1, 1}), w);
	builder_constant(&b, "none", DT_F32, shape_of(0, NULL), w);
	builder_node(&b, "Conv", "conv", "x w", "c");
	builder_node(&b, "Sigmoid", "sigmoid", "c", "s");
	builder_node(&b, "Mul", "mul", "c s", "m");
	builder_node(&b, "Add", "add", "m s", "a");
	builder_node(&b, "Conv", "second", "a w", "d");
	builder_node(&b, "ReduceMax", "most", "x", "limit");
	builder_node(&b, "Clip", "clip", "d none limit", "y");
	builder_output(&b, "y");
	fixture_plan(&f, b.g, "tensorrt", -1);
	assert_int_equal(out(&f, "sigmoid")->state == SLOT_OVERLAPPED, false);
	assert_int_equal(f.p->group[node(&f, "mul")].kind, GROUP_NONE);
	teardown(&f);
	b = builder_new();
	b.g->value[builder_input(&b, "x")].shape = shape_of(4, (int64_t[]){1, 2, 4, 4});
	builder_constant(&b, "w", DT_F32, shape_of(4, (int64_t[]){2, 2, 1, 1}), w);
	builder_constant(&b, "none", DT_F32, shape_of(0, NULL), w);
	builder_node(&b, "Conv", "second", "x w", "d");
	builder_node(&b, "Neg", "most", "none", "limit");
	builder_node(&b, "Clip", "clip", "d none limit", "y");
	builder_output(&b, "y");
	fixture_plan(&f, b.g, "esp32p4", -1);
	assert_int_equal(f.p->group[node(&f, "clip")].kind, GROUP_NONE);
	assert_int_equal(out(&f, "second")->state, SLOT_ACTIVE);
	teardown(&f);
}

// One scale for all inputs covers what each reaches, below zero and above it.
void test_plan__the_larger_range_covers_both(void **state)
{
	static const char json[] = "{\"name\": \"wide\", \"base\": \"onnxruntime\", \"alignment\": {\"to_large\": [\"Add\"]}}";
	struct fixture f;
	float scale[64];
	int32_t zero[64];
	struct error err;
	fixture_small(&f, support_temp_file("wide.json", json, sizeof json - 1));
	for (int i = 0; i < f.p->n_observe; i++) {
		bool first = strcmp(f.g->value[f.p->observe[i].value].name, "m") == 0;
		scale[i] = first ? 0.25f : 0.5f; // -25 .. 38.75 and 0 .. 127.5
		zero[i] = first ? 100 : 0;
	}
	assert_int_equal(plan_finish(f.p, scale, zero, f.e, &err), STATUS_OK);
	assert_float_equal(in(&f, "add", 0)->quant.scale[0], 152.5 / 255, 1e-6);
	assert_float_equal(in(&f, "add", 1)->quant.scale[0], 152.5 / 255, 1e-6);
	assert_int_equal(in(&f, "add", 1)->quant.zero[0], 42);
	teardown(&f);
}

// As esp-ppq newer than 1.3.5 has it: the merged Swish is an activation.
void test_plan__merged_swish_fuses(void **state)
{
	static const char json[] = "{\"name\": \"newer\", \"base\": \"esp32p4\", \"fusion\": {\"swish\": \"merge_and_fuse\"}}";
	struct fixture f;
	fixture_small(&f, support_temp_file("newer.json", json, sizeof json - 1));
	assert_int_equal(out(&f, "conv2")->state, SLOT_OVERLAPPED);
	assert_int_equal(in(&f, "sigmoid", 0)->state, SLOT_OVERLAPPED);
	assert_int_equal(in(&f, "mul", 0)->state, SLOT_OVERLAPPED);
	assert_int_equal(out(&f, "sigmoid")->state, SLOT_FLOAT);
	assert_int_equal(out(&f, "conv2")->follows, out(&f, "mul")->follows);
	assert_int_equal(f.p->group[node(&f, "mul")].kind, GROUP_SWISH);
	assert_int_equal(f.p->group[node(&f, "mul")].owner, node(&f, "conv2"));
	// The Conv has other bits: its output has a quantizer of its own.
	f.e->precision[node(&f, "conv2")] = PREC_INT16;
	fixture_replan(&f);
	assert_int_equal(out(&f, "conv2")->state, SLOT_ACTIVE);
	assert_int_equal(f.p->group[node(&f, "mul")].owner, node(&f, "mul"));
	teardown(&f);
}

void test_plan__alignment_pulls_single_consumers_only(void **state)
{
	struct fixture f;
	fixture_small(&f, "esp32p4");
	int sum = id_of(&f, out(&f, "add"));
	assert_int_equal(in(&f, "add", 0)->follows, sum);
	assert_int_equal(in(&f, "add", 1)->follows, sum);
	assert_int_equal(out(&f, "mul")->follows, sum);
	assert_int_equal(out(&f, "mul")->state, SLOT_PASSIVE);
	assert_true(out(&f, "pool")->follows != sum); // read by conv2 too, and passive
	teardown(&f);
}

// What is compared shares one range, also where it is made; what comes of it has no scale.
void test_plan__comparisons_read_one_scale(void **state)
{
	static const float w1[2] = {1, -0.25f}, w2[2] = {4, 8}, limit = 0.5f;
	struct fixture f;
	struct builder b = builder_new();
	int x = builder_input(&b, "x");
	b.g->value[x].shape = shape_of(4, (int64_t[]){1, 1, 4, 4});
	builder_constant(&b, "w1", DT_F32, shape_of(4, (int64_t[]){2, 1, 1, 1}), w1);
	builder_constant(&b, "w2", DT_F32, shape_of(4, (int64_t[]){2, 1, 1, 1}), w2);
	builder_constant(&b, "limit", DT_F32, shape_of(0, NULL), &limit);
	builder_node(&b, "Conv", "conv1", "x w1", "c1");
	builder_node(&b, "Conv", "conv2", "x w2", "c2");
	builder_node(&b, "Greater", "greater", "c1 c2", "g");
	builder_node(&b, "Relu", "relu", "x", "r");
	builder_node(&b, "LessOrEqual", "less", "r limit", "l");
	builder_node(&b, "And", "and", "g l", "y");
	builder_output(&b, "y");
	const char *const bools[] = {"g", "l", "y"};
	for (size_t i = 0; i < sizeof bools / sizeof *bools; i++)
		b.g->value[namemap_get(b.g->value_by_name, bools[i])].type = DT_BOOL;
	fixture_plan(&f, b.g, "esp32p4", -1);
	int shared = id_of(&f, in(&f, "greater", 0));
	assert_int_equal(in(&f, "greater", 0)->state, SLOT_ACTIVE);
	assert_int_equal(in(&f, "greater", 1)->follows, shared);
	assert_int_equal(out(&f, "conv1")->follows, shared);
	assert_int_equal(out(&f, "conv2")->follows, shared);
	assert_int_equal(out(&f, "greater")->state, SLOT_FLOAT);
	assert_int_equal(in(&f, "less", 1)->follows, id_of(&f, in(&f, "less", 0)));
	assert_int_equal(in(&f, "and", 0)->state, SLOT_FLOAT);
	teardown(&f);
}

void test_plan__observes_only_what_decides(void **state)
{
	struct fixture f;
	fixture_small(&f, "esp32p4");
	for (int i = 0; i < f.p->n_slots; i++) {
		const struct slot *s = &f.p->slot[i];
		bool decides = s->state == SLOT_ACTIVE && !s->parameter;
		assert_int_equal(s->observe >= 0, decides);
	}
	assert_int_equal(out(&f, "mul")->observe, -1); // takes the sum's scale
	teardown(&f);
	fixture_small(&f, "tensorrt");
	assert_true(out(&f, "mul")->observe >= 0); // goes into the larger of two
	teardown(&f);
}

void test_plan__integers_and_fixed_outputs(void **state)
{
	struct fixture f;
	fixture_small(&f, "esp32p4");
	assert_false(f.p->quantizable[node(&f, "shapeof")]);
	assert_int_equal(in(&f, "reshape", 1)->state, SLOT_FLOAT);
	assert_int_equal(out(&f, "softmax")->state, SLOT_FLOAT);
	assert_int_equal(f.p->precision[node(&f, "softmax")], PREC_FLOAT);
	assert_int_equal(in(&f, "reshape", 0)->state, SLOT_ACTIVE);
	teardown(&f);
	fixture_small(&f, "onnxruntime");
	assert_int_equal(out(&f, "softmax")->observe, -1);
	fixture_finish(&f);
	assert_float_equal(out(&f, "softmax")->quant.scale[0], 1.0 / 255, 1e-9);
	assert_int_equal(out(&f, "softmax")->quant.zero[0], 0);
	teardown(&f);
}

void test_plan__bias_is_input_times_weight(void **state)
{
	struct fixture f;
	fixture_small(&f, "esp32p4");
	fixture_finish(&f);
	const struct quantizer *w = &in(&f, "conv1", 1)->quant, *b = &in(&f, "conv1", 2)->quant;
	assert_int_equal(b->n, 2);
	assert_int_equal(b->bits, 32);
	assert_float_equal(w->scale[0], 0x1p-6, 0); // 2 * 1 / 255, rounded up
	assert_float_equal(w->scale[1], 0x1p-8, 0);
	for (int i = 0; i < 2; i++)
		assert_float_equal(b->scale[i], w->scale[i] * 0x1p-6f, 0);
	int64_t codes[2];
	int16_t weights[2];
	codes_of_bias(codes, plan_constant(f.p, id_of(&f, in(&f, "conv1", 2))), slot_quantizer(in(&f, "conv1", 2)));
	assert_int_equal(codes[0], 2048);
	assert_int_equal(codes[1], -2048);
	codes_of_weights(weights, plan_constant(f.p, id_of(&f, in(&f, "conv1", 1))), slot_quantizer(in(&f, "conv1", 1)));
	assert_int_equal(weights[0], 64);
	assert_int_equal(weights[1], -64);
	teardown(&f);
}

// Quark for the NPU (Int32Bias unset) quantizes a bias as it does a weight:
// in units of input times weight it would not fit 8 bits.
void test_plan__a_bias_with_a_scale_of_its_own(void **state)
{
	struct fixture f;
	fixture_small(&f, "xint8");
	fixture_finish(&f);
	const struct slot *b = in(&f, "conv1", 2); // .5 and -.125
	assert_int_equal(b->state, SLOT_ACTIVE);
	assert_int_equal(b->quant.bits, 8);
	assert_int_equal(b->quant.n, 1);
	assert_float_equal(b->quant.scale[0], 0x1p-7f, 0);
	teardown(&f);
}

// ONNX Runtime since 1.20: a channel of tiny weights has as large a step as its bias
// needs in 32 bits, the others theirs.
void test_plan__a_bias_widens_the_weights_steps(void **state)
{
	struct fixture f;
	fixture_small(&f, "onnxruntime");
	float *w1 = f.g->value[namemap_get(f.g->value_by_name, "w1")].constant->data;
	w1[1] = -1e-12f;
	fixture_replan(&f);
	fixture_finish(&f);
	const struct quantizer *w = &in(&f, "conv1", 1)->quant, *b = &in(&f, "conv1", 2)->quant;
	assert_float_equal(w->scale[0], 1.0f / 127, 1e-9);
	double needed = 1.0001 * .125 / 2147483647.0;
	assert_float_equal(w->scale[1] * 0x1p-6 / needed, 1, 1e-6);
	assert_float_equal(b->scale[1], w->scale[1] * 0x1p-6f, 0);
	int64_t codes[2];
	codes_of_bias(codes, plan_constant(f.p, id_of(&f, in(&f, "conv1", 2))), slot_quantizer(in(&f, "conv1", 2)));
	assert_in_range(-codes[1], 2147200000, 2147483647);
	assert_float_equal(codes[1] * (double)b->scale[1], -.125, 1e-6);
	teardown(&f);
}

// x is read by a Transpose, then by a Conv, then by another Transpose;
// t, which nobody quantizes, by a Transpose and by a Split.
static struct graph *moves_of_floats(void)
{
	static const float w[4] = {1, -0.25f, 0.5f, 2};
	struct builder b = builder_new();
	int x = builder_input(&b, "x");
	b.g->value[x].shape = shape_of(4, (int64_t[]){1, 2, 4, 4});
	builder_constant(&b, "w", DT_F32, shape_of(4, (int64_t[]){2, 2, 1, 1}), w);
	builder_node(&b, "Transpose", "early", "x", "a");
	builder_node(&b, "Conv", "conv", "x w", "c");
	builder_node(&b, "Transpose", "late", "x", "d");
	builder_node(&b, "Tanh", "tanh", "x", "t");
	builder_node(&b, "Transpose", "alone", "t", "e");
	builder_node(&b, "Split", "split", "t", "f g");
	for (const char *y = "acdefg"; *y; y++)
		builder_output(&b, (const char[]){*y, '\0'});
	return b.g;
}

// ONNX Runtime goes through the nodes once: what is quantized by then keeps its scale
// where it is only moved, whoever makes it.
void test_plan__moves_of_what_others_quantize(void **state)
{
	struct fixture f = {.g = moves_of_floats()};
	struct error err;
	assert_int_equal(target_load(&f.t, "onnxruntime", &err), STATUS_OK);
	f.e = edits_new(f.g);
	fixture_replan(&f);
	assert_false(f.p->quantizable[node(&f, "early")]);
	assert_int_equal(out(&f, "late")->follows, id_of(&f, in(&f, "late", 0)));
	assert_int_equal(in(&f, "late", 0)->observe, in(&f, "conv", 0)->observe);
	assert_false(f.p->quantizable[node(&f, "alone")]);
	assert_int_equal(in(&f, "split", 0)->state, SLOT_ACTIVE);
	assert_int_equal(plan_out(f.p, node(&f, "split"), 1)->follows, id_of(&f, in(&f, "split", 0)));
	teardown(&f);
}

// A Conv, and what it gives with `value` around it: an input from opset 11 on, an attribute before.
static struct graph *padded(int opset, float value)
{
	struct builder b = builder_new();
	b.g->opset = opset;
	b.g->value[builder_input(&b, "x")].shape = (struct shape){4, {1, 2, 4, 4}};
	b.g->value[builder_value(&b, "c")].shape = (struct shape){4, {1, 3, 4, 4}};
	b.g->value[builder_value(&b, "y")].shape = (struct shape){4, {1, 3, 6, 6}};
	builder_constant(&b, "w", DT_F32, (struct shape){4, {3, 2, 1, 1}}, (const float[]){1, 2, 3, 4, 5, 6});
	builder_constant(&b, "pads", DT_I64, (struct shape){1, {8}}, (const int64_t[]){0, 0, 1, 1, 0, 0, 1, 1});
	builder_constant(&b, "value", DT_F32, (struct shape){0}, &value);
	builder_node(&b, "Conv", "conv", "x w", "c");
	int pad = builder_node(&b, "Pad", "pad", opset < 11 ? "c" : "c pads value", "y");
	*(struct pad_attrs *)b.g->node[pad].attrs = (struct pad_attrs){.mode = "constant", .value = value};
	builder_output(&b, "y");
	return b.g;
}

static enum slot_state state_of_padded(const char *target, int opset, float value)
{
	struct fixture f;
	fixture_plan(&f, padded(opset, value), target, -1);
	enum slot_state s = out(&f, "pad")->state;
	teardown(&f);
	return s;
}

// What a Pad adds is rounded as its input is, by its own quantizer or, where it is an attribute, by the output's;
// ONNX Runtime gives such an output a range of its own.
void test_plan__pad_by_another_value_than_zero(void **state)
{
	assert_int_equal(state_of_padded("esp32p4", 13, -1), SLOT_OVERLAPPED);
	assert_int_equal(state_of_padded("esp32p4", 10, 0), SLOT_OVERLAPPED);
	assert_int_equal(state_of_padded("esp32p4", 10, -1), SLOT_PASSIVE);
	assert_int_equal(state_of_padded("onnxruntime", 13, 0), SLOT_OVERLAPPED);
	assert_int_equal(state_of_padded("onnxruntime", 13, -1), SLOT_ACTIVE);
	assert_int_equal(state_of_padded("onnxruntime", 10, -1), SLOT_ACTIVE);
}

// x -> Conv -> Relu, and what lies between them is an output.
static struct graph *two_outputs(void)
{
	struct builder b = builder_new();
	b.g->value[builder_input(&b, "x")].shape = (struct shape){4, {1, 1, 4, 4}};
	builder_constant(&b, "w", DT_F32, (struct shape){4, {2, 1, 1, 1}}, (const float[]){1, -2});
	builder_node(&b, "Conv", "conv", "x w", "c");
	builder_node(&b, "Relu", "relu", "c", "y");
	builder_output(&b, "c");
	builder_output(&b, "y");
	return b.g;
}

// PPQ counts who reads a tensor, ONNX Runtime and torch ask whether it is an output too.
void test_plan__fusion_ends_at_outputs(void **state)
{
	static const struct { const char *target; enum slot_state conv, relu; } cases[] = {
		{"onnxruntime", SLOT_ACTIVE, SLOT_ACTIVE}, {"a8w8", SLOT_ACTIVE, SLOT_ACTIVE}, {"xint8", SLOT_ACTIVE, SLOT_ACTIVE},
		{"pytorch", SLOT_ACTIVE, SLOT_PASSIVE}, {"esp32p4", SLOT_OVERLAPPED, SLOT_ACTIVE},
		{"tensorrt", SLOT_OVERLAPPED, SLOT_ACTIVE}, {"xquant", SLOT_OVERLAPPED, SLOT_ACTIVE},
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct fixture f;
		fixture_plan(&f, two_outputs(), cases[i].target, -1);
		assert_int_equal(out(&f, "conv")->state, cases[i].conv);
		assert_int_equal(out(&f, "relu")->state, cases[i].relu);
		teardown(&f);
	}
}

// Softsign is float there. PPQ finds what it quantizes on ways from one computing operator to another: the last one,
// which nothing quantized feeds, is on none.
void test_plan__tensorrt_leaves_a_last_product_in_float_behind_a_float(void **state)
{
	static const struct {
		const char *between;
		enum slot_state want;
	} cases[] = {{"Softsign", SLOT_FLOAT}, {"Relu", SLOT_ACTIVE}};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		const float w[4] = {1, 2, 3, 4};
		struct fixture f;
		struct builder b = builder_new();
		b.g->value[builder_input(&b, "x")].shape = shape_of(4, (int64_t[]){1, 2, 4, 4});
		builder_constant(&b, "w", DT_F32, shape_of(4, (int64_t[]){2, 2, 1, 1}), w);
		builder_node(&b, "Conv", "first", "x w", "c");
		builder_node(&b, cases[i].between, "between", "c", "s");
		builder_node(&b, "Conv", "last", "s w", "y");
		builder_output(&b, "y");
		fixture_plan(&f, b.g, "tensorrt", -1);
		assert_int_equal(out(&f, "last")->state, cases[i].want);
		assert_int_equal(in(&f, "last", 1)->state, cases[i].want);
		assert_int_equal(in(&f, "first", 0)->state, SLOT_ACTIVE);
		teardown(&f);
	}
}

// PPL CUDA has no integer MatMul: it stays in float, and what it leads to is quantized all the same.
void test_plan__ppl_cuda_goes_on_behind_a_float_product(void **state)
{
	const float w[4] = {1, 2, 3, 4};
	struct fixture f;
	struct builder b = builder_new();
	b.g->value[builder_input(&b, "x")].shape = shape_of(2, (int64_t[]){1, 2});
	builder_constant(&b, "w", DT_F32, shape_of(2, (int64_t[]){2, 2}), w);
	builder_node(&b, "Sigmoid", "before", "x", "s");
	builder_node(&b, "MatMul", "product", "s w", "p");
	builder_node(&b, "Sigmoid", "behind", "p", "t");
	builder_node(&b, "Mul", "last", "t t", "y");
	builder_output(&b, "y");
	fixture_plan(&f, b.g, "ppl_cuda", -1);
	assert_int_equal(out(&f, "before")->state, SLOT_FLOAT);
	assert_int_equal(in(&f, "product", 1)->state, SLOT_FLOAT);
	assert_int_equal(in(&f, "behind", 0)->state, SLOT_ACTIVE);
	assert_int_equal(out(&f, "last")->state, SLOT_ACTIVE);
	teardown(&f);
}

void test_plan__tensorrt_leaves_biases_in_float(void **state)
{
	struct fixture f;
	fixture_small(&f, "tensorrt");
	fixture_finish(&f);
	assert_int_equal(in(&f, "conv1", 2)->state, SLOT_FLOAT);
	assert_null(slot_quantizer(in(&f, "conv1", 2)));
	teardown(&f);
}

void test_plan__casts_have_no_scales(void **state)
{
	struct fixture f;
	struct error err;
	fixture_small(&f, "bf16");
	assert_int_equal(f.p->n_observe, 0);
	assert_int_equal(plan_finish(f.p, NULL, NULL, f.e, &err), STATUS_OK);
	assert_int_equal(slot_quantizer(out(&f, "add"))->kind, QUANT_BF16);
	assert_int_equal(slot_quantizer(in(&f, "conv1", 1))->kind, QUANT_BF16);
	teardown(&f);
}

// No list of another target's operators: what overflows in half precision is a power
// or a root more often than a convolution.
void test_plan__casts_are_of_all_operators(void **state)
{
	static const float low = -1, high = 0.7f;
	struct fixture f;
	struct builder b = builder_new();
	builder_input(&b, "x");
	builder_constant(&b, "low", DT_F32, shape_of(0, NULL), &low);
	builder_constant(&b, "high", DT_F32, shape_of(0, NULL), &high);
	builder_node(&b, "Clip", "clip", "x low high", "c");
	builder_node(&b, "Pow", "pow", "c high", "p");
	builder_node(&b, "Sqrt", "root", "p", "y");
	builder_output(&b, "y");
	fixture_plan(&f, b.g, "fp16", -1);
	assert_int_equal(in(&f, "clip", 2)->state, SLOT_ACTIVE);
	assert_int_equal(out(&f, "pow")->state, SLOT_ACTIVE);
	assert_int_equal(out(&f, "root")->state, SLOT_ACTIVE);
	teardown(&f);
}

void test_plan__weights_are_measured_once(void **state)
{
	struct fixture f;
	struct error err;
	struct plan *a, *b;
	fixture_small(&f, "esp32s3");
	struct plan_cache *c = plan_cache_new();
	assert_int_equal(plan_new(&a, f.g, f.t, CALIB_KL, f.e, c, &err), STATUS_OK);
	assert_int_equal(plan_new(&b, f.g, f.t, CALIB_KL, f.e, c, &err), STATUS_OK);
	plan_cache_free(&c);
	assert_true(same_plan(a, b));

	plan_free(&a);
	plan_free(&b);
	teardown(&f);
}

void test_plan__calibrates_with_rounded_weights(void **state)
{
	struct fixture f;
	fixture_small(&f, "esp32s3");
	const struct quantizer *q = plan_calibration_quantizer(f.p, id_of(&f, in(&f, "conv1", 1)));
	assert_float_equal(q->scale[0], 0x1p-6, 0);
	assert_null(plan_calibration_quantizer(f.p, id_of(&f, in(&f, "conv1", 2)))); // biases are not
	assert_null(plan_calibration_quantizer(f.p, id_of(&f, in(&f, "conv1", 0))));
	fixture_finish(&f);
	assert_true(quantizer_equal(q, slot_quantizer(in(&f, "conv1", 1))));
	teardown(&f);
	fixture_small(&f, "onnxruntime");
	assert_null(plan_calibration_quantizer(f.p, id_of(&f, in(&f, "conv1", 1))));
	teardown(&f);
}

void test_plan__a_constant_without_values_stays_float(void **state)
{
	struct fixture f;
	struct error err;
	struct plan *p = NULL;
	fixture_small(&f, "esp32p4");
	const struct value *v = &f.g->value[graph_find_value(f.g, "w2")];
	float *w = v->constant->data;
	for (int i = 0; i < 2; i++)
		w[i] = NAN;
	assert_int_equal(plan_new(&p, f.g, f.t, CALIB_KL, f.e, NULL, &err), STATUS_OK);
	assert_int_equal(plan_in(p, v->consumer[0], 1)->state, SLOT_FLOAT);
	plan_free(&p);
	teardown(&f);
}
