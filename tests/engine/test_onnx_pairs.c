// The float network of a quantized one: what goes, what comes back, what names there are.
#include <stdio.h>
#include "onnx_case.h"
#include "qtui/engine/eval.h"
#include "qtui/engine/op.h"

enum { UINT8 = ONNX__TENSOR_PROTO__DATA_TYPE__UINT8, INT8 = ONNX__TENSOR_PROTO__DATA_TYPE__INT8, C = 2, H = 3, IMAGE = C * H * H };

static const int8_t weight_codes[C * C] = {64, -64, -32, 127};

// x, a pair, Conv of codes, a pair with this grid, y.
static void make(struct onnx_case *c, float scale, int zero, int type)
{
	case_init(c);
	case_input(c, "x", FLOAT, DIMS(1, C, H, H));
	case_pair(c, "x", "x_dq", 0.01f, 128);
	case_floats(c, "w_scale", 0, NULL, (const float[]){1 / 64.0f});
	case_const(c, "w_zero", INT8, 0, NULL, (const int8_t[]){0}, 1);
	case_const(c, "w_codes", INT8, DIMS(C, C, 1, 1), weight_codes, sizeof weight_codes);
	case_node(c, "DequantizeLinear", "w_dequantize", "w_codes w_scale w_zero", "w");
	case_node(c, "Conv", "conv", "x_dq w", "conv_y");
	case_pair(c, "conv_y", "y", scale, zero)->data_type = type;
	case_output(c, c->graph, "y");
}

static void load(struct onnx_case *c)
{
	if (case_load_with(c, &(struct onnx_options){.floats = true}))
		fail_msg("%s", c->err.text);
}

// What the network makes of -2, -1.9 ...: `clip` says what becomes of each sum.
static void assert_computes(struct onnx_case *c, float low, float high)
{
	float x[IMAGE];
	struct tensor in = {.type = DT_F32, .shape = {4, {1, C, H, H}}, .data = x}, y;
	for (int i = 0; i < IMAGE; i++)
		x[i] = (float)i * 0.9f - 4;
	if (graph_eval(c->loaded, (const struct tensor *[]){&in}, &y, 1, &c->err))
		fail_msg("%s", c->err.text);
	for (int o = 0; o < C; o++)
		for (int i = 0; i < H * H; i++) {
			float sum = (float)(weight_codes[o * C] * x[i] + weight_codes[o * C + 1] * x[H * H + i]) / 64;
			assert_float_equal(((const float *)y.data)[o * H * H + i], sum < low ? low : sum > high ? high : sum, 1e-5);
		}
	tensor_drop(&y);
}

static const char *last_op(const struct onnx_case *c)
{
	return c->loaded->node[c->loaded->n_nodes - 1].op->name;
}

void test_onnx_pairs__go(void **state)
{
	struct onnx_case c;
	(void)state;
	make(&c, 0.05f, 100, UINT8);
	load(&c);
	assert_int_equal(c.loaded->n_nodes, 1);
	assert_string_equal(last_op(&c), "Conv");
	assert_int_equal(graph_find_value(c.loaded, "y"), c.loaded->output[0]); // keeps its name
	assert_computes(&c, -1e9f, 1e9f);
	case_done(&c);
	make(&c, 0.05f, 0, INT8); // symmetric
	load(&c);
	assert_int_equal(c.loaded->n_nodes, 1);
	case_done(&c);
}

// Codes that begin at zero: the tool left a Relu out; where they end at 6, a Relu6.
void test_onnx_pairs__bring_activations_back(void **state)
{
	static const struct {
		float scale;
		int zero, type;
		const char *op;
		float high;
	} of[] = {{0.05f, 0, UINT8, "Relu", 1e9f}, {0.05f, -128, INT8, "Relu", 1e9f}, {6 / 255.0f, 0, UINT8, "Clip", 6},
	    {6 / 255.0f, -128, INT8, "Clip", 6}};
	(void)state;
	for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
		struct onnx_case c;
		make(&c, of[i].scale, of[i].zero, of[i].type);
		load(&c);
		assert_int_equal(c.loaded->n_nodes, 2);
		assert_string_equal(last_op(&c), of[i].op);
		assert_int_equal(graph_find_node(c.loaded, of[i].op[0] == 'R' ? "conv_Relu" : "conv_Clip"), 1);
		assert_int_equal(graph_find_value(c.loaded, "y"), c.loaded->output[0]);
		assert_computes(&c, 0, of[i].high);
		case_rewrite(&c); // and as a file again
		assert_computes(&c, 0, of[i].high);
		case_done(&c);
	}
}

// Codes that something computes with stay codes: without them the network could not be read again.
void test_onnx_pairs__stay_where_codes_are_computed_with(void **state)
{
	struct onnx_case c;
	(void)state;
	make(&c, 0.05f, 100, UINT8);
	c.graph->n_output = 0;
	case_const(&c, "most", UINT8, 0, NULL, (const uint8_t[]){200}, 1);
	case_node(&c, "Max", "max", "conv_y_q most", "capped");
	case_node(&c, "DequantizeLinear", "out", "capped conv_y_scale conv_y_zero", "z");
	case_output(&c, c.graph, "z");
	load(&c);
	assert_true(graph_find_node(c.loaded, "conv_y_quantize") >= 0);
	assert_int_equal(graph_find_node(c.loaded, "x_quantize"), -1);
	assert_int_equal(c.loaded->value[graph_find_value(c.loaded, "capped")].type, DT_U8);
	case_rewrite(&c);
	assert_int_equal(c.loaded->value[graph_find_value(c.loaded, "capped")].type, DT_U8);
	case_done(&c);
}

void test_onnx_pairs__codes_that_are_an_output_stay(void **state)
{
	struct onnx_case c;
	(void)state;
	make(&c, 0.05f, 100, UINT8);
	case_output(&c, c.graph, "conv_y_q");
	load(&c);
	assert_true(graph_find_node(c.loaded, "conv_y_quantize") >= 0);
	assert_int_equal(c.loaded->value[c.loaded->output[1]].type, DT_U8);
	case_done(&c);
}

// A sum of places is not cut off at zero, an image that nothing is negative in neither.
void test_onnx_pairs__where_nothing_is_cut_off(void **state)
{
	struct onnx_case c;
	(void)state;
	case_init(&c);
	case_input(&c, "x", FLOAT, DIMS(1, 4, 20));
	case_input(&c, "image", FLOAT, DIMS(1, C, H, H));
	case_node(&c, "Add", "add", "x x", "sum");
	case_pair(&c, "sum", "y", 0.05f, 0);
	case_pair(&c, "image", "z", 0.05f, 0);
	case_node(&c, "Sigmoid", "sigmoid", "z", "s");
	case_pair(&c, "s", "t", 1 / 255.0f, 0);
	case_output(&c, c.graph, "y");
	case_output(&c, c.graph, "t");
	load(&c);
	assert_int_equal(c.loaded->n_nodes, 2);
	case_done(&c);
}

// An output that is an input of the network, or another output too, has the name by an Identity.
void test_onnx_pairs__outputs_that_stand_for_others(void **state)
{
	struct onnx_case c;
	(void)state;
	case_init(&c);
	case_input(&c, "x", FLOAT, DIMS(1, C, H, H));
	case_pair(&c, "x", "y", 0.05f, 100);
	case_node(&c, "DequantizeLinear", "again", "x_q x_scale x_zero", "z");
	case_output(&c, c.graph, "y");
	case_output(&c, c.graph, "z");
	load(&c);
	assert_int_equal(c.loaded->n_outputs, 2);
	for (int i = 0; i < 2; i++)
		assert_string_equal(c.loaded->node[c.loaded->value[c.loaded->output[i]].producer].op->name, "Identity");
	case_done(&c);
}

// Names stay those of the float model, which ONNX Runtime gives to what it quantizes: of what comes out of the activation.
// Where the floats in front are read, too, they have the name.
void test_onnx_pairs__keep_names_behind_activations(void **state)
{
	(void)state;
	for (int both = 0; both < 2; both++) {
		struct onnx_case c;
		case_init(&c);
		case_input(&c, "x", FLOAT, DIMS(1, C, H, H));
		case_floats(&c, "w", DIMS(C, C, 1, 1), (const float[C * C]){1, -1, -0.5f, 2});
		case_node(&c, "Conv", "conv", "x w", "t");
		case_pair(&c, "t", "t_dq", 0.05f, 0);
		case_node(&c, "Sigmoid", "sigmoid", "t_dq", "y");
		case_output(&c, c.graph, "y");
		if (both) {
			case_node(&c, "Tanh", "tanh", "t", "z");
			case_output(&c, c.graph, "z");
		}
		load(&c);
		int relu = graph_find_node(c.loaded, both ? "t_quantize_Relu" : "conv_Relu"), conv = graph_find_node(c.loaded, "conv");
		int t = graph_find_value(c.loaded, "t");
		assert_true(relu >= 0 && conv >= 0 && t >= 0);
		assert_int_equal(t, c.loaded->node[both ? conv : relu].out[0]);
		assert_string_equal(c.loaded->value[c.loaded->node[relu].in[0]].name, both ? "t" : "conv_Relu_input");
		assert_string_equal(c.loaded->value[c.loaded->node[relu].out[0]].name, both ? "t_quantize_Relu_output" : "t");
		case_done(&c);
	}
}

// A QuantizeLinear for each reader: on one grid one activation, on two grids two with names of their own.
void test_onnx_pairs__of_several_readers(void **state)
{
	(void)state;
	for (int grids = 1; grids <= 2; grids++) {
		struct onnx_case c;
		case_init(&c);
		case_input(&c, "x", FLOAT, DIMS(1, C, H, H));
		case_floats(&c, "w", DIMS(C, C, 1, 1), (const float[C * C]){1, -1, -0.5f, 2});
		case_floats(&c, "wide", 0, NULL, (const float[]){0.1f});
		case_node(&c, "Conv", "conv", "x w", "t");
		case_pair(&c, "t", "t_dq", 0.05f, 0);
		case_node(&c, "QuantizeLinear", "second", grids == 1 ? "t t_scale t_zero" : "t wide t_zero", "q");
		case_node(&c, "DequantizeLinear", "", grids == 1 ? "q t_scale t_zero" : "q wide t_zero", "dq");
		case_node(&c, "Sigmoid", "sigmoid", "t_dq", "y");
		case_node(&c, "Tanh", "tanh", "dq", "z");
		case_output(&c, c.graph, "y");
		case_output(&c, c.graph, "z");
		load(&c);
		const struct graph *g = c.loaded;
		assert_int_equal(g->n_nodes, 3 + grids);
		int y = g->node[graph_find_node(g, "sigmoid")].in[0], z = g->node[graph_find_node(g, "tanh")].in[0];
		assert_string_equal(g->value[y].name, grids == 1 ? "t" : "t_quantize_Relu_output");
		assert_string_equal(g->value[z].name, grids == 1 ? "t" : "second_Relu_output");
		case_rewrite(&c); // which two tensors of one name could not be
		case_done(&c);
	}
}
