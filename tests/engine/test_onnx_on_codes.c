// Operators on codes in QDQ form: the same codes, under the names that a QDQ file has.
#include <stdlib.h>
#include "onnx_case.h"
#include "support.h"
#include "qtui/engine/eval.h"
#include "qtui/engine/file_grid.h"
#include "qtui/engine/op.h"

enum { UINT8 = ONNX__TENSOR_PROTO__DATA_TYPE__UINT8, INT8 = ONNX__TENSOR_PROTO__DATA_TYPE__INT8, INT32 = ONNX__TENSOR_PROTO__DATA_TYPE__INT32 };
enum { C = 4, H = 3, IMAGE = C * H * H, WEIGHTS = C * C };

// Everything that the operators below read: codes a, b and their grids, weights with one scale or one for each output.
static void add_constants(struct onnx_case *c)
{
	static const float scale[] = {0.0203f, 0.0311f, 0.0257f, 0.0409f};
	static const int32_t bias[C] = {100, -300, 5000, 0};
	uint8_t codes[IMAGE];
	int8_t weights[WEIGHTS];
	struct support_random random = {3};
	for (int i = 0; i < IMAGE; i++)
		codes[i] = (uint8_t)support_random_float(&random, 0, 255);
	for (int i = 0; i < WEIGHTS; i++)
		weights[i] = (int8_t)support_random_float(&random, -127, 127);
	case_floats(c, "sa", 0, NULL, &scale[0]);
	case_floats(c, "sb", 0, NULL, &scale[1]);
	case_floats(c, "sy", 0, NULL, &scale[3]);
	case_floats(c, "sws", DIMS(C), scale);
	case_const(c, "za", UINT8, 0, NULL, (const uint8_t[]){120}, 1);
	case_const(c, "zb", UINT8, 0, NULL, (const uint8_t[]){7}, 1);
	case_const(c, "zy", UINT8, 0, NULL, (const uint8_t[]){100}, 1);
	case_const(c, "zw", INT8, 0, NULL, (const int8_t[]){0}, 1);
	case_const(c, "zws", INT8, DIMS(C), (const int8_t[C]){0}, C);
	case_const(c, "b", UINT8, DIMS(1, C, H, H), codes, sizeof codes);
	case_const(c, "w", INT8, DIMS(C, C, 1, 1), weights, sizeof weights);
	case_const(c, "m", INT8, DIMS(C, C), weights, sizeof weights);
	case_const(c, "bias", INT32, DIMS(C), bias, sizeof bias);
	case_const(c, "where", ONNX__TENSOR_PROTO__DATA_TYPE__BOOL, DIMS(C, 1, 1), (const uint8_t[C]){1, 0, 0, 1}, C);
}

static const struct of_op {
	const char *op, *domain, *in, *to;
	bool matrix;               // the input is 3 rows of 4, else an image
	int weight_axis;           // of the scales of its weights; -1: it has none of its own
	const char *attribute;     // an integer, or "kernel" of 2
	int value;
} ops[] = {
    {"QLinearConv", "", "a_quantized sa za w sa zw sy zy", "Conv", false, -1, NULL, 0},
    {"QLinearConv", "", "a_quantized sa za w sws zws sy zy bias", "Conv", false, 0, NULL, 0},
    {"QLinearMatMul", "", "a_quantized sa za m sws zws sy zy", "MatMul", true, 1, NULL, 0},
    {"QGemm", "com.microsoft", "a_quantized sa za m sws zws bias sy zy", "Gemm", true, 1, NULL, 0},
    {"QGemm", "com.microsoft", "a_quantized sa za m sws zws bias sy zy", "Gemm", true, 0, "transB", 1},
    {"QLinearAdd", "com.microsoft", "a_quantized sa za b sb zb sy zy", "Add", false, -1, NULL, 0},
    {"QLinearMul", "com.microsoft", "a_quantized sa za b sb zb sy zy", "Mul", false, -1, NULL, 0},
    {"QLinearAveragePool", "com.microsoft", "a_quantized sa za sy zy", "AveragePool", false, -1, "kernel", 2},
    {"QLinearGlobalAveragePool", "com.microsoft", "a_quantized sa za sy zy", "GlobalAveragePool", false, -1, "channels_last", 0},
    {"QLinearLeakyRelu", "com.microsoft", "a_quantized sa za sy zy", "LeakyRelu", false, -1, NULL, 0},
    {"QLinearSigmoid", "com.microsoft", "a_quantized sa za sy zy", "Sigmoid", false, -1, NULL, 0},
    {"QLinearSoftmax", "com.microsoft", "a_quantized sa za sy zy", "Softmax", true, -1, "opset", 13},
    {"QLinearWhere", "com.microsoft", "where a_quantized sa za b sb zb sy zy", "Where", false, -1, NULL, 0},
    {"QLinearConcat", "com.microsoft", "sy zy a_quantized sa za b sb zb", "Concat", false, -1, "axis", 1},
};

static void make(struct onnx_case *c, const struct of_op *o)
{
	case_init(c);
	if (o->matrix)
		case_input(c, "a_quantized", UINT8, DIMS(3, C));
	else
		case_input(c, "a_quantized", UINT8, DIMS(1, C, H, H));
	add_constants(c);
	Onnx__NodeProto *n = case_node(c, o->op, "it_quant", o->in, "y_quantized");
	if (o->domain[0])
		n->domain = case_text(c, o->domain);
	if (o->attribute && strcmp(o->attribute, "kernel") == 0)
		case_attr_ints(c, n, "kernel_shape", DIMS(2, 2));
	else if (o->attribute)
		case_attr_int(c, n, o->attribute, o->value);
	case_output(c, c->graph, "y_quantized");
}

static void evaluate(struct tensor *y, struct onnx_case *c, const struct of_op *o)
{
	uint8_t codes[IMAGE];
	for (int i = 0; i < IMAGE; i++)
		codes[i] = (uint8_t)(i * 89 % 256);
	struct tensor a = {.type = DT_U8, .shape = o->matrix ? (struct shape){2, {3, C}} : (struct shape){4, {1, C, H, H}}, .data = codes};
	if (graph_eval(c->loaded, (const struct tensor *[]){&a}, y, 1, &c->err))
		fail_msg("%s: %s", o->op, c->err.text);
}

// The codes may be one apart where a value lies in the middle between two.
void test_onnx_on_codes__give_the_same_codes(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof ops / sizeof *ops; i++) {
		struct onnx_case codes, pairs;
		struct tensor want, got;
		int other = 0;
		make(&codes, &ops[i]);
		make(&pairs, &ops[i]);
		case_load(&codes);
		if (case_load_with(&pairs, &(struct onnx_options){.pairs = true, .codes = true}))
			fail_msg("%s", pairs.err.text);
		evaluate(&want, &codes, &ops[i]);
		evaluate(&got, &pairs, &ops[i]);
		assert_true(shape_equal(&want.shape, &got.shape));
		assert_int_equal(got.type, DT_U8);
		for (int64_t k = 0; k < tensor_count(&want); k++) {
			int d = abs(((const uint8_t *)want.data)[k] - ((const uint8_t *)got.data)[k]);
			assert_true(d <= 1);
			other += d;
		}
		if (other > 2)
			fail_msg("%s: %d codes are others", ops[i].op, other);
		tensor_drop(&want);
		tensor_drop(&got);
		case_done(&codes);
		case_done(&pairs);
	}
}

void test_onnx_on_codes__names_and_weights(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof ops / sizeof *ops; i++) {
		struct onnx_case c;
		struct file_codes weight;
		make(&c, &ops[i]);
		if (case_load_with(&c, &(struct onnx_options){.pairs = true, .codes = true}))
			fail_msg("%s", c.err.text);
		int node = graph_find_node(c.loaded, "it"), y = graph_find_value(c.loaded, "y");
		assert_true(node >= 0 && y >= 0);
		assert_string_equal(c.loaded->node[node].op->name, ops[i].to);
		assert_int_equal(c.loaded->value[y].producer, node);
		if (ops[i].weight_axis >= 0) {
			int maker = c.loaded->value[c.loaded->node[node].in[1]].producer;
			assert_true(maker >= 0);
			if (file_codes_read(&weight, c.loaded, &c.loaded->node[maker], &c.err))
				fail_msg("%s", c.err.text);
			assert_int_equal(weight.q.axis, ops[i].weight_axis);
			assert_int_equal(weight.q.n, C);
			file_codes_done(&weight);
		}
		case_done(&c);
	}
}

// Loads the model as its codes and as pairs, and takes what each gives. Only with pairs are there floats by the names in
// `tensor`, NULL at the end.
static void take(struct tensor *out, struct onnx_case *c, bool pairs, const char *const *tensor)
{
	if (case_load_with(c, &(struct onnx_options){.pairs = pairs}))
		fail_msg("%s", c->err.text);
	evaluate(out, c, &ops[0]);
	for (; *tensor; tensor++) {
		int v = graph_find_value(c->loaded, *tensor);
		assert_int_equal(v >= 0, pairs);
		assert_true(!pairs || c->loaded->value[v].type == DT_F32);
	}
	case_done(c);
}

static void assert_same_codes(struct tensor *want, struct tensor *got)
{
	assert_int_equal(got->type, DT_U8);
	assert_int_equal(tensor_bytes(want), tensor_bytes(got));
	assert_memory_equal(want->data, got->data, tensor_bytes(want));
	tensor_drop(want);
	tensor_drop(got);
}

// Operators that move codes stand between pairs, on the grid of what they move.
void test_onnx_on_codes__that_move_them(void **state)
{
	struct onnx_case c;
	struct tensor want, got;
	(void)state;
	for (int pairs = 0; pairs < 2; pairs++) {
		make(&c, &ops[0]);
		c.graph->n_output = 0;
		case_attr_ints(&c, case_node(&c, "MaxPool", "pool", "y_quantized", "pool_quantized"), "kernel_shape", DIMS(2, 2));
		case_attr_int(&c, case_node(&c, "Split", "parts", "pool_quantized", "one_quantized two_quantized"), "axis", 1);
		case_attr_int(&c, case_node(&c, "Concat", "join", "two_quantized one_quantized", "joined_quantized"), "axis", 1);
		case_attr_ints(&c, case_node(&c, "Transpose", "turn", "joined_quantized", "z"), "perm", 4, (int64_t[]){0, 2, 3, 1});
		case_output(&c, c.graph, "z");
		take(pairs ? &got : &want, &c, pairs, (const char *const[]){"y", "pool", "one", "two", "joined", NULL});
	}
	assert_same_codes(&want, &got);
}

// A Pad by a code that its input has, and a Resize, as ONNX Runtime's QOperator format has them, too. A Pad without one fills
// with code 0, whatever that stands for, and stays.
void test_onnx_on_codes__that_fill_and_scale(void **state)
{
	struct onnx_case c;
	struct tensor want, got;
	(void)state;
	for (int pairs = 0; pairs < 2; pairs++) {
		make(&c, &ops[0]);
		c.graph->n_output = 0;
		case_ints(&c, "pads", 8, (int64_t[]){0, 0, 1, 0, 0, 0, 0, 2});
		case_floats(&c, "twice", DIMS(4), (const float[]){1, 1, 2, 2});
		case_node(&c, "Pad", "frame", "y_quantized pads zy", "framed_quantized");
		case_attr_text(&c, case_node(&c, "Resize", "grow", "framed_quantized - twice", "grown_quantized"), "mode", "nearest");
		case_node(&c, "Pad", "black", "grown_quantized pads", "z");
		case_output(&c, c.graph, "z");
		take(pairs ? &got : &want, &c, pairs, (const char *const[]){"y", "framed", "grown", NULL});
	}
	assert_same_codes(&want, &got);
}

// What a file calls y is behind its own DequantizeLinear: there the result in floats has another name.
void test_onnx_on_codes__names_that_are_taken(void **state)
{
	struct onnx_case c;
	(void)state;
	make(&c, &ops[0]);
	case_node(&c, "DequantizeLinear", "out", "y_quantized sy zy", "y");
	case_output(&c, c.graph, "y");
	if (case_load_with(&c, &(struct onnx_options){.pairs = true}))
		fail_msg("%s", c.err.text);
	int y = graph_find_value(c.loaded, "y_QuantizeLinear_Input");
	assert_true(y >= 0);
	assert_string_equal(c.loaded->node[c.loaded->value[y].producer].name, "it");
	assert_string_equal(c.loaded->node[c.loaded->value[graph_find_value(c.loaded, "y")].producer].name, "out");
	case_done(&c);
}

// What an optimizer left of a file's nodes may be anything.
void test_onnx_on_codes__that_lack_inputs(void **state)
{
	static const char *const in[] = {"a_quantized", "a_quantized sa za w sa zw"};
	(void)state;
	for (size_t i = 0; i < sizeof in / sizeof *in; i++) {
		struct onnx_case c;
		struct of_op o = ops[0];
		o.in = in[i];
		make(&c, &o);
		assert_int_not_equal(case_load_with(&c, &(struct onnx_options){.pairs = true, .codes = true}), STATUS_OK);
		case_done(&c);
	}
}
