// The normalisation passes: what they fold, what they must leave, and that the numbers stay.
#include <math.h>
#include "onnx_case.h"
#include "qtui/engine/eval.h"
#include "qtui/engine/op.h"

enum { C = 3, K = 2 };
static const float weight[K * C] = {1, -2, 3, 0.5f, 4, -1};
static const float bias[K] = {0.25f, -1};
static const float scale[C] = {2, 0.5f, 1}, shift[C] = {1, -1, 0}, mean[C] = {0.5f, 2, 1}, var[C] = {4, 1, 0.25f};

static void norm_inputs(struct onnx_case *c, int64_t n)
{
	case_floats(c, "scale", 1, &n, scale);
	case_floats(c, "shift", 1, &n, shift);
	case_floats(c, "mean", 1, &n, mean);
	case_floats(c, "var", 1, &n, var);
}

static void conv_case(struct onnx_case *c, bool with_bias)
{
	case_init(c);
	case_input(c, "x", FLOAT, DIMS(1, C, 2, 2));
	case_floats(c, "w", DIMS(K, C, 1, 1), weight);
	case_floats(c, "b", DIMS(K), bias);
	case_node(c, "Conv", "conv", with_bias ? "x w b" : "x w", "h");
	norm_inputs(c, K);
}

static const float *constant(const struct graph *g, int node, int input)
{
	return g->value[g->node[node].in[input]].constant->data;
}

void test_onnx_passes__batchnorm_folds_into_conv(void **state)
{
	struct onnx_case c;
	const struct graph *g;
	conv_case(&c, true);
	case_node(&c, "BatchNormalization", "norm", "h scale shift mean var", "y");
	case_output(&c, c.graph, "y");
	case_load(&c);
	g = c.loaded;
	assert_int_equal(g->n_nodes, 1);
	assert_string_equal(g->node[0].name, "conv");
	assert_string_equal(g->value[g->node[0].in[1]].name, "conv_weight");
	assert_string_equal(g->value[g->node[0].in[2]].name, "conv_bias");
	for (int k = 0; k < K; k++) {
		float root = sqrtf(var[k] + 1e-5f), gain = scale[k] / root;
		for (int i = 0; i < C; i++)
			assert_true(constant(g, 0, 1)[k * C + i] == weight[k * C + i] * gain);
		assert_true(constant(g, 0, 2)[k] == scale[k] * (bias[k] - mean[k]) / root + shift[k]);
	}
	assert_int_equal(g->origin[1].fate, FATE_FUSED);
	assert_int_equal(graph_find_node(g, "norm"), 0);
	assert_string_equal(g->value[g->output[0]].name, "y");
	case_done(&c);
}

void test_onnx_passes__batchnorm_stays_when_conv_has_two_readers(void **state)
{
	struct onnx_case c;
	conv_case(&c, false);
	case_node(&c, "BatchNormalization", "norm", "h scale shift mean var", "y");
	case_node(&c, "Relu", "other", "h", "z");
	case_output(&c, c.graph, "y");
	case_output(&c, c.graph, "z");
	case_load(&c);
	assert_int_equal(c.loaded->n_nodes, 3);
	assert_true(constant(c.loaded, 0, 1)[0] == weight[0]);
	case_done(&c);
}

// Its statistics are those of the batch.
void test_onnx_passes__batchnorm_in_training_stays(void **state)
{
	struct onnx_case c;
	conv_case(&c, false);
	c.opset.version = 15;
	case_attr_int(&c, case_node(&c, "BatchNormalization", "norm", "h scale shift mean var", "y"), "training_mode", 1);
	case_output(&c, c.graph, "y");
	case_load(&c);
	assert_int_equal(c.loaded->n_nodes, 2);
	assert_true(constant(c.loaded, 0, 1)[0] == weight[0]);
	case_done(&c);
}

void test_onnx_passes__batchnorm_alone_is_a_depthwise_conv(void **state)
{
	struct onnx_case c;
	const struct node *n;
	case_init(&c);
	case_input(&c, "x", FLOAT, DIMS(1, C, 2, 2));
	norm_inputs(&c, C);
	case_node(&c, "BatchNormalization", "norm", "x scale shift mean var", "y");
	case_output(&c, c.graph, "y");
	case_load(&c);
	n = &c.loaded->node[graph_find_node(c.loaded, "norm")];
	assert_int_equal(n->op->id, OP_Conv);
	assert_string_equal(c.loaded->origin[0].op_type, "BatchNormalization");
	assert_int_equal(((const struct conv_attrs *)n->attrs)->group, C);
	assert_true(constant(c.loaded, 0, 1)[1] == scale[1] / sqrtf(var[1] + 1e-5f));
	case_done(&c);
}

void test_onnx_passes__a_bias_is_taken_in(void **state)
{
	static const float added[K] = {5, 6};
	struct onnx_case c;
	conv_case(&c, false);
	case_floats(&c, "add", DIMS(1, K, 1, 1), added);
	case_node(&c, "Add", "plus", "add h", "y");
	case_output(&c, c.graph, "y");
	case_load(&c);
	assert_int_equal(c.loaded->n_nodes, 1);
	assert_int_equal(c.loaded->node[0].n_in, 3);
	assert_true(constant(c.loaded, 0, 2)[1] == 6);
	assert_int_equal(c.loaded->origin[1].fate, FATE_FUSED);
	case_done(&c);
}

void test_onnx_passes__batchnorm_folds_over_a_bias(void **state)
{
	static const float added[K] = {5, 6};
	struct onnx_case c;
	conv_case(&c, false);
	case_floats(&c, "add", DIMS(K, 1, 1), added);
	case_node(&c, "Add", "plus", "h add", "g");
	case_node(&c, "BatchNormalization", "norm", "g scale shift mean var", "y");
	case_output(&c, c.graph, "y");
	case_load(&c);
	assert_int_equal(c.loaded->n_nodes, 1);
	assert_true(constant(c.loaded, 0, 2)[0] == scale[0] * (5 - mean[0]) / sqrtf(var[0] + 1e-5f) + shift[0]);
	assert_int_equal(graph_find_node(c.loaded, "norm"), 0);
	assert_int_equal(graph_find_node(c.loaded, "plus"), 0);
	case_done(&c);
}

void test_onnx_passes__what_is_no_bias_stays(void **state)
{
	static const float added[4] = {5, 6, 7, 8};
	struct onnx_case c;
	conv_case(&c, false);
	case_floats(&c, "add", DIMS(2, 2), added); // over pixels
	case_node(&c, "Add", "plus", "h add", "y");
	case_output(&c, c.graph, "y");
	case_load(&c);
	assert_int_equal(c.loaded->n_nodes, 2);
	case_done(&c);
	conv_case(&c, true); // there is a bias already
	case_floats(&c, "add", DIMS(K, 1, 1), added);
	case_node(&c, "Add", "plus", "h add", "y");
	case_output(&c, c.graph, "y");
	case_load(&c);
	assert_int_equal(c.loaded->n_nodes, 2);
	case_done(&c);
}

// One number for all channels is none a channel; and what somebody else reads is without it.
void test_onnx_passes__a_bias_is_of_all_channels_and_readers(void **state)
{
	static const float added[K] = {5, 6};
	struct onnx_case c;
	conv_case(&c, false);
	case_floats(&c, "add", DIMS(1), added);
	case_node(&c, "Add", "plus", "h add", "y");
	case_output(&c, c.graph, "y");
	case_load(&c);
	assert_int_equal(c.loaded->n_nodes, 2);
	case_done(&c);
	conv_case(&c, false);
	case_floats(&c, "add", DIMS(K, 1, 1), added);
	case_node(&c, "Add", "plus", "h add", "y");
	case_node(&c, "Sigmoid", "other", "h", "z");
	case_output(&c, c.graph, "y");
	case_output(&c, c.graph, "z");
	case_load(&c);
	assert_int_equal(c.loaded->n_nodes, 3);
	assert_true(graph_find_node(c.loaded, "plus") >= 0);
	case_done(&c);
}

// beta would multiply what was added to the product before.
void test_onnx_passes__a_gemm_takes_a_bias_where_beta_is_one(void **state)
{
	static const float added[K] = {5, 6}, beta[2] = {1, 0.5f};
	for (int i = 0; i < 2; i++) {
		struct onnx_case c;
		case_init(&c);
		case_input(&c, "x", FLOAT, DIMS(2, C));
		case_floats(&c, "w", DIMS(C, K), weight);
		case_floats(&c, "add", DIMS(K), added);
		case_attr_float(&c, case_node(&c, "Gemm", "gemm", "x w", "h"), "beta", beta[i]);
		case_node(&c, "Add", "plus", "h add", "y");
		case_output(&c, c.graph, "y");
		case_load(&c);
		assert_int_equal(c.loaded->n_nodes, 1 + i);
		case_done(&c);
	}
}

static void case_cast(struct onnx_case *c, const char *name, const char *in, const char *out, int to)
{
	case_attr_int(c, case_node(c, "Cast", name, in, out), "to", to);
}

// One to 16 bits rounds where that is all it is for: read by one back alone, or an output. Between operators nothing is in 16 bits.
void test_onnx_passes__casts_that_round_stay(void **state)
{
	enum { HALF = ONNX__TENSOR_PROTO__DATA_TYPE__FLOAT16 };
	struct onnx_case c;
	case_init(&c);
	case_input(&c, "x", FLOAT, DIMS(2));
	case_cast(&c, "down", "x", "h", HALF);
	case_cast(&c, "up", "h", "a", FLOAT);
	case_node(&c, "Neg", "neg", "a", "y");
	case_output(&c, c.graph, "y");
	case_load(&c);
	assert_int_equal(c.loaded->n_nodes, 3);
	case_done(&c);
	case_init(&c);
	case_input(&c, "x", FLOAT, DIMS(2));
	case_cast(&c, "down", "x", "h", HALF);
	case_node(&c, "Sigmoid", "other", "h", "s");
	case_cast(&c, "up", "h", "a", FLOAT);
	case_node(&c, "Neg", "neg", "a", "y");
	case_cast(&c, "last", "s", "b", FLOAT);
	case_node(&c, "Neg", "again", "b", "z");
	case_output(&c, c.graph, "y");
	case_output(&c, c.graph, "z");
	case_load(&c);
	assert_int_equal(c.loaded->n_nodes, 3); // without a cast
	case_done(&c);
	case_init(&c);
	case_input(&c, "x", FLOAT, DIMS(2));
	case_node(&c, "Neg", "neg", "x", "a");
	case_cast(&c, "down", "a", "y", HALF);
	case_output(&c, c.graph, "y");
	case_load(&c);
	assert_int_equal(c.loaded->n_nodes, 2);
	case_done(&c);
}

void test_onnx_passes__dequantized_constants_are_weights(void **state)
{
	struct onnx_case c;
	static const int8_t codes[K * C] = {1, 2, 3, 4, 5, 6};
	static const float step[1] = {0.5f};
	conv_case(&c, true);
	case_const(&c, "codes", ONNX__TENSOR_PROTO__DATA_TYPE__INT8, DIMS(K, C, 1, 1), codes, sizeof codes);
	case_floats(&c, "step", 0, NULL, step);
	case_node(&c, "DequantizeLinear", "dq", "codes step", "wq");
	case_words(&c, c.graph->node[0]->input, "x wq b");
	case_node(&c, "BatchNormalization", "norm", "h scale shift mean var", "y");
	case_output(&c, c.graph, "y");
	case_load(&c);
	assert_int_equal(graph_find_node(c.loaded, "dq"), -1);
	assert_int_equal(graph_no_node(c.loaded, "dq", &c.err), STATUS_NOTFOUND);
	assert_non_null(strstr(c.err.text, "node dq is computed when the model is loaded"));
	assert_int_equal(c.loaded->n_nodes, 1);
	case_done(&c);
}

static Onnx__NodeProto *nbits_case(struct onnx_case *c, const char *in)
{
	static const uint8_t codes[2] = {0x21, 0x0f};
	Onnx__NodeProto *n;
	case_init(c);
	case_input(c, "x", FLOAT, DIMS(1, 1, 2));
	case_const(c, "codes", ONNX__TENSOR_PROTO__DATA_TYPE__UINT8, DIMS(2, 1, 1), codes, sizeof codes);
	case_floats(c, "scales", DIMS(2), (const float[]){2, 0.5f});
	case_floats(c, "b", DIMS(K), bias);
	n = case_node(c, "MatMulNBits", "packed", in, "y");
	n->domain = case_text(c, "com.microsoft");
	case_attr_int(c, n, "K", 2);
	case_attr_int(c, n, "N", 2);
	case_attr_int(c, n, "bits", 4);
	case_attr_int(c, n, "block_size", 2);
	case_output(c, c->graph, "y");
	return n;
}

void test_onnx_passes__packed_weights_become_weights(void **state)
{
	static const float want[4] = {-14, 3.5f, -12, -4}; // codes less 8, in columns
	const float x[2] = {1, 2};
	struct tensor in = {.type = DT_F32, .shape = {3, {1, 1, 2}}, .data = (void *)x}, y;
	const struct tensor *list[1] = {&in};
	struct onnx_case c;
	nbits_case(&c, "x codes scales - - b");
	case_load(&c);
	assert_int_equal(c.loaded->n_nodes, 2);
	assert_int_equal(c.loaded->node[0].op->id, OP_MatMul);
	assert_string_equal(c.loaded->node[0].name, "packed");
	assert_memory_equal(constant(c.loaded, 0, 1), want, sizeof want);
	if (graph_eval(c.loaded, list, &y, 1, &c.err))
		fail_msg("%s", c.err.text);
	assert_true(((float *)y.data)[0] == -38 + bias[0] && ((float *)y.data)[1] == -4.5f + bias[1]);
	tensor_drop(&y);
	case_done(&c);
	nbits_case(&c, "x codes given");
	case_input(&c, "given", FLOAT, DIMS(2));
	case_load(&c);
	assert_int_equal(c.loaded->node[0].op->id, OP_MatMulNBits);
	case_done(&c);
	nbits_case(&c, "x codes scales")->attribute[2]->i = 0;
	case_refused(&c, STATUS_UNSUPPORTED, "node packed (MatMulNBits): bits 0");
	case_done(&c);
}
