// GRU on the targets of esp-ppq: scales of its bias and states, and what its steps are rounded to.
// Expected values are the tool's formulas, written out for one cell;
// an independent implementation gave the same figures for wider ones and for LSTM.
#include <math.h>
#include "onnx_case.h"
#include "plan_case.h"
#include "qtui/engine/run.h"

enum { STEPS = 24 };
static const float x[STEPS] = {.5f, -1.25f, 2, 0, .75f, -2}, w[3] = {.5f, -.25f, 1}, r[3] = {.25f, .5f, -.5f}; // on their grids
static const float bias[6] = {2.1f, -.2f, .3f, 1.05f, .07f, -.11f}, first = .3f; // the state moves slowly

static struct graph *gru(struct onnx_case *c)
{
	case_init(c);
	case_input(c, "x", FLOAT, DIMS(STEPS, 1, 1));
	case_floats(c, "w", DIMS(1, 3, 1), w);
	case_floats(c, "r", DIMS(1, 3, 1), r);
	case_floats(c, "b", DIMS(1, 6), bias);
	case_floats(c, "h", DIMS(1, 1, 1), &first);
	Onnx__NodeProto *n = case_node(c, "GRU", "gru", "x w r b - h", "y last");
	case_attr_int(c, n, "hidden_size", 1);
	case_attr_int(c, n, "linear_before_reset", 1);
	case_output(c, c->graph, "y");
	case_output(c, c->graph, "last");
	case_load(c);
	struct graph *g = c->loaded;
	c->loaded = NULL;
	return g;
}

static void plan_gru(struct fixture *f, struct onnx_case *c, const char *target)
{
	float scale[4];
	int32_t zero[4] = {0};
	struct error err = {0};
	fixture_plan(f, gru(c), target, CALIB_MINMAX);
	assert_in_range(f->p->n_observe, 1, 4);
	for (int i = 0; i < f->p->n_observe; i++)
		scale[i] = strcmp(f->g->value[f->p->observe[i].value].name, "x") == 0 ? 0x1p-4f : 0x1p-7f;
	if (plan_finish(f->p, scale, zero, f->e, &err))
		fail_msg("%s", err.text);
}

// A wide GRU is not free: each step multiplies by both matrices.
void test_plan_rnn__multiply_accumulates(void **state)
{
	struct onnx_case c;
	struct graph *g = gru(&c);
	assert_int_equal(graph_macs(g, graph_find_node(g, "gru")), STEPS * (3 + 3));
	graph_free(&g);
	case_done(&c);
}

void test_plan_rnn__scales_of_bias_and_states(void **state)
{
	struct onnx_case c;
	struct fixture f;
	plan_gru(&f, &c, "esp32p4");
	assert_int_equal(in(&f, "gru", 1)->quant.bits, 8);
	assert_int_equal(in(&f, "gru", 3)->quant.bits, 16);
	assert_float_equal(in(&f, "gru", 3)->quant.scale[0], 0x1p-9, 0);
	assert_int_equal(out(&f, "gru")->state, SLOT_ACTIVE); // not the input's
	assert_float_equal(out(&f, "gru")->quant.scale[0], 0x1p-7, 0);
	assert_int_equal(in(&f, "gru", 5)->state, SLOT_PASSIVE);
	assert_float_equal(in(&f, "gru", 5)->quant.scale[0], 0x1p-7, 0);
	assert_float_equal(plan_out(f.p, node(&f, "gru"), 1)->quant.scale[0], 0x1p-7, 0);
	teardown(&f);
	case_done(&c);
}

static void assert_refused(const struct fixture *f, const struct plan *bare, const char *tensor, const char *said)
{
	struct error err;
	assert_int_equal(plan_check_scale(bare, graph_find_value(f->g, tensor), 0x1p-6, ZERO_FOLLOWS, false, &err), STATUS_REFUSED);
	if (!strstr(err.text, said))
		fail_msg("said %s, not %s", err.text, said);
}

// The last state has the scale of all states; the cell of an LSTM that of the steps.
void test_plan_rnn__which_outputs_have_a_scale_by_hand(void **state)
{
	struct builder b = builder_new();
	struct fixture f;
	struct error err;
	builder_input(&b, "x");
	builder_constant(&b, "w", DT_F32, (struct shape){3, {1, 4, 1}}, NULL);
	builder_constant(&b, "r", DT_F32, (struct shape){3, {1, 4, 1}}, NULL);
	builder_node(&b, "LSTM", "lstm", "x w r", "y last cell");
	builder_output(&b, "y");
	fixture_plan(&f, b.g, "esp32p4", CALIB_MINMAX);
	struct plan *bare = plan_bare(f.g, f.t);
	assert_int_equal(plan_check_scale(bare, graph_find_value(f.g, "y"), 0x1p-6, ZERO_FOLLOWS, false, &err), STATUS_OK);
	assert_refused(&f, bare, "last", "lstm: its output last shares the scale of tensor y: give the scale to node lstm");
	assert_refused(&f, bare, "cell", "lstm: target esp32p4 fixes the scale of its output cell");
	plan_free(&bare);
	teardown(&f);
}

static float even(float v, float step)
{
	return step > 0 ? rintf(v / step) * step : v;
}

static float sigmoid(float v)
{
	return 1 / (1 + expf(-v));
}

// The state after a time step, on a grid of `sums` within it; 0: on none.
static float next_state(const float b[6], float in, float h, float sums)
{
	float wx[3], rh[3];
	for (int k = 0; k < 3; k++) {
		wx[k] = even(w[k] * in, sums);
		rh[k] = even(r[k] * h, sums);
	}
	float update = sigmoid(wx[0] + rh[0] + b[0] + b[3]), reset = sigmoid(wx[1] + rh[1] + b[1] + b[4]);
	return (1 - update) * tanhf(even(wx[2] + b[2] + reset * (rh[2] + b[5]), sums)) + update * h;
}

void test_plan_rnn__every_step_is_rounded(void **state)
{
	struct onnx_case c;
	struct fixture f;
	struct error err = {0};
	float b[6], h = even(first, 0x1p-7f), floating = h, apart = 0;
	plan_gru(&f, &c, "esp32p4");
	struct tensor in = {.type = DT_F32, .shape = shape_of(3, (int64_t[]){STEPS, 1, 1}), .data = (float *)x}, got = {0};
	struct engine *e = engine_new(f.g, NULL, &(struct engine_options){.backend = BACKEND_ONEDNN, .threads = 1});
	struct inference run = {.sim = SIM_FULL, .in = &in, .want = f.g->output, .n_want = 1, .out = &got};
	if (engine_infer(e, f.p, &run, &err) != STATUS_OK)
		fail_msg("%s", err.text);
	for (int i = 0; i < 6; i++)
		b[i] = even(bias[i], 0x1p-9f);
	for (int t = 0; t < STEPS; t++) {
		h = even(next_state(b, x[t], h, 0x1p-9f), 0x1p-7f);
		floating = next_state(b, x[t], floating, 0);
		apart = fmaxf(apart, fabsf(h - even(floating, 0x1p-7f)));
		assert_float_equal(((float *)got.data)[t], h, 1e-6);
	}
	assert_true(apart >= 0x1p-7f); // rounding the results alone would show
	tensor_drop(&got);
	engine_free(&e);
	teardown(&f);
	case_done(&c);
}
