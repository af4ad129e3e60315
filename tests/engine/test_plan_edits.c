// Edits in plans: what they change, what is refused and why, overrides, and what widens together.
#include <stdio.h>
#include "plan_case.h"
#include "qtui/engine/onnx.h"
#include "support.h"

void test_plan_edits__int16_changes_one_operator(void **state)
{
	struct fixture f;
	fixture_small(&f, "esp32p4");
	f.e->precision[node(&f, "conv1")] = PREC_INT16;
	fixture_replan(&f);
	assert_int_equal(f.p->precision[node(&f, "conv1")], PREC_INT16);
	assert_int_equal(f.p->precision[node(&f, "relu1")], PREC_INT16); // promoted with it
	assert_int_equal(in(&f, "conv1", 1)->quant.bits, 16);
	assert_int_equal(in(&f, "conv1", 2)->quant.bits, 40);
	assert_int_equal(in(&f, "pool", 0)->state, SLOT_ACTIVE); // the neighbour stays at 8 bit and converts
	assert_int_equal(in(&f, "pool", 0)->quant.bits, 8);
	assert_int_equal(f.p->n_refused, 0);
	teardown(&f);
}

void test_plan_edits__refusals_have_reasons(void **state)
{
	struct fixture f;
	fixture_small(&f, "esp32p4");
	f.e->precision[node(&f, "shapeof")] = PREC_INT8;
	f.e->precision[node(&f, "softmax")] = PREC_INT16;
	f.e->scale[tensor(&f, "pool")] = 0.25;   // shares the scale of relu1
	f.e->scale[tensor(&f, "add")] = 0.3;     // no power of two
	fixture_replan(&f);
	assert_int_equal(f.p->n_refused, 4);
	for (int i = 0; i < f.p->n_refused; i++)
		assert_true(strlen(f.p->refused[i].reason) > 10);
	assert_non_null(strstr(f.p->refused[2].reason, "relu1"));
	assert_non_null(strstr(f.p->refused[3].reason, "2^-2"));
	teardown(&f);
	fixture_small(&f, "tensorrt");
	f.e->precision[node(&f, "conv1")] = PREC_INT16;
	fixture_replan(&f);
	assert_int_equal(f.p->precision[node(&f, "conv1")], PREC_INT8);
	assert_int_equal(f.p->n_refused, 1);
	teardown(&f);
}

void test_plan_edits__override_is_locked_against_alignment(void **state)
{
	struct fixture f;
	fixture_small(&f, "esp32p4");
	f.e->scale[tensor(&f, "mul")] = 0x1p-3;
	fixture_replan(&f);
	assert_true(out(&f, "mul")->locked);
	assert_int_equal(out(&f, "mul")->state, SLOT_ACTIVE); // not pulled into the sum
	assert_int_equal(out(&f, "mul")->observe, -1);
	fixture_finish(&f);
	assert_float_equal(out(&f, "mul")->quant.scale[0], 0x1p-3, 0);
	assert_float_equal(in(&f, "add", 0)->quant.scale[0], 0x1p-6, 0);
	teardown(&f);
	fixture_small(&f, "esp32p4"); // at a fused Conv it acts at the end of the operator
	f.e->scale[tensor(&f, "conv1")] = 0x1p-2;
	fixture_replan(&f);
	fixture_finish(&f);
	assert_true(out(&f, "relu1")->locked);
	assert_float_equal(in(&f, "conv2", 0)->quant.scale[0], 0x1p-2, 0);
	teardown(&f);
}

// One scale for all that a sum reads: a scale by hand that holds all of it is that, to its last bit, else what holds it is.
void test_plan_edits__a_scale_by_hand_for_all_inputs(void **state)
{
	static const struct {
		const char *target;
		double by_hand; // the other input's is 1/64
		float both;
	} row[] = {{"tensorrt", 0.3, 0.3f}, {"fpga", 0.5, 0.5f}, {"qnn", 0.3, 0.3f}, {"tensorrt", 0x1p-8, 2 * 128 * 0x1p-6f / 255},
	    {"fpga", 0x1p-8, 0x1p-5f}};
	for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
		struct fixture f;
		fixture_small(&f, row[i].target);
		f.e->scale[tensor(&f, "mul")] = row[i].by_hand;
		fixture_replan(&f);
		fixture_finish(&f);
		for (int k = 0; k < 2; k++)
			if (in(&f, "add", k)->quant.scale[0] != row[i].both)
				fail_msg("%s: %.9g", row[i].target, (double)in(&f, "add", k)->quant.scale[0]);
		teardown(&f);
	}
}

// The zero point that goes with a scale by hand where 0.25 and 100 were observed.
static int32_t zero_beside(double by_hand)
{
	struct fixture f;
	float scale[64];
	int32_t zero[64];
	struct error err;
	fixture_small(&f, "onnxruntime");
	f.e->scale[tensor(&f, "conv2")] = by_hand;
	fixture_replan(&f);
	for (int i = 0; i < f.p->n_observe; i++) {
		scale[i] = 0.25f;
		zero[i] = 100;
	}
	assert_int_equal(plan_finish(f.p, scale, zero, f.e, &err), STATUS_OK);
	assert_float_equal(out(&f, "conv2")->quant.scale[0], by_hand, 0);
	int32_t chosen = out(&f, "conv2")->quant.zero[0];
	teardown(&f);
	return chosen;
}

// A finer grid that kept the lower end could lose all that is above zero.
void test_plan_edits__override_of_an_asymmetric_scale(void **state)
{
	assert_int_equal(zero_beside(0.5), 50);
	assert_int_equal(zero_beside(0.25), 100);
	assert_int_equal(zero_beside(0.0625), 100);
}

void test_plan_edits__are_equal_in_all_that_they_say(void **state)
{
	const struct graph three = {.n_nodes = 3, .n_values = 3};
	struct edits *a = edits_new(&three), *b = edits_copy(a);
	assert_true(edits_equal(a, b));
	b->scale[2] = 0.5;
	assert_false(edits_equal(a, b));
	a->scale[2] = 0.5;
	assert_true(edits_equal(a, b));
	b->precision[0] = PREC_INT16;
	assert_false(edits_equal(a, b));
	a->precision[0] = PREC_INT16;
	b->calibrator[1] = CALIB_KL;
	assert_false(edits_equal(a, b));
	struct edits *c = edits_copy(b);
	assert_true(edits_equal(b, c));
	edits_free(&c);
	edits_free(&a);
	edits_free(&b);
}

// The method that finds the range of a tensor; -1: it is not observed.
static int observed_by(const struct fixture *f, const struct slot *s)
{
	return s->observe >= 0 ? (int)f->p->observe[s->observe].method : -1;
}

void test_plan_edits__a_calibrator_is_of_what_the_node_quantizes(void **state)
{
	struct fixture f;
	fixture_small(&f, "esp32p4"); // whose own is kl
	f.e->calibrator[node(&f, "conv1")] = CALIB_MSE;
	fixture_replan(&f);
	assert_int_equal(observed_by(&f, in(&f, "conv1", 0)), CALIB_MSE); // the network's input, which nobody else quantizes
	assert_int_equal(observed_by(&f, out(&f, "relu1")), CALIB_MSE);   // at the end of the operator
	assert_int_equal(observed_by(&f, out(&f, "conv2")), CALIB_KL);
	assert_int_equal(f.p->n_refused, 0);
	struct edits *none = edits_new(f.g);
	assert_false(key_equal(edits_key(f.e, f.g), edits_key(none, f.g)));
	edits_free(&none);
	f.e->calibrator[node(&f, "conv1")] = -1;
	f.e->calibrator[node(&f, "pool")] = CALIB_MSE; // passes on what relu1 gives
	f.e->calibrator[node(&f, "shapeof")] = CALIB_MSE;
	fixture_replan(&f);
	assert_int_equal(observed_by(&f, out(&f, "relu1")), CALIB_KL);
	assert_int_equal(f.p->n_refused, 2);
	assert_non_null(strstr(f.p->refused[0].reason, "give the calibrator to node relu1"));
	assert_non_null(strstr(f.p->refused[1].reason, "stays float"));
	teardown(&f);
}

void test_plan_edits__a_calibrator_that_would_find_nothing_is_refused(void **state)
{
	struct fixture f;
	struct error err;
	fixture_small(&f, "esp32p4");
	struct plan *bare = plan_bare(f.g, f.t);
	assert_int_equal(plan_check_calibrator(bare, node(&f, "conv1"), &err), STATUS_OK);
	assert_int_equal(plan_check_calibrator(bare, node(&f, "pool"), &err), STATUS_REFUSED);
	assert_non_null(strstr(err.text, "pool: its output shares the scale"));
	plan_free(&bare);
	teardown(&f);
	fixture_small(&f, "onnxruntime");
	bare = plan_bare(f.g, f.t);
	assert_int_equal(plan_check_calibrator(bare, node(&f, "softmax"), &err), STATUS_REFUSED);
	assert_non_null(strstr(err.text, "softmax: target onnxruntime knows the range of its output"));
	plan_free(&bare);
	teardown(&f);
}

static struct graph *split_graph(void)
{
	struct builder b = builder_new();
	builder_input(&b, "x");
	builder_constant(&b, "w", DT_F32, (struct shape){4, {4, 4, 1, 1}}, NULL);
	builder_node(&b, "Conv", "conv", "x w", "c");
	builder_node(&b, "Split", "split", "c", "left right");
	builder_node(&b, "Sigmoid", "sigmoid", "left", "l");
	builder_node(&b, "Sigmoid", "other", "right", "r");
	builder_output(&b, "l");
	builder_output(&b, "r");
	return b.g;
}

// Where a target gives each output of a Split its own scale, each can be set;
// where they share the input's, that is said.
void test_plan_edits__override_of_a_second_output(void **state)
{
	struct fixture f;
	struct error err;
	fixture_plan(&f, split_graph(), "xint8", -1);
	struct plan *bare = plan_bare(f.g, f.t);
	int right = graph_find_value(f.g, "right");
	assert_int_equal(plan_check_scale(bare, right, 0x1p-2, ZERO_FOLLOWS, false, &err), STATUS_OK);
	assert_int_equal(plan_check_scale(bare, right, 0.3, ZERO_FOLLOWS, false, &err), STATUS_REFUSED);
	f.e->scale[right] = 0x1p-8;
	fixture_replan(&f);
	assert_int_equal(f.p->n_refused, 0);
	fixture_finish(&f);
	const struct slot *first = plan_out(f.p, node(&f, "split"), 0), *second = plan_out(f.p, node(&f, "split"), 1);
	assert_true(second->locked && !first->locked);
	assert_float_equal(second->quant.scale[0], 0x1p-8, 0);
	assert_float_equal(first->quant.scale[0], 0x1p-6, 0);
	plan_free(&bare);
	teardown(&f);
	fixture_plan(&f, split_graph(), "esp32p4", -1);
	bare = plan_bare(f.g, f.t);
	right = graph_find_value(f.g, "right");
	assert_int_equal(plan_check_scale(bare, right, 0x1p-2, ZERO_FOLLOWS, false, &err), STATUS_REFUSED);
	assert_string_equal(err.text, "split: its output right shares the scale of tensor c: give the scale to node conv");
	f.e->scale[right] = 0x1p-2;
	fixture_replan(&f);
	assert_int_equal(f.p->n_refused, 1);
	assert_int_equal(f.p->refused[0].node, node(&f, "split"));
	plan_free(&bare);
	teardown(&f);
}

// The scale of what a MaxPool reads from outside is nobody's output.
void test_plan_edits__a_scale_that_an_input_rules_is_refused(void **state)
{
	struct builder b = builder_new();
	struct fixture f;
	struct error err;
	builder_input(&b, "x");
	builder_constant(&b, "w", DT_F32, (struct shape){4, {4, 4, 1, 1}}, NULL);
	builder_node(&b, "MaxPool", "pool", "x", "p");
	builder_node(&b, "Conv", "conv", "p w", "y");
	builder_output(&b, "y");
	fixture_plan(&f, b.g, "a8w8", -1);
	struct plan *bare = plan_bare(f.g, f.t);
	assert_int_equal(plan_check_scale(bare, tensor(&f, "pool"), 0x1p-2, ZERO_FOLLOWS, false, &err), STATUS_REFUSED);
	assert_non_null(strstr(err.text, "its output shares the scale on which pool reads tensor x, which is the target's"));
	plan_free(&bare);
	teardown(&f);
}

void test_plan_edits__check_edit(void **state)
{
	struct fixture f;
	struct error err;
	fixture_small(&f, "esp32p4");
	struct plan *bare = plan_bare(f.g, f.t);
	assert_int_equal(plan_check_edit(bare, node(&f, "conv1"), PREC_INT16, &err), STATUS_OK);
	assert_int_equal(plan_check_edit(bare, node(&f, "conv1"), PREC_FLOAT, &err), STATUS_OK);
	assert_int_equal(plan_check_scale(bare, tensor(&f, "conv1"), 0x1p-4, ZERO_FOLLOWS, false, &err), STATUS_OK);
	assert_int_equal(plan_check_scale(bare, tensor(&f, "mul"), 0x1p-4, ZERO_FOLLOWS, false, &err), STATUS_OK); // though alignment wants it
	assert_int_equal(plan_check_scale(bare, tensor(&f, "conv1"), 0.06, ZERO_FOLLOWS, false, &err), STATUS_REFUSED);
	assert_non_null(strstr(err.text, "2^-4"));
	assert_int_equal(plan_check_edit(bare, node(&f, "shapeof"), PREC_INT16, &err), STATUS_REFUSED);
	assert_int_equal(plan_check_scale(bare, tensor(&f, "pool"), 0.5, ZERO_FOLLOWS, false, &err), STATUS_REFUSED);
	plan_free(&bare);
	teardown(&f);
}

static const char *reason_for(const struct fixture *f, int node)
{
	for (int r = 0; r < f->p->n_refused; r++)
		if (f->p->refused[r].node == node)
			return f->p->refused[r].reason;
	return NULL;
}

// What is asked of the bare plan is what a plan with this edit says of it: at 8 bit, or as the target has the node.
void test_plan_edits__an_edit_that_is_asked_is_refused_where_one_that_is_made_is(void **state)
{
	static const char *const target[] = {"esp32p4", "onnxruntime", "tensorrt", "xint8", "a8w8", "bf16"};
	static const double scale[] = {0, 0.25, 0.3, 1e-40, 1e40};
	for (size_t t = 0; t < sizeof target / sizeof *target; t++) {
		struct fixture f;
		struct error err;
		fixture_small(&f, target[t]);
		struct plan *bare = plan_bare(f.g, f.t);
		for (int i = 0; i < f.g->n_nodes; i++) {
			for (size_t k = 0; k < sizeof scale / sizeof *scale; k++) {
				f.e->scale[graph_output(f.g, i)] = scale[k];
				f.e->precision[i] = PREC_INT8;
				for (int m = 0; m < f.g->n_nodes; m++)
					if (bare->group[i].kind != GROUP_NONE && bare->group[m].kind != GROUP_NONE &&
					    bare->group[m].last == bare->group[i].last)
						f.e->precision[m] = PREC_INT8;
				fixture_replan(&f);
				char reason[400] = "";
				snprintf(reason, sizeof reason, "%s", reason_for(&f, i) ? reason_for(&f, i) : "");
				memset(f.e->precision, -1, (size_t)f.g->n_nodes);
				fixture_replan(&f);
				if (scale[k] != 0 && !reason_for(&f, i))
					reason[0] = '\0'; // what is made in float has a scale where it is read
				enum status st = scale[k] == 0
				                     ? plan_check_edit(bare, i, PREC_INT8, &err)
				                     : plan_check_scale(bare, graph_output(f.g, i), scale[k], ZERO_FOLLOWS, false, &err);
				assert_int_equal(st, reason[0] ? STATUS_REFUSED : STATUS_OK);
				if (reason[0])
					assert_non_null(strstr(err.text, reason));
				f.e->scale[graph_output(f.g, i)] = 0;
			}
		}
		plan_free(&bare);
		teardown(&f);
	}
}

// Takes the graph over.
static void check_together(struct graph *g, const char *target)
{
	struct fixture f;
	struct error err;
	fixture_plan(&f, g, target, -1);
	struct plan *bare = plan_bare(f.g, f.t);
	int *nodes = xcalloc((size_t)f.g->n_nodes, sizeof *nodes);
	bool *refused = xcalloc((size_t)f.g->n_nodes, sizeof *refused);
	for (int i = 0; i < f.g->n_nodes; i++)
		nodes[i] = i;
	for (int p = 0; p < PREC_COUNT; p++) {
		int n = plan_check_edits(bare, nodes, f.g->n_nodes, (enum precision)p, refused, &err);
		for (int i = 0; i < f.g->n_nodes; i++) {
			assert_int_equal(refused[i], plan_check_edit(bare, i, (enum precision)p, &err) != STATUS_OK);
			n -= refused[i];
		}
		assert_int_equal(n, 0);
	}
	free(nodes);
	free(refused);
	plan_free(&bare);
	teardown(&f);
}

static const char *const asked_of[] = {"esp32p4", "onnxruntime", "tensorrt", "xint8", "a8w8", "bf16"};

void test_plan_edits__edits_asked_together_are_refused_as_one_by_one(void **state)
{
	for (size_t t = 0; t < sizeof asked_of / sizeof *asked_of; t++)
		check_together(small_graph(), asked_of[t]);
}

// The findings ask for all nodes of a network at once.
void test_plan_edits__all_of_a_real_network_asked_together(void **state)
{
	struct error err;
	const char *file = support_data("models/deimv2_atto_320.onnx");
	if (!file)
		skip();
	for (size_t t = 0; t < sizeof asked_of / sizeof *asked_of; t++) {
		struct graph *g;
		if (onnx_load(&g, file, NULL, &err))
			fail_msg("%s", err.text);
		check_together(g, asked_of[t]);
	}
}

void test_plan_edits__widen_region_takes_producer_and_activation(void **state)
{
	struct fixture f;
	int ids[16], conversions, n;
	fixture_small(&f, "esp32p4");
	n = plan_widen_region(f.p, node(&f, "conv2"), false, ids, 16, &conversions);
	assert_int_equal(n, 4); // conv1, relu1, pool, conv2
	assert_int_equal(ids[0], node(&f, "conv1"));
	assert_int_equal(ids[3], node(&f, "conv2"));
	assert_true(conversions >= 2); // to the Sigmoid and to the Add
	teardown(&f);
}

// A tensor that is to keep 16 bit is read at 16 bit too: by all who read it,
// and behind the pool, which passes it on, by those.
void test_plan_edits__widen_region_takes_readers(void **state)
{
	struct fixture f;
	int ids[16], conversions;
	bool in_region[16] = {0};
	fixture_small(&f, "esp32p4");
	assert_int_equal(plan_widen_region(f.p, node(&f, "conv1"), false, ids, 16, &conversions), 2); // relu1
	int n = plan_widen_region(f.p, node(&f, "conv1"), true, ids, 16, &conversions);
	for (int i = 0; i < n; i++)
		in_region[ids[i]] = true;
	assert_true(in_region[node(&f, "conv1")] && in_region[node(&f, "relu1")] && in_region[node(&f, "pool")]);
	assert_true(in_region[node(&f, "conv2")] && in_region[node(&f, "add")]);
	assert_false(in_region[node(&f, "softmax")]);
	teardown(&f);
}

// What makes the Softmax's input widens with it, and what that reads on its own scale:
// left at 8 bit its codes would end where 16 bit goes on.
void test_plan_edits__widen_region_takes_what_is_read_on_its_scale(void **state)
{
	struct fixture f;
	int ids[16], conversions;
	fixture_small(&f, "esp32p4");
	const struct slot *m = out(&f, "mul");
	assert_int_equal(m->state, SLOT_PASSIVE);
	assert_int_equal(f.p->slot[m->follows].node, node(&f, "add"));
	int n = plan_widen_region(f.p, node(&f, "softmax"), false, ids, 16, &conversions), mul = -1;
	for (int i = 0; i < n; i++)
		mul = ids[i] == node(&f, "mul") ? i : mul;
	assert_in_range(mul, 0, n - 1);
	assert_int_equal(ids[n - 2], node(&f, "add"));
	assert_int_equal(ids[n - 1], node(&f, "softmax"));
	teardown(&f);
}

// x is read by a Conv and, as it is, by an Add whose inputs share a scale.
static struct graph *read_twice(void)
{
	struct builder b = builder_new();
	builder_input(&b, "x");
	builder_constant(&b, "w", DT_F32, (struct shape){4, {4, 4, 1, 1}}, NULL);
	builder_node(&b, "Conv", "conv", "x w", "c");
	builder_node(&b, "Add", "add", "c x", "y");
	builder_output(&b, "y");
	return b.g;
}

void test_plan_edits__scale_of_an_input(void **state)
{
	struct fixture f;
	struct error err;
	fixture_plan(&f, read_twice(), "esp32p4", -1);
	const int x = graph_find_value(f.g, "x");
	struct plan *bare = plan_bare(f.g, f.t);
	assert_int_equal(plan_check_scale(bare, x, 0x1p-2, ZERO_FOLLOWS, false, &err), STATUS_OK);
	assert_int_equal(plan_check_scale(bare, x, 0.3, ZERO_FOLLOWS, false, &err), STATUS_REFUSED);
	plan_free(&bare);
	f.e->scale[x] = 0x1p-2;
	fixture_replan(&f);
	assert_true(in(&f, "conv", 0)->locked && !in(&f, "add", 1)->locked);
	fixture_finish(&f);
	assert_float_equal(in(&f, "conv", 0)->quant.scale[0], 0x1p-2, 0);
	assert_float_equal(in(&f, "add", 1)->quant.scale[0], 0x1p-6, 0);
	assert_int_equal(f.p->n_refused, 0);
	teardown(&f);
}

// A tensor that comes in float has the scale, and the zero point, on which it is read.
void test_plan_edits__scale_of_what_is_made_in_float(void **state)
{
	static const struct {
		const char *target;
		int32_t zero;
	} of[] = {{"esp32p4", ZERO_FOLLOWS}, {"onnxruntime", 3}};
	for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
		struct fixture f;
		struct error err;
		fixture_small(&f, of[i].target);
		struct plan *bare = plan_bare(f.g, f.t);
		int made = tensor(&f, "add");
		assert_int_equal(plan_check_scale(bare, made, 0x1p-3, of[i].zero, false, &err), STATUS_OK);
		f.e->precision[node(&f, "add")] = PREC_FLOAT;
		edits_give_scale(f.e, made, 0x1p-3, of[i].zero);
		fixture_replan(&f);
		fixture_finish(&f);
		assert_int_equal(f.p->n_refused, 0);
		const struct slot *out = plan_out(f.p, node(&f, "add"), 0);
		int read = 0;
		for (int s = 0; s < f.p->n_slots; s++) {
			const struct slot *in = &f.p->slot[s];
			if (in->is_output || in->value != out->value || in->state != SLOT_ACTIVE)
				continue;
			read++;
			assert_true(in->locked);
			assert_float_equal(in->quant.scale[0], 0x1p-3, 0);
			if (of[i].zero != ZERO_FOLLOWS)
				assert_int_equal(in->quant.zero[0], of[i].zero);
		}
		assert_int_equal(out->state, SLOT_FLOAT);
		assert_true(read > 0);
		plan_free(&bare);
		teardown(&f);
	}
}

// A zero point is a code where the target has any, and acts as it is given.
void test_plan_edits__a_zero_point(void **state)
{
	struct fixture f;
	struct error err;
	fixture_small(&f, "onnxruntime");
	struct plan *bare = plan_bare(f.g, f.t);
	int value = tensor(&f, "mul");
	assert_int_equal(plan_check_scale(bare, value, 0.3, 7, false, &err), STATUS_OK);
	assert_int_equal(plan_check_scale(bare, value, 0.3, 300, false, &err), STATUS_REFUSED);
	assert_int_equal(plan_check_scale(bare, value, 0.3, 300, true, &err), STATUS_OK);
	assert_int_equal(plan_check_scale(bare, value, 0.3, -1, true, &err), STATUS_REFUSED);
	assert_non_null(strstr(err.text, "a zero point is a code, from 0 to"));
	edits_give_scale(f.e, value, 0.3, 7);
	fixture_replan(&f);
	fixture_finish(&f);
	assert_int_equal(plan_out(f.p, node(&f, "mul"), 0)->quant.zero[0], 7);
	edits_give_scale(f.e, value, 0.3, 300); // a code of 16 bits
	fixture_replan(&f);
	assert_int_equal(f.p->n_refused, 1);
	assert_non_null(strstr(f.p->refused[0].reason, "from 0 to 255"));
	plan_free(&bare);
	teardown(&f);
	fixture_small(&f, "esp32p4");
	bare = plan_bare(f.g, f.t);
	assert_int_equal(plan_check_scale(bare, tensor(&f, "conv1"), 0x1p-2, 0, false, &err), STATUS_OK);
	assert_int_equal(plan_check_scale(bare, tensor(&f, "conv1"), 0x1p-2, 4, false, &err), STATUS_REFUSED);
	assert_non_null(strstr(err.text, "target esp32p4 has no zero points"));
	plan_free(&bare);
	teardown(&f);
}

// Where all nodes have 16 bits, scales are of those.
void test_plan_edits__scale_where_all_are_wide(void **state)
{
	struct fixture f;
	struct error err;
	fixture_small(&f, "a16w8");
	struct plan *bare = plan_bare(f.g, f.t);
	assert_int_equal(plan_check_scale(bare, tensor(&f, "mul"), 0.001, ZERO_FOLLOWS, false, &err), STATUS_OK);
	assert_int_equal(plan_check_calibrator(bare, node(&f, "mul"), &err), STATUS_OK);
	assert_int_equal(plan_check_edit(bare, node(&f, "mul"), PREC_INT8, &err), STATUS_REFUSED);
	assert_non_null(strstr(err.text, "target a16w8 has no 8-bit form"));
	plan_free(&bare);
	teardown(&f);
}
