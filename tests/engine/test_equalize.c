// Equalized weights: the formula on weights that are known, what lets factors pass and what does not,
// and that the network stays what it is.
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <time.h>
#include "equalize_pair.h"
#include "qtui/engine/op.h"

static int groups_of(const struct graph *g, bool sums)
{
	struct equalize_options opt = EQUALIZE_DEFAULT;
	opt.sums = sums;
	struct equalization e = equalized(g, opt);
	int n = e.n_groups;
	equalization_done(&e);
	return n;
}

static const float *weight_of(const struct equalization *e, const struct graph *g, const char *node)
{
	const struct tuned *t = tuning_of(e->weights, graph_find_node(g, node));
	assert_non_null(t);
	return t->weight.data;
}

void test_equalize__one_round_is_the_formula(void **state)
{
	struct onnx_case c;
	struct equalize_options opt = {.rounds = 1, .threshold = 0.5};
	begin(&c);
	case_node(&c, "Relu", "relu", "h", "r");
	case_node(&c, "Conv", "two", "r w2", "y");
	case_output(&c, c.graph, "y");
	case_load(&c);
	struct equalization e = equalized(c.loaded, opt);
	// sqrt(d / u) of u = 8, 0.5, 0, 1 and d = 0.5, 2, 1, 1; of channel 2 the limit.
	const double f[MID] = {0.25, 2, 10, 1};
	const float *w1 = weight_of(&e, c.loaded, "one"), *w2 = weight_of(&e, c.loaded, "two");
	const float *b1 = tuning_of(e.weights, graph_find_node(c.loaded, "one"))->bias.data;
	for (int m = 0; m < MID; m++) {
		assert_float_equal(b1[m], (double)front_bias[m] * f[m], 1e-6);
		for (int i = 0; i < IN; i++)
			assert_float_equal(w1[m * IN + i], (double)front[m * IN + i] * f[m], 1e-6);
		for (int o = 0; o < OUT; o++)
			assert_float_equal(w2[o * MID + m], (double)behind[o * MID + m] / f[m], 1e-6);
	}
	assert_int_equal(e.n_groups, 1);
	assert_int_equal(e.group[0].channels, MID);
	assert_float_equal(e.group[0].front_before, (0 + 4 + 3) / 3.0, 1e-9); // the dead channel is not counted
	assert_float_equal(e.group[0].front_after, (0 + 1 + 1) / 3.0, 1e-9);
	equalization_done(&e);
	case_done(&c);
}

// Where a bias, counted so many times, is more than the weights in front, it decides.
void test_equalize__biases_may_count(void **state)
{
	struct onnx_case c;
	struct equalize_options opt = {.rounds = 1, .threshold = 0.5, .bias = 0.5};
	begin(&c);
	case_node(&c, "Conv", "two", "h w2", "y");
	case_output(&c, c.graph, "y");
	case_load(&c);
	struct equalization e = equalized(c.loaded, opt);
	const float *b1 = tuning_of(e.weights, graph_find_node(c.loaded, "one"))->bias.data;
	const double weights[MID] = {8, 0.5, 0, 1}, behind_of[MID] = {0.5, 2, 1, 1};
	int decided = 0;
	for (int m = 0; m < MID; m++) {
		double bias = fabs((double)front_bias[m]) / 2, u = fmax(weights[m], bias), f = u > 0 ? sqrt(behind_of[m] / u) : 10;
		assert_float_equal(b1[m], (double)front_bias[m] * fmin(fmax(f, 0.1), 10), 1e-6);
		decided += bias > weights[m];
	}
	assert_true(decided > 0);
	equalization_done(&e);
	case_done(&c);
}

void test_equalize__channels_below_the_threshold_stay(void **state)
{
	struct onnx_case c;
	struct equalize_options opt = {.rounds = 1, .threshold = 2.25};
	begin(&c);
	case_node(&c, "Conv", "two", "h w2", "y");
	case_output(&c, c.graph, "y");
	case_load(&c);
	struct equalization e = equalized(c.loaded, opt);
	const float *w1 = weight_of(&e, c.loaded, "one");
	assert_float_equal(w1[0], 2, 1e-6);                // 8 + 0.5
	assert_float_equal(w1[IN], 1, 1e-6);               // 0.5 + 2
	assert_true(w1[3 * IN] == front[3 * IN]);          // 1 + 1
	equalization_done(&e);
	case_done(&c);
}

static void kernel_of_one(struct onnx_case *c, Onnx__NodeProto *n)
{
	case_attr_ints(c, n, "kernel_shape", DIMS(1, 1));
}

// What lies between the two convolutions, and whether factors get through.
static void between(const char *op, const char *in, bool passed)
{
	struct onnx_case c;
	begin(&c);
	case_floats(&c, "slope", DIMS(MID, 1, 1), front_bias);
	Onnx__NodeProto *n = case_node(&c, op, "between", in, "r");
	if (strcmp(op, "MaxPool") == 0 || strcmp(op, "AveragePool") == 0)
		kernel_of_one(&c, n);
	case_node(&c, "Conv", "two", "r w2", "y");
	case_output(&c, c.graph, "y");
	case_load(&c);
	if (groups_of(c.loaded, false) != passed)
		fail_msg("%s: not %d groups", op, passed);
	bool *reached = equalize_reaches(c.loaded);
	assert_int_equal(reached[graph_find_node(c.loaded, "one")], passed);
	assert_int_equal(reached[graph_find_node(c.loaded, "two")], passed);
	free(reached);
	case_done(&c);
}

void test_equalize__passes_what_scales(void **state)
{
	between("Relu", "h", true);
	between("LeakyRelu", "h", true);
	between("PRelu", "h slope", true);
	between("MaxPool", "h", true);
	between("AveragePool", "h", true);
	between("GlobalMaxPool", "h", true);
	between("GlobalAveragePool", "h", true);
	between("Sigmoid", "h", false);
	between("Tanh", "h", false);
	between("Clip", "h", false);
	between("Add", "h slope", false);
}

void test_equalize__what_others_see_stays(void **state)
{
	struct onnx_case c;
	begin(&c); // an output of the model
	case_node(&c, "Conv", "two", "h w2", "y");
	case_output(&c, c.graph, "h");
	case_output(&c, c.graph, "y");
	case_load(&c);
	assert_int_equal(groups_of(c.loaded, true), 0);
	case_done(&c);
	begin(&c); // read by a Sigmoid too
	case_node(&c, "Conv", "two", "h w2", "y");
	case_node(&c, "Sigmoid", "other", "h", "z");
	case_output(&c, c.graph, "y");
	case_output(&c, c.graph, "z");
	case_load(&c);
	assert_int_equal(groups_of(c.loaded, true), 0);
	case_done(&c);
}

void test_equalize__weights_that_are_no_numbers_stay(void **state)
{
	struct onnx_case c;
	const float broken[OUT * MID] = {1, NAN, 1, 1, 1, 1, INFINITY, 1};
	begin(&c);
	case_floats(&c, "w3", DIMS(OUT, MID, 1, 1), broken);
	case_node(&c, "Conv", "two", "h w3", "y");
	case_output(&c, c.graph, "y");
	case_load(&c);
	struct equalization e = equalized(c.loaded, EQUALIZE_DEFAULT);
	assert_int_equal(e.n_groups, 0);
	assert_int_equal(tuning_count(e.weights), 0);
	equalization_done(&e);
	case_done(&c);
}

// ---- a network with every kind of weights

// one -> (Relu) -> depthwise -> a sum with `one` -> (LeakyRelu) -> transposed in two groups -> means -> Gemm;
// `shared` reads the sum as well.
static void build_network(struct onnx_case *c)
{
	begin(c);
	case_floats(c, "wd", DIMS(MID, 1, 1, 1), random_floats(c, MID, 1));
	case_floats(c, "wt", DIMS(MID, 3, 1, 1), random_floats(c, 3 * MID, 2));
	case_floats(c, "bt", DIMS(6), random_floats(c, 6, 3));
	case_floats(c, "wg", DIMS(6, 5), random_floats(c, 30, 4));
	case_node(c, "Relu", "relu", "h", "r");
	case_attr_int(c, case_node(c, "Conv", "depthwise", "r wd", "d"), "group", MID);
	case_node(c, "Add", "add", "r d", "s");
	case_node(c, "LeakyRelu", "leaky", "s", "l");
	case_attr_int(c, case_node(c, "ConvTranspose", "transposed", "l wt bt", "t"), "group", 2);
	case_node(c, "Conv", "shared", "s w2", "y");
	case_node(c, "GlobalMaxPool", "most", "t", "m");
	case_node(c, "Flatten", "flat", "m", "f");
	case_node(c, "Gemm", "gemm", "f wg", "z");
	case_output(c, c->graph, "y");
	case_output(c, c->graph, "z");
	case_load(c);
}

void test_equalize__the_network_stays_what_it_is(void **state)
{
	struct onnx_case c;
	struct equalize_options opt = EQUALIZE_DEFAULT;
	opt.sums = true;
	build_network(&c);
	struct equalization e = equalized(c.loaded, opt);
	assert_int_equal(e.n_groups, 1); // h, r, d, s, l; behind the Flatten there is none
	assert_int_equal(e.group[0].n_front, 2);
	assert_int_equal(e.group[0].n_behind, 3);
	assert_int_equal(tuning_count(e.weights), 3); // what the depthwise weights are given they give on
	struct graph *g = written(c.loaded, e.weights);
	same_outputs(c.loaded, g);
	// Its weights are others, under the names that they had.
	int one = graph_find_node(g, "one");
	assert_string_equal(g->value[g->node[one].in[1]].name, "w1");
	assert_true(((const float *)g->value[g->node[one].in[1]].constant->data)[0] != front[0]);
	assert_null(graph_metadata(g, ONNX_TUNED));
	graph_free(&g);
	equalization_done(&e);
	case_done(&c);
}

// A layer that makes nothing but its bias has a factor too: the next one's weights have been divided by it.
void test_equalize__bias_of_dead_weights(void **state)
{
	static const float dead[MID * IN] = {0};
	struct onnx_case c;
	case_init(&c);
	case_input(&c, "x", FLOAT, DIMS(1, IN, 2, 2));
	case_floats(&c, "w1", DIMS(MID, IN, 1, 1), dead);
	case_floats(&c, "b1", DIMS(MID), front_bias);
	case_floats(&c, "w2", DIMS(OUT, MID, 1, 1), behind);
	case_node(&c, "Conv", "one", "x w1 b1", "h");
	case_node(&c, "Conv", "two", "h w2", "y");
	case_output(&c, c.graph, "y");
	case_load(&c);
	struct equalization e = equalized(c.loaded, EQUALIZE_DEFAULT);
	assert_int_equal(tuning_count(e.weights), 2);
	struct graph *g = written(c.loaded, e.weights);
	same_outputs(c.loaded, g);
	graph_free(&g);
	equalization_done(&e);
	case_done(&c);
}

// Wherever memory is refused, that is said, and nothing is left behind.
void test_equalize__without_memory(void **state)
{
	struct onnx_case c;
	struct equalization e;
	struct error err = {0};
	struct equalize_options opt = {.rounds = 1, .threshold = 0, .sums = true};
	enum status st = STATUS_NOMEM;
	int refused = 0;
	build_network(&c);
	while (st == STATUS_NOMEM) {
		mem_fail_at(++refused);
		st = equalize(&e, c.loaded, &opt, &err);
		mem_fail_at(0);
		assert_true(st == STATUS_OK || (st == STATUS_NOMEM && err.text[0] && !e.group && !e.weights));
	}
	assert_int_equal(st, STATUS_OK);
	assert_in_range(refused, 10, 100);
	equalization_done(&e);
	case_done(&c);
}

static void *set_soon(void *flag)
{
	nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
	atomic_store((atomic_bool *)flag, true);
	return NULL;
}

// In the midst of rounds that would take days, and before the first.
void test_equalize__is_cancelled(void **state)
{
	struct onnx_case c;
	struct equalization e;
	struct error err = {0};
	atomic_bool cancel = false;
	struct equalize_options opt = {.rounds = 2000000000, .threshold = 0, .sums = true, .cancel = &cancel};
	pthread_t thread;
	build_network(&c);
	assert_int_equal(pthread_create(&thread, NULL, set_soon, &cancel), 0);
	assert_int_equal(equalize(&e, c.loaded, &opt, &err), STATUS_CANCELLED);
	assert_true(!e.group && !e.weights);
	pthread_join(thread, NULL);
	opt.rounds = 0;
	assert_int_equal(equalize(&e, c.loaded, &opt, &err), STATUS_CANCELLED);
	case_done(&c);
}

// Equalized once more, nothing that matters is left to move.
void test_equalize__comes_to_rest(void **state)
{
	struct onnx_case c;
	struct equalize_options opt = {.rounds = 200, .threshold = 0, .sums = true};
	build_network(&c);
	struct equalization e = equalized(c.loaded, opt);
	struct graph *g = written(c.loaded, e.weights);
	struct equalization again = equalized(g, (struct equalize_options){.rounds = 1, .threshold = 0, .sums = true});
	for (int i = 0; i < tuning_count(again.weights); i++) {
		const struct tuned *t = tuning_at(again.weights, i);
		const float *before = g->value[g->node[t->node].in[1]].constant->data, *after = t->weight.data;
		for (int64_t k = 0; k < tensor_count(&t->weight); k++)
			assert_float_equal(before[k], after[k], 1e-4f * (fabsf(before[k]) + 1e-6f));
	}
	equalization_done(&again);
	graph_free(&g);
	equalization_done(&e);
	case_done(&c);
}

// ---- as many groups as PPQ finds (numerics of its runs)

static void groups_in(const char *model, int plain, int sums)
{
	struct graph *g = NULL;
	struct error err = {0};
	const char *path = support_data(model);
	if (!path)
		skip();
	if (onnx_load(&g, path, &(struct onnx_options){0}, &err) != STATUS_OK)
		fail_msg("%s", err.text);
	if (plain >= 0)
		assert_int_equal(groups_of(g, false), plain);
	assert_int_equal(groups_of(g, true), sums);
	graph_free(&g);
}

void test_equalize__finds_the_groups_of_ppq(void **state)
{
	groups_in("models/resnet20_cifar10.onnx", 9, 11);
	groups_in("models/mobilenetv2.onnx", -1, 7);
	groups_in("models/yolov8n.onnx", -1, 0);
	groups_in("models/yolox_nano_416.onnx", -1, 0);
}
