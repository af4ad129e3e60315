// Equalized by how far channels reach on samples: the formula, which nodes take part beyond PPQ's,
// and what is read of the samples.
#include <math.h>
#include <stdlib.h>
#include "equalize_case.h"
#include "qtui/engine/run.h"

enum { IN = 3, MID = 4, OUT = 2, SAMPLES = 3 };
static const float front[MID * IN] = {8, 1, -2, 0.5f, 0.25f, 0.125f, 3, 2, 1, 1, -1, 0.5f};
static const float behind[OUT * MID] = {0.5f, 2, 1, 4, -0.25f, 0.5f, 1, -1};

// Two convolutions with a Relu between.
static void begin(struct onnx_case *c)
{
	case_init(c);
	case_input(c, "x", FLOAT, DIMS(1, IN, 5, 6));
	case_floats(c, "w1", DIMS(MID, IN, 1, 1), front);
	case_floats(c, "w2", DIMS(OUT, MID, 1, 1), behind);
	case_node(c, "Conv", "one", "x w1", "h");
	case_node(c, "Relu", "relu", "h", "r");
	case_node(c, "Conv", "two", "r w2", "y");
	case_output(c, c->graph, "y");
	case_load(c);
}

void test_equalize_reach__one_round_is_the_formula(void **state)
{
	struct onnx_case c;
	double top[MID] = {8, 2, 0, 1};
	begin(&c);
	double **reach = xcalloc((size_t)c.loaded->n_values, sizeof *reach);
	reach[graph_find_value(c.loaded, "r")] = top;
	struct equalization e = equalized(c.loaded, (struct equalize_options){.rounds = 1, .reach = reach});
	// sqrt(d / a) of d = 0.5, 2, 1, 4 and a = 8, 2, 0, 1 is 1/4, 1, none, 2; their geometric mean is 2^(-1/3).
	const double mean = exp2(-1.0 / 3), f[MID] = {0.25 / mean, 1 / mean, 1, 2 / mean};
	const float *w1 = tuning_of(e.weights, graph_find_node(c.loaded, "one"))->weight.data;
	const float *w2 = tuning_of(e.weights, graph_find_node(c.loaded, "two"))->weight.data;
	for (int m = 0; m < MID; m++) {
		for (int i = 0; i < IN; i++)
			assert_float_equal(w1[m * IN + i], (double)front[m * IN + i] * f[m], 1e-5);
		for (int o = 0; o < OUT; o++)
			assert_float_equal(w2[o * MID + m], (double)behind[o * MID + m] / f[m], 1e-5);
	}
	assert_true(e.by_reach && top[0] == 8); // the caller's stays
	assert_float_equal(e.group[0].reach_before, (0 + 2 + 3) / 3.0, 1e-6);
	assert_float_equal(e.group[0].reach_after, 0, 1e-6); // 2, 2, 0, 2
	equalization_done(&e);
	free(reach);
	case_done(&c);
}

// Wherever memory is refused, that is said, and nothing is left behind.
void test_equalize_reach__without_memory(void **state)
{
	struct onnx_case c;
	struct equalization e;
	struct error err = {0};
	double top[MID] = {8, 2, 0, 1};
	enum status st = STATUS_NOMEM;
	int refused = 0;
	begin(&c);
	double **reach = xcalloc((size_t)c.loaded->n_values, sizeof *reach);
	reach[graph_find_value(c.loaded, "r")] = top;
	while (st == STATUS_NOMEM) {
		mem_fail_at(++refused);
		st = equalize(&e, c.loaded, &(struct equalize_options){.rounds = 1, .reach = reach}, &err);
		mem_fail_at(0);
		assert_true(st == STATUS_OK || (st == STATUS_NOMEM && err.text[0] && !e.group && !e.weights));
	}
	assert_int_equal(st, STATUS_OK);
	assert_in_range(refused, 10, 100);
	equalization_done(&e);
	free(reach);
	case_done(&c);
}

// ---- which nodes take part

enum { TOKENS = 5, WIDTH = 6 };

static void begin_tokens(struct onnx_case *c)
{
	case_init(c);
	c->opset.version = 17;
	case_input(c, "x", FLOAT, DIMS(2, TOKENS, WIDTH));
	case_floats(c, "gain", DIMS(WIDTH), random_floats(c, WIDTH, 1));
	case_floats(c, "shift", DIMS(WIDTH), random_floats(c, WIDTH, 2));
	case_floats(c, "wide", DIMS(WIDTH, 8), random_floats(c, 8 * WIDTH, 3));
	case_floats(c, "bias", DIMS(8), random_floats(c, 8, 4));
	case_floats(c, "narrow", DIMS(8, WIDTH), random_floats(c, 8 * WIDTH, 5));
	case_floats(c, "half", DIMS(1), (float[]){0.5f});
	int64_t *shape = case_new(c, 3 * sizeof *shape);
	shape[0] = 1, shape[1] = 2 * TOKENS, shape[2] = WIDTH;
	case_ints(c, "shape", 3, shape);
}

// LayerNormalization -> Reshape -> a factor for all -> MatMul, with its bias in front of it
// -> a factor a channel -> Relu -> MatMul
static void build_tokens(struct onnx_case *c)
{
	begin_tokens(c);
	case_node(c, "LayerNormalization", "norm", "x gain shift", "n");
	case_node(c, "Reshape", "reshape", "n shape", "s");
	case_node(c, "Mul", "halve", "s half", "t");
	case_node(c, "MatMul", "up", "t wide", "u");
	case_node(c, "Add", "add", "bias u", "a");
	case_node(c, "Mul", "scale", "a bias", "m");
	case_node(c, "Relu", "relu", "m", "r");
	case_node(c, "MatMul", "down", "r narrow", "y");
	case_output(c, c->graph, "y");
	case_load(c);
}

// On samples of random numbers; the caller frees both.
static double **reach_of(const struct graph *g, struct dataset **d, bool sums)
{
	struct error err = {0};
	double **reach = NULL;
	if (dataset_open(d, NULL, g, &(struct dataset_options){.random = SAMPLES, .samples = SAMPLES}, &err) != STATUS_OK)
		fail_msg("%s", err.text);
	struct engine *e = engine_new(g, *d, &(struct engine_options){.backend = BACKEND_ONEDNN, .threads = 2, .memory = 1 << 20});
	if (equalize_reach(&reach, g, e, &(struct equalize_reading){.samples = SAMPLES, .sums = sums}, &err) != STATUS_OK)
		fail_msg("%s", err.text);
	engine_free(&e);
	return reach;
}

static struct equalization equalized_by_samples(const struct graph *g)
{
	struct dataset *d = NULL;
	struct equalize_options opt = EQUALIZE_DEFAULT;
	double **reach = reach_of(g, &d, false);
	opt.reach = reach;
	struct equalization e = equalized(g, opt);
	equalize_reach_free(&reach, g);
	dataset_free(&d);
	return e;
}

static bool is_changed(const struct equalization *e, const struct graph *g, const char *node)
{
	return tuning_of(e->weights, graph_find_node(g, node)) != NULL;
}

void test_equalize_reach__a_network_of_tokens_stays_what_it_is(void **state)
{
	struct onnx_case c;
	build_tokens(&c);
	struct equalization e = equalized_by_samples(c.loaded);
	assert_int_equal(e.n_groups, 3); // behind the norm, behind the bias, behind the factor
	assert_int_equal(e.group[0].channels, WIDTH);
	const char *const changed[] = {"norm", "up", "add", "scale", "down"};
	for (size_t i = 0; i < sizeof changed / sizeof *changed; i++)
		if (!is_changed(&e, c.loaded, changed[i]))
			fail_msg("%s has the weights that it had", changed[i]);
	assert_true(tuning_of(e.weights, graph_find_node(c.loaded, "add"))->first);
	assert_true(e.group[0].reach_after < e.group[0].reach_before);
	struct graph *g = written(c.loaded, e.weights);
	same_outputs(c.loaded, g);
	graph_free(&g);
	equalization_done(&e);
	// Without samples it is PPQ's equalization, which knows none of these.
	e = equalized(c.loaded, EQUALIZE_DEFAULT);
	assert_int_equal(e.n_groups, 0);
	equalization_done(&e);
	case_done(&c);
}

// What stands between the normalization and the product, and whether factors get through.
static void between(const char *op, const char *in, int64_t last, bool passed)
{
	struct onnx_case c;
	begin_tokens(&c);
	case_floats(&c, "square", DIMS(TOKENS, 8), random_floats(&c, TOKENS * 8, 6));
	case_node(&c, "LayerNormalization", "norm", "x gain shift", "n");
	Onnx__NodeProto *n = case_node(&c, op, "between", in, "t");
	if (strcmp(op, "Transpose") == 0)
		case_attr_ints(&c, n, "perm", 3, last == WIDTH ? (int64_t[]){1, 0, 2} : (int64_t[]){0, 2, 1});
	case_node(&c, "MatMul", "up", last == WIDTH ? "t wide" : "t square", "y");
	case_output(&c, c.graph, "y");
	case_load(&c);
	struct equalization e = equalized_by_samples(c.loaded);
	if (e.n_groups != passed)
		fail_msg("%s %s: %d groups", op, in, e.n_groups);
	struct graph *g = written(c.loaded, e.weights);
	same_outputs(c.loaded, g);
	graph_free(&g);
	equalization_done(&e);
	case_done(&c);
}

static void ends_without_groups(struct onnx_case *c)
{
	case_output(c, c->graph, "y");
	case_load(c);
	struct equalization e = equalized_by_samples(c->loaded);
	assert_int_equal(e.n_groups, 0);
	equalization_done(&e);
	case_done(c);
}

// A scale with a value for each row is not one with a value for each channel,
// also where there are as many rows as channels.
void test_equalize_reach__a_scale_of_rows_takes_no_factors(void **state)
{
	struct onnx_case c;
	case_init(&c);
	c.opset.version = 17;
	case_input(&c, "x", FLOAT, DIMS(2, WIDTH, WIDTH));
	case_floats(&c, "gain", DIMS(WIDTH, 1), random_floats(&c, WIDTH, 1));
	case_floats(&c, "wide", DIMS(WIDTH, 8), random_floats(&c, 8 * WIDTH, 3));
	case_node(&c, "LayerNormalization", "norm", "x gain", "n");
	case_node(&c, "MatMul", "up", "n wide", "y");
	ends_without_groups(&c);
}

// Nor is a scale without dimensions, also where there is one channel.
void test_equalize_reach__a_scale_of_no_dimension_takes_no_factors(void **state)
{
	struct onnx_case c;
	case_init(&c);
	c.opset.version = 17;
	case_input(&c, "x", FLOAT, DIMS(2, WIDTH, 1));
	case_floats(&c, "gain", 0, NULL, random_floats(&c, 1, 1));
	case_floats(&c, "wide", DIMS(1, 8), random_floats(&c, 8, 3));
	case_node(&c, "LayerNormalization", "norm", "x gain", "n");
	case_node(&c, "MatMul", "up", "n wide", "y");
	ends_without_groups(&c);
}

void test_equalize_reach__passes_what_keeps_channels(void **state)
{
	between("Relu", "n", WIDTH, true);
	between("Transpose", "n", WIDTH, true);
	between("Transpose", "n", TOKENS, false); // the product reads along tokens
	between("Reshape", "n shape", WIDTH, true);
	between("Div", "n half", WIDTH, true);
	between("Div", "half n", WIDTH, false);
	between("Mul", "n n", WIDTH, false);
	between("Softmax", "n", WIDTH, false);
}

// Channels of a convolution are dimension 1, those of a product the last one: a tensor with both has no factors.
void test_equalize_reach__one_dimension_for_all(void **state)
{
	struct onnx_case c;
	case_init(&c);
	case_input(&c, "x", FLOAT, DIMS(1, IN, MID, MID));
	case_floats(&c, "w1", DIMS(MID, IN, 1, 1), front);
	case_floats(&c, "w2", DIMS(MID, OUT), behind);
	case_node(&c, "Conv", "one", "x w1", "h");
	case_node(&c, "MatMul", "two", "h w2", "y");
	ends_without_groups(&c);
}

// ---- what is read of samples

void test_equalize_reach__is_the_largest_of_all_samples(void **state)
{
	struct onnx_case c;
	struct dataset *d = NULL;
	double most[MID] = {0};
	begin(&c);
	double **reach = reach_of(c.loaded, &d, false);
	for (int s = 0; s < SAMPLES; s++) {
		struct tensor x = {0};
		struct error err = {0};
		assert_int_equal(dataset_load(d, s, &x, NULL, &err), STATUS_OK);
		for (int m = 0; m < MID; m++)
			for (int p = 0; p < 5 * 6; p++) {
				double y = 0;
				for (int i = 0; i < IN; i++)
					y += (double)front[m * IN + i] * (double)((const float *)x.data)[i * 5 * 6 + p];
				most[m] = fmax(most[m], y);
			}
		tensor_drop(&x);
	}
	int r = graph_find_value(c.loaded, "r");
	for (int m = 0; m < MID; m++)
		assert_float_equal(reach[r][m], most[m], 1e-5 * (most[m] + 1));
	for (int v = 0; v < c.loaded->n_values; v++)
		assert_true((reach[v] != NULL) == (v == r));
	equalize_reach_free(&reach, c.loaded);
	dataset_free(&d);
	case_done(&c);
}

void test_equalize_reach__is_cancelled(void **state)
{
	struct onnx_case c;
	struct dataset *d = NULL;
	struct error err = {0};
	atomic_bool cancel = true;
	double **reach = NULL;
	begin(&c);
	assert_int_equal(dataset_open(&d, NULL, c.loaded, &(struct dataset_options){.random = 1, .samples = 1}, &err), STATUS_OK);
	struct engine *e = engine_new(c.loaded, d, &(struct engine_options){.backend = BACKEND_ONEDNN, .threads = 1, .memory = 1 << 20});
	assert_int_equal(
	    equalize_reach(&reach, c.loaded, e, &(struct equalize_reading){.samples = 1, .cancel = &cancel}, &err), STATUS_CANCELLED);
	assert_null(reach);
	engine_free(&e);
	dataset_free(&d);
	case_done(&c);
}
