// What ONNX Runtime's optimizer writes for tensors whose channels come last.
#include "onnx_case.h"
#include "qtui/engine/eval.h"

enum { UINT8 = ONNX__TENSOR_PROTO__DATA_TYPE__UINT8, INT8 = ONNX__TENSOR_PROTO__DATA_TYPE__INT8, H = 3, W = 2, C = 2 };

static const uint8_t image[H * W * C] = {1, 20, 3, 4, 5, 60, 70, 8, 9, 10, 11, 12};

static Onnx__NodeProto *add_node(struct onnx_case *c, const char *op, const char *in)
{
	Onnx__NodeProto *n = case_node(c, op, "it", in, "y");
	n->domain = case_text(c, "com.microsoft");
	return n;
}

static const struct shape images = {4, {1, H, W, C}}, rows = {3, {1, H * W, C}};

static void case_of(struct onnx_case *c, const struct shape *shape)
{
	case_init(c);
	case_input(c, "x", UINT8, shape->rank, shape->dim);
	case_output(c, c->graph, "y");
	case_floats(c, "one", 0, NULL, (const float[]){1});
	case_const(c, "zero", UINT8, 0, NULL, (const uint8_t[]){0}, 1);
}

// Three nodes, the middle one under its own name.
static void check(struct onnx_case *c, const struct shape *of, const struct shape *shape, const uint8_t *want)
{
	struct tensor x = {.type = DT_U8, .shape = *of, .data = (void *)image}, y;
	const struct tensor *in[1] = {&x};
	case_load(c);
	assert_int_equal(c->loaded->n_nodes, 3);
	assert_string_equal(c->loaded->node[1].name, "it");
	assert_string_equal(c->loaded->node[2].name, "it/channels_last");
	if (graph_eval(c->loaded, in, &y, 1, &c->err))
		fail_msg("%s", c->err.text);
	assert_true(shape_equal(&y.shape, shape));
	assert_memory_equal(y.data, want, tensor_bytes(&y));
	tensor_drop(&y);
	case_done(c);
}

void test_onnx_channels_last__pooling(void **state)
{
	struct onnx_case c;
	case_of(&c, &images);
	case_attr_ints(&c, add_node(&c, "NhwcMaxPool", "x"), "kernel_shape", DIMS(2, 2));
	check(&c, &images, &(struct shape){4, {1, 2, 1, 2}}, (const uint8_t[]){70, 60, 70, 60});
	case_of(&c, &images);
	case_attr_int(&c, add_node(&c, "QLinearGlobalAveragePool", "x one zero one zero"), "channels_last", 1);
	check(&c, &images, &(struct shape){4, {1, 1, 1, 2}}, (const uint8_t[]){16, 19}); // 99 / 6, 114 / 6
	case_of(&c, &rows);
	case_attr_int(&c, add_node(&c, "QLinearGlobalAveragePool", "x one zero one zero"), "channels_last", 1);
	check(&c, &rows, &(struct shape){3, {1, 1, 2}}, (const uint8_t[]){16, 19});
}

// The rank of its weights, since nothing else says it; they have channels first.
void test_onnx_channels_last__convolution(void **state)
{
	static const int8_t weights[2 * C] = {0, 1, 2, 0};
	const char *in = "x one zero weights one wzero one zero";
	struct onnx_case c;
	for (int last = 0; last < 2; last++) {
		case_of(&c, &images);
		case_const(&c, "weights", INT8, DIMS(2, C, 1, 1), weights, sizeof weights);
		case_const(&c, "wzero", INT8, 0, NULL, (const int8_t[]){0}, 1);
		case_attr_int(&c, add_node(&c, "QLinearConv", in), "channels_last", last);
		if (last) {
			check(&c, &images, &(struct shape){4, {1, H, W, 2}}, (const uint8_t[]){20, 2, 4, 6, 60, 10, 8, 140, 10, 18, 12, 22});
		} else {
			case_refused(&c, STATUS_FORMAT, "node it (QLinearConv)"); // three channels, weights for two
			case_done(&c);
		}
	}
}
