// ConvInteger by the executor, on float kernels, and QLinearConv, on those for codes,
// against the plain evaluation in integers: the same bits.
#include <math.h>
#include "onnx_case.h"
#include "qtui/engine/eval.h"
#include "qtui/engine/run.h"

#define UINT8 ONNX__TENSOR_PROTO__DATA_TYPE__UINT8
#define INT8 ONNX__TENSOR_PROTO__DATA_TYPE__INT8

struct layer {
	int64_t in, out, kernel, size, group;
	int spread;      // weights lie in -spread..spread
	bool zero_points, codes; // codes: QLinearConv
	float y_step;            // of QLinearConv
	bool long_bias;          // of 64 bits
};

static void weights(struct onnx_case *c, const struct layer *l, struct support_random *r)
{
	int64_t n = l->out * l->in / l->group * l->kernel * l->kernel;
	int8_t *w = case_new(c, (size_t)n);
	const int64_t dims[4] = {l->out, l->in / l->group, l->kernel, l->kernel};
	for (int64_t i = 0; i < n; i++)
		w[i] = (int8_t)support_random_int(r, -l->spread, l->spread);
	case_const(c, "w", INT8, 4, dims, w, (size_t)n);
}

// A scale for each channel, and a bias.
static void scales_and_bias(struct onnx_case *c, const struct layer *l, struct support_random *r)
{
	float *scale = case_new(c, (size_t)l->out * sizeof *scale);
	int32_t *bias = case_new(c, (size_t)l->out * sizeof *bias);
	for (int64_t i = 0; i < l->out; i++) {
		scale[i] = support_random_float(r, 0.5f, 2.0f);
		bias[i] = support_random_int(r, -100000, 100000);
	}
	case_floats(c, "w_step", 1, &l->out, scale);
	int64_t *wide = case_new(c, (size_t)l->out * sizeof *wide);
	for (int64_t i = 0; i < l->out; i++)
		wide[i] = bias[i];
	if (l->long_bias)
		case_const(c, "bias", ONNX__TENSOR_PROTO__DATA_TYPE__INT64, 1, &l->out, wide, (size_t)l->out * sizeof *wide);
	else
		case_const(c, "bias", ONNX__TENSOR_PROTO__DATA_TYPE__INT32, 1, &l->out, bias, (size_t)l->out * sizeof *bias);
}

static void check(const struct layer *l)
{
	static const int64_t none[1] = {0};
	struct onnx_case c;
	struct support_random r = {29};
	struct error err = {0};
	const uint8_t zero = 117;
	const int8_t w_zero = 3;
	case_init(&c);
	case_input(&c, "x", UINT8, 4, (const int64_t[]){1, l->in, l->size, l->size});
	weights(&c, l, &r);
	case_const(&c, "zero", UINT8, 0, none, &zero, 1);
	case_const(&c, "w_zero", INT8, 0, none, &w_zero, 1);
	const float scales[2] = {0.02f, l->y_step};
	case_floats(&c, "step", 0, none, &scales[0]);
	case_floats(&c, "y_step", 0, none, &scales[1]);
	if (l->codes)
		scales_and_bias(&c, l, &r);
	Onnx__NodeProto *n = l->codes ? case_node(&c, "QLinearConv", "conv", "x step zero w w_step w_zero y_step zero bias", "y") :
	    case_node(&c, "ConvInteger", "conv", l->zero_points ? "x w zero w_zero" : "x w", "y");
	case_attr_int(&c, n, "group", l->group);
	case_output(&c, c.graph, "y");
	case_load(&c);

	const struct graph *g = c.loaded;
	struct tensor in = {.type = DT_U8, .shape = g->value[g->input[0]].shape}, out = {0}, expected = {0};
	const struct tensor *list[1] = {&in};
	assert_int_equal(tensor_alloc(&in, NULL, &err), STATUS_OK);
	for (int64_t i = 0; i < tensor_count(&in); i++)
		((uint8_t *)in.data)[i] = (uint8_t)support_random_int(&r, 0, 255);
	assert_int_equal(graph_eval(g, list, &expected, 1, &err), STATUS_OK);
	for (int b = BACKEND_ONEDNN; b <= BACKEND_BLAS; b++) {
		struct engine *e = engine_new(g, NULL, &(struct engine_options){.backend = (enum kernel_backend)b, .threads = 1});
		assert_int_equal(
		    engine_infer(e, NULL, &(struct inference){.in = &in, .want = g->output, .n_want = 1, .out = &out}, &err), STATUS_OK);
		assert_int_equal(out.type, l->codes ? DT_U8 : DT_I32);
		assert_memory_equal(out.data, expected.data, tensor_bytes(&expected));
		tensor_drop(&out);
		engine_free(&e);
	}
	tensor_drop(&expected);
	tensor_drop(&in);
	case_done(&c);
}

void test_convinteger__small_sums(void **state)
{
	check(&(struct layer){.in = 8, .out = 12, .kernel = 3, .size = 9, .group = 1, .spread = 40, .zero_points = true});
	check(&(struct layer){.in = 8, .out = 8, .kernel = 3, .size = 9, .group = 8, .spread = 127});
}

void test_convinteger__rounded_to_codes(void **state)
{
	check(&(struct layer){.in = 16, .out = 12, .kernel = 3, .size = 9, .group = 2, .spread = 127, .codes = true, .y_step = 30});
	check(&(struct layer){.in = 3, .out = 20, .kernel = 3, .size = 9, .group = 1, .spread = 127, .codes = true, .y_step = 30});
	check(&(struct layer){.in = 24, .out = 24, .kernel = 3, .size = 8, .group = 24, .spread = 127, .codes = true, .y_step = 30});
	check(&(struct layer){.in = 40, .out = 2, .kernel = 1, .size = 7, .group = 1, .spread = 127, .codes = true, .y_step = 30});
	check(&(struct layer){
	    .in = 16, .out = 12, .kernel = 3, .size = 9, .group = 1, .spread = 127, .codes = true, .y_step = 30, .long_bias = true});
	check(&(struct layer){.in = 16, .out = 12, .kernel = 3, .size = 9, .group = 1, .spread = 127, .codes = true, .y_step = 0});
	check(&(struct layer){.in = 16, .out = 12, .kernel = 3, .size = 9, .group = 1, .spread = 127, .codes = true, .y_step = NAN});
}

// 192 channels of 3x3 with weights around 64: sums beyond what a float counts one by one.
void test_convinteger__sums_beyond_a_float(void **state)
{
	check(&(struct layer){.in = 192, .out = 9, .kernel = 3, .size = 5, .group = 1, .spread = 127, .zero_points = true});
}

// Even the sixteens are too large: the plain evaluation serves.
void test_convinteger__sums_beyond_both_parts(void **state)
{
	check(&(struct layer){.in = 1600, .out = 2, .kernel = 3, .size = 4, .group = 1, .spread = 127});
}
