// Recurrent networks beyond the cases of ONNX's own suite: directions, lengths, activations with parameters.
#include <math.h>
#include "node_run.h"

enum { STEPS = 4, BATCH = 2, INPUT = 3, HIDDEN = 5, STATE = BATCH * HIDDEN };

struct weights { // of two directions
	float x[STEPS * BATCH * INPUT], w[2 * 4 * HIDDEN * INPUT], r[2 * 4 * HIDDEN * HIDDEN], b[2 * 8 * HIDDEN];
};

static void fill(struct weights *v)
{
	struct support_random r = {11};
	support_random_floats(&r, v->x, sizeof v->x / sizeof(float), -1, 1);
	support_random_floats(&r, v->w, sizeof v->w / sizeof(float), -1, 1);
	support_random_floats(&r, v->r, sizeof v->r / sizeof(float), -1, 1);
	support_random_floats(&r, v->b, sizeof v->b / sizeof(float), -1, 1);
}

// A network of `gates` gates; `first` is the direction whose weights are used first.
static void start(struct node_run *run, const char *op, int gates, const char *direction, const struct weights *v, const float *x, int first)
{
	int directions = strcmp(direction, "bidirectional") ? 1 : 2, rows = gates * HIDDEN;
	node_run_init(run, "", op, 14, 2);
	*(const char **)node_run_field(run, "direction") = direction;
	node_run_add(run, DT_F32, SHAPE_OF(STEPS, BATCH, INPUT), x);
	node_run_add(run, DT_F32, SHAPE_OF(directions, rows, INPUT), v->w + first * rows * INPUT);
	node_run_add(run, DT_F32, SHAPE_OF(directions, rows, HIDDEN), v->r + first * rows * HIDDEN);
	node_run_add(run, DT_F32, SHAPE_OF(directions, 2 * rows), v->b + first * 2 * rows);
}

static void check_directions(const char *op, int gates)
{
	struct weights v;
	struct node_run both, forward, backward;
	float turned[STEPS * BATCH * INPUT];
	fill(&v);
	for (int t = 0; t < STEPS; t++)
		memcpy(turned + t * BATCH * INPUT, v.x + (STEPS - 1 - t) * BATCH * INPUT, BATCH * INPUT * sizeof(float));
	start(&both, op, gates, "bidirectional", &v, v.x, 0);
	start(&forward, op, gates, "forward", &v, v.x, 0);
	start(&backward, op, gates, "forward", &v, turned, 1);
	node_run(&both);
	node_run(&forward);
	node_run(&backward);
	for (int t = 0; t < STEPS; t++) {
		const float *y = (const float *)both.out[0].data + t * 2 * STATE;
		assert_memory_equal(y, (const float *)forward.out[0].data + t * STATE, STATE * sizeof(float));
		assert_memory_equal(y + STATE, (const float *)backward.out[0].data + (STEPS - 1 - t) * STATE, STATE * sizeof(float));
	}
	assert_memory_equal(both.out[1].data, forward.out[1].data, STATE * sizeof(float));
	assert_memory_equal((const float *)both.out[1].data + STATE, backward.out[1].data, STATE * sizeof(float));
	assert_memory_not_equal(forward.out[1].data, backward.out[1].data, STATE * sizeof(float));
	node_run_done(&both);
	node_run_done(&forward);
	node_run_done(&backward);
}

void test_op_rnn__both_directions_are_two_networks(void **state)
{
	check_directions("LSTM", 4);
	check_directions("GRU", 3);
	check_directions("RNN", 1);
}

void test_op_rnn__short_sequences_end_early(void **state)
{
	const int32_t lengths[BATCH] = {2, 4};
	struct weights v;
	struct node_run full, cut;
	fill(&v);
	start(&full, "GRU", 3, "forward", &v, v.x, 0);
	start(&cut, "GRU", 3, "forward", &v, v.x, 0);
	node_run_add(&cut, DT_I32, SHAPE_OF(BATCH), lengths);
	node_run(&full);
	node_run(&cut);
	const float *y = full.out[0].data, *z = cut.out[0].data, *last = cut.out[1].data;
	for (int i = 0; i < HIDDEN; i++) {
		assert_true(z[STATE + i] == y[STATE + i] && z[2 * STATE + i] == 0 && z[3 * STATE + i] == 0);
		assert_true(last[i] == y[STATE + i] && last[HIDDEN + i] == y[3 * STATE + HIDDEN + i]);
	}
	node_run_done(&full);
	node_run_done(&cut);
}

// One weight, so that a step is h = f(w x + r h + b): the parameters go to the activations that take them, in order.
void test_op_rnn__activations_take_their_parameters(void **state)
{
	const float x[] = {0.3f, -0.7f}, w[] = {2, -1}, r[] = {0.5f, 0.25f}, b[] = {0.1f, 0.2f, -0.1f, 0.4f};
	float alpha[] = {0.75f, 0.5f}, beta[] = {0.3f, 2};
	struct node_run run;
	node_run_init(&run, "", "RNN", 14, 1);
	*(const char **)node_run_field(&run, "direction") = "bidirectional";
	*(const char **)node_run_field(&run, "activations") = "Affine ScaledTanh";
	*(struct floats *)node_run_field(&run, "activation_alpha") = (struct floats){alpha, 2};
	*(struct floats *)node_run_field(&run, "activation_beta") = (struct floats){beta, 2};
	node_run_add(&run, DT_F32, SHAPE_OF(2, 1, 1), x);
	node_run_add(&run, DT_F32, SHAPE_OF(2, 1, 1), w);
	node_run_add(&run, DT_F32, SHAPE_OF(2, 1, 1), r);
	node_run_add(&run, DT_F32, SHAPE_OF(2, 2), b);
	node_run(&run);
	double first = 0.75 * (2 * 0.3 + 0.3) + 0.3, second = 0.75 * (2 * -0.7 + 0.5 * first + 0.3) + 0.3;
	double back = 0.5 * tanh(2 * (0.7 + 0.3)), front = 0.5 * tanh(2 * (-0.3 + 0.25 * back + 0.3));
	const double want[] = {first, front, second, back};
	for (int i = 0; i < 4; i++)
		assert_true(fabs((double)((float *)run.out[0].data)[i] - want[i]) < 1e-6);
	node_run_done(&run);
}

void test_op_rnn__shapes_that_do_not_fit_are_refused(void **state)
{
	struct weights v;
	struct error err;
	struct node_run run;
	fill(&v);
	start(&run, "LSTM", 4, "forward", &v, v.x, 0);
	run.in[3].shape.dim[1]--;
	assert_int_equal(node_run_try(&run, &err), STATUS_FORMAT);
	node_run_done(&run);
	start(&run, "LSTM", 4, "forward", &v, v.x, 0);
	*(const char **)node_run_field(&run, "activations") = "Sigmoid Tanh";
	assert_int_equal(node_run_try(&run, &err), STATUS_FORMAT);
	node_run_done(&run);
	for (int b = 0; b < BATCH; b++) { // of any sample of those that run together
		int32_t lengths[BATCH] = {STEPS, STEPS};
		lengths[b] = b ? -1 : STEPS + 1;
		start(&run, "GRU", 3, "forward", &v, v.x, 0);
		node_run_add(&run, DT_I32, SHAPE_OF(BATCH), lengths);
		assert_int_equal(node_run_try(&run, &err), STATUS_FORMAT);
		assert_non_null(strstr(err.text, b ? "sequence_lens[1]" : "sequence_lens[0]"));
		node_run_done(&run);
	}
}

enum { ROWS = 4 * HIDDEN };

struct codes { // of one direction, transposed; w, r: what they stand for
	uint8_t w_code[INPUT * ROWS], r_code[HIDDEN * ROWS], zero;
	float scale[ROWS], w[ROWS * INPUT], r[ROWS * HIDDEN];
};

static void fill_codes(struct codes *v)
{
	struct support_random r = {5};
	v->zero = 120;
	support_random_floats(&r, v->scale, ROWS, 0.001f, 0.01f);
	for (int i = 0; i < (INPUT + HIDDEN) * ROWS; i++) {
		bool is_w = i < INPUT * ROWS;
		int at = is_w ? i : i - INPUT * ROWS, k = at / ROWS, gate = at % ROWS, code = support_random_int(&r, 0, 255);
		(is_w ? v->w_code : v->r_code)[at] = (uint8_t)code;
		(is_w ? v->w : v->r)[gate * (is_w ? INPUT : HIDDEN) + k] = (float)(code - 120) * v->scale[gate];
	}
}

static void run_codes(struct node_run *run, const struct codes *v, const float *x)
{
	static uint8_t zeros[ROWS];
	memset(zeros, v->zero, sizeof zeros);
	node_run_init(run, "com.microsoft", "DynamicQuantizeLSTM", 1, 3);
	node_run_add(run, DT_F32, SHAPE_OF(2, 1, INPUT), x);
	node_run_add(run, DT_U8, SHAPE_OF(1, INPUT, ROWS), v->w_code);
	node_run_add(run, DT_U8, SHAPE_OF(1, HIDDEN, ROWS), v->r_code);
	for (int i = 0; i < 5; i++)
		node_run_add(run, i == 1 ? DT_I32 : DT_F32, SCALAR, NULL);
	for (int i = 0; i < 2; i++) {
		node_run_add(run, DT_F32, SHAPE_OF(1, ROWS), v->scale);
		node_run_add(run, DT_U8, SHAPE_OF(1, ROWS), zeros);
	}
	node_run(run);
}

static void run_step(struct node_run *run, const struct codes *v, const float *x, const float *h, const float *c)
{
	node_run_init(run, "", "LSTM", 14, 3);
	node_run_add(run, DT_F32, SHAPE_OF(1, 1, INPUT), x);
	node_run_add(run, DT_F32, SHAPE_OF(1, ROWS, INPUT), v->w);
	node_run_add(run, DT_F32, SHAPE_OF(1, ROWS, HIDDEN), v->r);
	node_run_add(run, DT_F32, SCALAR, NULL);
	node_run_add(run, DT_I32, SCALAR, NULL);
	node_run_add(run, DT_F32, SHAPE_OF(1, 1, HIDDEN), h);
	node_run_add(run, DT_F32, SHAPE_OF(1, 1, HIDDEN), c);
	node_run(run);
}

// The input lies on the grid of its own range; the state between the steps is put on that of its range.
void test_op_rnn__weights_of_codes(void **state)
{
	static const float x[2 * INPUT] = {-55, 200, 3, 17, 0, -1};
	static const float nothing[HIDDEN];
	struct codes v;
	struct node_run codes, first, second;
	float h[HIDDEN], low = 0, high = 0, scale;
	fill_codes(&v);
	run_codes(&codes, &v, x);
	run_step(&first, &v, x, nothing, nothing);
	for (int i = 0; i < HIDDEN; i++) {
		h[i] = ((const float *)first.out[1].data)[i];
		low = fminf(low, h[i]);
		high = fmaxf(high, h[i]);
	}
	scale = (high - low) / 255;
	for (int i = 0; i < HIDDEN; i++)
		h[i] = rintf(h[i] / scale) * scale;
	run_step(&second, &v, x + INPUT, h, first.out[2].data);
	assert_memory_equal(codes.out[0].data, first.out[0].data, HIDDEN * sizeof(float));
	for (int i = 0; i < HIDDEN; i++)
		assert_float_equal(((const float *)codes.out[1].data)[i], ((const float *)second.out[1].data)[i], 1e-6);
	assert_memory_not_equal(h, first.out[1].data, sizeof h);
	node_run_done(&codes);
	node_run_done(&first);
	node_run_done(&second);
}

// The products of inputs with their matrix are made for several steps at once:
// the same as steps that are networks of their own, to the bit.
static void check_steps(const char *op, int gates, const char *direction)
{
	enum { LONG = 15 }; // more than are made at once, fewer than small matrices are turned for
	struct support_random random = {12};
	struct weights v;
	float x[LONG * INPUT], state[2][HIDDEN] = {{0}};
	int64_t rows = gates * HIDDEN;
	bool reverse = !strcmp(direction, "reverse");
	struct node_run all;
	fill(&v);
	support_random_floats(&random, x, LONG * INPUT, -1, 1);
	for (int t = -1; t < LONG; t++) { // -1: all of them
		struct node_run one;
		int64_t at = reverse ? LONG - 1 - t : t;
		node_run_init(&one, "", op, 14, gates == 4 ? 3 : 2);
		for (int i = 1; i < one.n.n_out; i++)
			one.out_id[i] = i;
		*(const char **)node_run_field(&one, "direction") = direction;
		node_run_add(&one, DT_F32, SHAPE_OF(t < 0 ? LONG : 1, 1, INPUT), t < 0 ? x : x + at * INPUT);
		node_run_add(&one, DT_F32, SHAPE_OF(1, rows, INPUT), v.w);
		node_run_add(&one, DT_F32, SHAPE_OF(1, rows, HIDDEN), v.r);
		node_run_add(&one, DT_F32, SHAPE_OF(1, 2 * rows), v.b);
		if (t < 0) {
			all = one;
			all.n.attrs = all.attrs;
			all.n.out = all.out_id;
			node_run(&all);
			continue;
		}
		node_run_add(&one, DT_I32, SHAPE_OF(1), NULL);
		node_run_add(&one, DT_F32, SHAPE_OF(1, 1, HIDDEN), state[0]);
		if (gates == 4)
			node_run_add(&one, DT_F32, SHAPE_OF(1, 1, HIDDEN), state[1]);
		node_run(&one);
		assert_memory_equal((float *)all.out[0].data + at * HIDDEN, one.out[0].data, HIDDEN * sizeof(float));
		for (int i = 1; i < one.n.n_out; i++)
			memcpy(state[i - 1], one.out[i].data, HIDDEN * sizeof(float));
		node_run_done(&one);
	}
	node_run_done(&all);
}

void test_op_rnn__steps_made_ahead(void **state)
{
	check_steps("LSTM", 4, "forward");
	check_steps("LSTM", 4, "reverse");
	check_steps("GRU", 3, "forward");
	check_steps("GRU", 3, "reverse");
	check_steps("RNN", 1, "reverse");
}

// Six samples of different lengths take their steps together, four and two: the same as each by itself, to the bit.
static void check_samples(const char *op, int gates, const char *direction)
{
	enum { LONG = 17, MANY = 6 }; // as many steps as matrices are turned for
	static const int32_t lengths[MANY] = {17, 9, 0, 16, 3, 17};
	struct support_random random = {13};
	struct weights v;
	float x[LONG * MANY * INPUT], own[LONG * INPUT];
	int64_t rows = gates * HIDDEN;
	struct node_run all, one;
	fill(&v);
	support_random_floats(&random, x, LONG * MANY * INPUT, -1, 1);
	for (int s = -1; s < MANY; s++) { // -1: all of them
		struct node_run *run = s < 0 ? &all : &one;
		int64_t many = s < 0 ? MANY : 1;
		for (int t = 0; s >= 0 && t < LONG; t++)
			memcpy(own + t * INPUT, x + (t * MANY + s) * INPUT, INPUT * sizeof(float));
		node_run_init(run, "", op, 14, 2);
		run->out_id[1] = 1;
		*(const char **)node_run_field(run, "direction") = direction;
		node_run_add(run, DT_F32, SHAPE_OF(LONG, many, INPUT), s < 0 ? x : own);
		node_run_add(run, DT_F32, SHAPE_OF(1, rows, INPUT), v.w);
		node_run_add(run, DT_F32, SHAPE_OF(1, rows, HIDDEN), v.r);
		node_run_add(run, DT_F32, SHAPE_OF(1, 2 * rows), v.b);
		node_run_add(run, DT_I32, SHAPE_OF(many), s < 0 ? lengths : &lengths[s]);
		node_run(run);
		for (int t = 0; s >= 0 && t < LONG; t++)
			assert_memory_equal(
			    (float *)all.out[0].data + (t * MANY + s) * HIDDEN, (float *)one.out[0].data + t * HIDDEN, HIDDEN * sizeof(float));
		if (s >= 0) {
			assert_memory_equal((float *)all.out[1].data + s * HIDDEN, one.out[1].data, HIDDEN * sizeof(float));
			node_run_done(&one);
		}
	}
	node_run_done(&all);
}

void test_op_rnn__samples_together_are_samples_alone(void **state)
{
	check_samples("LSTM", 4, "forward");
	check_samples("LSTM", 4, "reverse");
	check_samples("GRU", 3, "forward");
	check_samples("RNN", 1, "reverse");
}
