// AMD Quark's corrections of scales behind calibration. Expected positions (-log2 of scales)
// are worked out by hand from the rules of its postprocess/refinement;
// an independent implementation found the same on some thousand random networks.
#include <math.h>
#include "plan_case.h"

struct observed {
	const char *tensor;
	int position;
};
// The plan with scales by tensor; of those that are not listed 2^-4.
static void finish(struct fixture *f, const struct observed *seen)
{
	float scale[32];
	int32_t zero[32] = {0};
	struct error err;
	assert_in_range(f->p->n_observe, 1, 32);
	for (int i = 0; i < f->p->n_observe; i++) {
		const char *name = f->g->value[f->p->observe[i].value].name;
		scale[i] = 0x1p-4f;
		for (const struct observed *o = seen; o->tensor; o++)
			if (strcmp(o->tensor, name) == 0)
				scale[i] = (float)ldexp(1, -o->position);
	}
	if (plan_finish(f->p, scale, zero, f->e, &err))
		fail_msg("%s", err.text);
}

static int position_in(const struct fixture *f, const char *name, int i)
{
	return (int)lround(-log2(in(f, name, i)->quant.scale[0]));
}

static int position(const struct fixture *f, const char *name)
{
	return (int)lround(-log2(out(f, name)->quant.scale[0]));
}

static struct builder image(void)
{
	struct builder b = builder_new();
	b.g->value[builder_input(&b, "x")].shape = shape_of(4, (int64_t[]){1, 1, 4, 4});
	return b;
}

// x -> Conv -> LeakyRelu -> r, x -> MaxPool -> p, both -> Concat -> AveragePool.
static struct graph *joined(void)
{
	static const float w[1] = {1};
	struct builder b = image();
	builder_constant(&b, "w", DT_F32, shape_of(4, (int64_t[]){1, 1, 1, 1}), w);
	builder_node(&b, "Conv", "conv", "x w", "c");
	builder_node(&b, "LeakyRelu", "leaky", "c", "r");
	builder_node(&b, "MaxPool", "pool", "x", "p");
	builder_node(&b, "Concat", "concat", "r p", "j");
	builder_node(&b, "AveragePool", "mean", "j", "y");
	builder_output(&b, "y");
	return b.g;
}

void test_refine__all_of_a_concat_take_the_coarsest(void **state)
{
	struct fixture f;
	fixture_plan(&f, joined(), "xint8", CALIB_MSE);
	finish(&f, (struct observed[]){{"x", 5}, {"r", 6}, {"j", 7}, {"y", 3}, {0}});
	assert_int_equal(position(&f, "mean"), 3); // the mean's output is the coarsest, and moves the Concat, which moves what it reads
	assert_int_equal(position(&f, "concat"), 3);
	assert_int_equal(position(&f, "leaky"), 3);
	assert_int_equal(position_in(&f, "conv", 0), 3); // the pool's output has its input's quantizer
	assert_int_equal(out(&f, "conv")->state, SLOT_OVERLAPPED);
	teardown(&f);
}

void test_refine__float_scales_follow_the_output(void **state)
{
	struct fixture f;
	fixture_plan(&f, joined(), "a8w8", CALIB_MSE);
	finish(&f, (struct observed[]){{"x", 5}, {"r", 6}, {"j", 7}, {"y", 3}, {0}});
	assert_int_equal(position(&f, "mean"), 3);
	assert_int_equal(position(&f, "concat"), 7);
	assert_int_equal(position(&f, "leaky"), 7);
	assert_int_equal(position_in(&f, "conv", 0), 7);
	teardown(&f);
}

void test_refine__a_scale_of_the_user_stays(void **state)
{
	struct fixture f;
	struct error err;
	fixture_plan(&f, joined(), "xint8", CALIB_MSE);
	f.e->scale[tensor(&f, "leaky")] = 0x1p-6;
	plan_free(&f.p);
	assert_int_equal(plan_new(&f.p, f.g, f.t, CALIB_MSE, f.e, NULL, &err), STATUS_OK);
	finish(&f, (struct observed[]){{"x", 5}, {"j", 7}, {"y", 3}, {0}});
	assert_int_equal(position(&f, "leaky"), 6);
	assert_int_equal(position(&f, "concat"), 3);
	teardown(&f);
}

// The input of the network has one scale wherever it is read: the user's, though a pool that cannot have one reads it first.
void test_refine__a_scale_of_the_user_is_that_of_all_who_read_it(void **state)
{
	static const float w[1] = {1};
	struct builder b = image();
	struct fixture f;
	struct error err;
	builder_constant(&b, "w", DT_F32, shape_of(4, (int64_t[]){1, 1, 1, 1}), w);
	builder_node(&b, "MaxPool", "pool", "x", "p");
	builder_node(&b, "Conv", "conv", "x w", "y");
	builder_output(&b, "p");
	builder_output(&b, "y");
	fixture_plan(&f, b.g, "xint8", CALIB_MSE);
	f.e->scale[graph_find_value(f.g, "x")] = 0x1p-2;
	plan_free(&f.p);
	assert_int_equal(plan_new(&f.p, f.g, f.t, CALIB_MSE, f.e, NULL, &err), STATUS_OK);
	finish(&f, (struct observed[]){{"x", 5}, {"y", 3}, {0}});
	assert_int_equal(position_in(&f, "conv", 0), 2);
	assert_int_equal(position_in(&f, "pool", 0), 2);
	teardown(&f);
}

// A pool shares the scale on which it reads with what it makes, and with no other input.
void test_refine__a_scale_of_the_user_where_a_pool_reads(void **state)
{
	struct builder b = image();
	struct fixture f;
	struct error err;
	builder_node(&b, "MaxPool", "pool", "x", "p");
	builder_output(&b, "p");
	fixture_plan(&f, b.g, "xint8", CALIB_MSE);
	f.e->scale[graph_find_value(f.g, "x")] = 0x1p-2;
	plan_free(&f.p);
	assert_int_equal(plan_new(&f.p, f.g, f.t, CALIB_MSE, f.e, NULL, &err), STATUS_OK);
	assert_int_equal(f.p->n_refused, 0);
	assert_int_equal(f.p->n_observe, 0);
	assert_int_equal(plan_finish(f.p, NULL, NULL, f.e, &err), STATUS_OK);
	assert_int_equal(position_in(&f, "pool", 0), 2);
	assert_int_equal(position(&f, "pool"), 2);
	teardown(&f);
}

// x -> Conv with a bias -> u; u + v -> s, where v = Tanh(u).
static struct graph *sums(void)
{
	static const float w[1] = {1}, bias[1] = {0x1p-18f};
	struct builder b = image();
	builder_constant(&b, "w", DT_F32, shape_of(4, (int64_t[]){1, 1, 1, 1}), w);
	builder_constant(&b, "bias", DT_F32, shape_of(1, (int64_t[]){1}), bias);
	builder_node(&b, "Conv", "conv", "x w bias", "u");
	builder_node(&b, "Tanh", "tanh", "u", "v");
	builder_node(&b, "Add", "add", "u v", "s");
	builder_output(&b, "s");
	return b.g;
}

// A weight of 1 fits 127 steps of 2^-6 best, a bias of 2^-18 those of 2^-24.
void test_refine__a_bias_is_as_fine_as_its_shift_allows(void **state)
{
	struct fixture f;
	fixture_plan(&f, sums(), "xint8", CALIB_MSE);
	finish(&f, (struct observed[]){{"x", 4}, {"u", -5}, {"v", -8}, {"s", -5}, {0}});
	assert_int_equal(position_in(&f, "conv", 1), 6);
	assert_int_equal(position_in(&f, "conv", 2), 11); // cut 6 + 4 + 5 = 15: at most 16 - 15 finer than the sums
	assert_int_equal(position(&f, "conv"), -5);
	assert_int_equal(position(&f, "tanh"), -8);
	assert_int_equal(position(&f, "add"), -5);
	teardown(&f);
}

void test_refine__shifts_are_brought_within_limits(void **state)
{
	struct fixture f;
	fixture_plan(&f, sums(), "xint8", CALIB_MSE);
	finish(&f, (struct observed[]){{"x", 0}, {"u", 12}, {"v", 2}, {"s", 14}, {0}});
	assert_int_equal(position(&f, "conv"), 9);       // read: operands of a sum at most 7 apart
	assert_int_equal(position(&f, "add"), 9);        // write: 7 finer than the coarsest operand
	assert_int_equal(position_in(&f, "conv", 1), 9); // cut: 6 + 0 - 9 is below 0
	assert_int_equal(position_in(&f, "conv", 2), 24); // bias: 9 - 24 is above 0 + 8 - 24 = -16
	teardown(&f);
}

void test_refine__bias_has_a_scale_of_its_own_in_seven_bits_and_sign(void **state)
{
	struct fixture f;
	fixture_plan(&f, sums(), "vint8", CALIB_MSE);
	finish(&f, (struct observed[]){{0}});
	const struct slot *bias = in(&f, "conv", 2);
	assert_int_equal(bias->state, SLOT_ACTIVE);
	assert_int_equal(bias->quant.bits, 8);
	assert_int_equal(bias->quant.qmin, -127);
	assert_int_equal(in(&f, "conv", 1)->quant.qmin, -127);
	assert_int_equal(in(&f, "conv", 0)->quant.qmin, -128);
	teardown(&f);
}

// Scales are chosen for -127 .. 127, ranges of weights too; what is rounded to an activation's scale may be -128.
void test_refine__scales_of_balanced_ranges(void **state)
{
	static const float w[2] = {1, -.5f};
	struct builder b = image();
	builder_constant(&b, "w", DT_F32, shape_of(4, (int64_t[]){2, 1, 1, 1}), w);
	builder_node(&b, "Conv", "conv", "x w", "c");
	builder_node(&b, "Softmax", "softmax", "c", "y");
	builder_output(&b, "y");
	struct fixture f;
	fixture_plan(&f, b.g, "a8w8", CALIB_MSE);
	finish(&f, (struct observed[]){{0}});
	const struct quantizer *y = &out(&f, "softmax")->quant, *q = &in(&f, "conv", 1)->quant;
	assert_float_equal(y->scale[0], 1 / 127.0, 1e-9);
	assert_int_equal(y->qmin, -128);
	assert_int_equal(q->n, 1);
	assert_float_equal(q->scale[0], 1 / 127.0, 1e-9);
	assert_int_equal(q->qmin, -127);
	teardown(&f);
}

// x -> Sigmoid -> Mul with x, and x -> LeakyRelu.
static struct builder gated(void)
{
	struct builder b = image();
	builder_node(&b, "Sigmoid", "sigmoid", "x", "s");
	builder_node(&b, "Mul", "mul", "s x", "y");
	builder_node(&b, "LeakyRelu", "leaky", "x", "z");
	((struct act_attrs *)b.g->node[b.g->n_nodes - 1].attrs)->alpha = .01f;
	builder_output(&b, "y");
	builder_output(&b, "z");
	return b;
}

// A gate reads at most 2^-15, gives at least 2^-7; its product is shifted by 15 at most.
void test_refine__shifts_of_a_gate(void **state)
{
	struct fixture f;
	fixture_plan(&f, gated().g, "xint8", CALIB_MSE);
	finish(&f, (struct observed[]){{"x", 17}, {"s", 5}, {"y", 3}, {0}});
	assert_int_equal(position_in(&f, "sigmoid", 0), 15);
	assert_int_equal(position(&f, "sigmoid"), 7);
	assert_int_equal(position(&f, "mul"), 7);
	assert_int_equal(position_in(&f, "leaky", 0), 15); // the same tensor
	teardown(&f);
}

void test_refine__what_runs_in_a_nodes_place(void **state)
{
	struct fixture f;
	fixture_plan(&f, gated().g, "xint8", CALIB_MSE);
	const struct stand_in *s = &f.p->stand_in[node(&f, "sigmoid")], *l = &f.p->stand_in[node(&f, "leaky")];
	assert_string_equal(s->op, "HardSigmoid");
	assert_float_equal(s->alpha, 2731 / 16384.0, 1e-9);
	assert_float_equal(s->beta, .5 * 6 * 2731 / 16384.0, 1e-7);
	assert_string_equal(l->op, "LeakyRelu");
	assert_float_equal(l->alpha, 3 / 256.0, 0);
	assert_null(f.p->stand_in[node(&f, "mul")].op);
	teardown(&f);
	fixture_plan(&f, gated().g, "vint8", CALIB_MSE);
	assert_null(f.p->stand_in[node(&f, "sigmoid")].op);
	assert_non_null(f.p->stand_in[node(&f, "leaky")].op);
	teardown(&f);
	fixture_plan(&f, gated().g, "esp32p4", CALIB_MSE);
	assert_null(f.p->stand_in[node(&f, "leaky")].op);
	teardown(&f);
}

// It is a part of the node's own quantizer: where only others are left, the node is what it is.
void test_refine__stand_ins_go_with_their_results(void **state)
{
	static const struct {
		const char *kept;
		bool sigmoid, leaky;
	} cases[] = {{"sigmoid", true, false}, {"leaky", false, true}, {"mul", false, false}};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct fixture f;
		fixture_plan(&f, gated().g, "xint8", CALIB_MSE);
		finish(&f, (struct observed[]){{"x", 4}, {"s", 7}, {"y", 5}, {"z", 4}, {0}});
		int kept = f.p->first_out[node(&f, cases[i].kept)];
		bool *keep = xcalloc((size_t)f.p->n_slots, sizeof *keep);
		keep[kept] = true;
		plan_quantize_only(f.p, keep);
		assert_int_equal(f.p->stand_in[node(&f, "sigmoid")].op != NULL, cases[i].sigmoid);
		assert_int_equal(f.p->stand_in[node(&f, "leaky")].op != NULL, cases[i].leaky);
		for (int k = 0; k < f.p->n_slots; k++)
			assert_int_equal(slot_quantizes(&f.p->slot[k]), k == kept);
		free(keep);
		teardown(&f);
	}
}

// The factor on the mean of a Conv's output of so many rows and columns.
static double gain_of(const char *op, int rows, int columns, const char *target)
{
	static const float w[1] = {1};
	int64_t kernel[2] = {rows, columns};
	struct fixture f;
	struct builder b = builder_new();
	b.g->value[builder_input(&b, "x")].shape = shape_of(4, (int64_t[]){1, 1, rows, columns});
	builder_constant(&b, "w", DT_F32, shape_of(4, (int64_t[]){1, 1, 1, 1}), w);
	builder_node(&b, "Conv", "conv", "x w", "c");
	int mean = builder_node(&b, op, "mean", "c", "y");
	b.g->value[builder_value(&b, "c")].shape = shape_of(4, (int64_t[]){1, 1, rows, columns});
	b.g->value[builder_value(&b, "y")].shape = shape_of(4, (int64_t[]){1, 1, 1, 1});
	if (strcmp(op, "AveragePool") == 0) {
		struct pool_attrs *a = arena_alloc(b.g->arena, sizeof *a);
		*a = (struct pool_attrs){.kernel_shape = {kernel, 2}};
		b.g->node[mean].attrs = a;
	}
	builder_output(&b, "y");
	fixture_plan(&f, b.g, target, CALIB_MSE);
	double gain = (double)f.p->stand_in[node(&f, "mean")].gain;
	assert_null(f.p->stand_in[node(&f, "mean")].op);
	teardown(&f);
	return gain;
}

// 1/9 is 7/64 to a pool and 57/512 to a ReduceMean; counts that are not listed are taken as
// close as seven bits more than they have allow.
void test_refine__means_are_an_integer_and_a_shift(void **state)
{
	assert_float_equal(gain_of("AveragePool", 3, 3, "xint8"), 9 * 7 / 64.0, 1e-7);
	assert_float_equal(gain_of("AveragePool", 5, 5, "xint8"), 25 * 10 / 256.0, 1e-7);
	assert_float_equal(gain_of("GlobalAveragePool", 6, 6, "xint8"), 36 * 7 / 256.0, 1e-7);
	assert_float_equal(gain_of("GlobalAveragePool", 7, 7, "xint8"), 49 * 21 / 1024.0, 1e-7);
	assert_float_equal(gain_of("GlobalAveragePool", 14, 14, "xint8"), 196 * 21 / 4096.0, 1e-7);
	assert_true(gain_of("AveragePool", 255, 255, "xint8") != 0); // the largest
	assert_float_equal(gain_of("ReduceMean", 3, 3, "xint8"), 9 * 7 / 64.0, 1e-7); // a pool to that quantizer
	assert_float_equal(gain_of("ReduceMean", 3, 3, "vint8"), 9 * 57 / 512.0, 1e-7);
	assert_float_equal(gain_of("GlobalAveragePool", 10, 10, "vint8"), 100 * 41 / 4096.0, 1e-7);
	assert_true(gain_of("GlobalAveragePool", 8, 8, "xint8") == 0); // exact
	assert_true(gain_of("GlobalAveragePool", 7, 5, "xint8") == 0); // no square
	assert_true(gain_of("AveragePool", 257, 257, "xint8") == 0);   // too large
	assert_true(gain_of("GlobalAveragePool", 7, 7, "a8w8") == 0);
}
