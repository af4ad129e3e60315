// Convolutions whose weights or bias the network computes: the engine's kernels, made for one call, against the plain interpreter.
#include <math.h>
#include "onnx_case.h"
#include "qtui/engine/run.h"

enum { C = 8, K = 12, H = 9, W = 14 };

static struct tensor engine_result(const struct graph *g, const struct tensor *x, int backend)
{
	struct error err = {0};
	struct tensor y = {0};
	struct engine *e = engine_new(g, NULL, &(struct engine_options){.backend = backend, .threads = SUPPORT_WIDTH(2)});
	if (engine_infer(e, NULL, SIM_FLOAT, x, g->output, 1, false, &y, &err) != STATUS_OK)
		fail_msg("%s", err.text);
	engine_free(&e);
	return y;
}

static void check(struct onnx_case *c)
{
	struct support_random r = {82};
	struct error err = {0};
	struct tensor want = {0};
	case_output(c, c->graph, "y");
	case_load(c);
	struct tensor x = {.type = DT_F32, .shape = c->loaded->value[c->loaded->input[0]].shape};
	const struct tensor *in = &x;
	assert_int_equal(tensor_alloc(&x, NULL, &err), STATUS_OK);
	support_random_floats(&r, x.data, (size_t)tensor_count(&x), -1.0f, 1.0f);
	assert_int_equal(graph_eval(c->loaded, &in, &want, 1, &err), STATUS_OK);
	for (int backend = 0; backend < BACKEND_COUNT; backend++) {
		struct tensor y = engine_result(c->loaded, &x, backend);
		assert_true(shape_equal(&y.shape, &want.shape));
		for (int64_t i = 0; i < tensor_count(&y); i++)
			assert_true(fabsf(((float *)y.data)[i] - ((float *)want.data)[i]) <= 1e-4f);
		tensor_drop(&y);
	}
	tensor_drop(&want);
	tensor_drop(&x);
	case_done(c);
}

// "w" of this shape is a constant times what the input's first row gives.
static void begin(struct onnx_case *c, const int64_t *dims, int64_t n, bool bias)
{
	struct support_random r = {81};
	float w[K * C * 9], b[K];
	support_random_floats(&r, w, (size_t)n, -1.0f, 1.0f);
	support_random_floats(&r, b, K, -1.0f, 1.0f);
	case_init(c);
	case_input(c, "x", FLOAT, DIMS(2, C, H, W));
	case_node(c, "GlobalAveragePool", "mean", "x", "m");
	case_node(c, "ReduceMean", "one", "m", "style");
	case_floats(c, "w0", 4, dims, w);
	case_node(c, "Add", "modulate", "w0 style", "w");
	if (!bias)
		return;
	case_floats(c, "b0", DIMS(1, 1, 1, K), b);
	case_ints(c, "row", 1, (int64_t[]){K});
	case_node(c, "Add", "shift", "b0 style", "b1");
	case_node(c, "Reshape", "flat", "b1 row", "b");
}

void test_computed_weights__conv(void **state)
{
	struct onnx_case c;
	begin(&c, (int64_t[]){K, C, 3, 3}, K * C * 9, false);
	case_node(&c, "Conv", "conv", "x w", "h");
	case_node(&c, "Relu", "relu", "h", "y");
	check(&c);
}

void test_computed_weights__and_a_bias(void **state)
{
	struct onnx_case c;
	begin(&c, (int64_t[]){K, C, 1, 1}, K * C, true);
	case_node(&c, "Conv", "conv", "x w b", "y");
	check(&c);
}

void test_computed_weights__in_groups(void **state)
{
	struct onnx_case c;
	begin(&c, (int64_t[]){K, C / 4, 3, 3}, K * C / 4 * 9, false);
	case_attr_int(&c, case_node(&c, "Conv", "conv", "x w", "y"), "group", 4);
	check(&c);
}

void test_computed_weights__transposed(void **state)
{
	struct onnx_case c;
	begin(&c, (int64_t[]){C, K, 3, 3}, K * C * 9, false);
	case_node(&c, "ConvTranspose", "conv", "x w", "y");
	check(&c);
}
