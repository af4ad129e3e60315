// Labels as text at the end of a classifier.
#include "onnx_case.h"
#include "qtui/base/log.h"

enum { TEXT = ONNX__TENSOR_PROTO__DATA_TYPE__STRING };

// Softmax, ArgMax, and the label that is picked, by a constant of the graph or of a node.
static void classifier(struct onnx_case *c, bool in_node)
{
	static ProtobufCBinaryData text[] = {{1, (uint8_t *)"a"}, {1, (uint8_t *)"b"}, {1, (uint8_t *)"c"}};
	case_init(c);
	case_input(c, "x", FLOAT, DIMS(1, 3));
	Onnx__TensorProto *labels = case_tensor(c, "labels", TEXT, DIMS(3));
	labels->n_string_data = 3;
	labels->string_data = text;
	if (in_node)
		case_attr(c, case_node(c, "Constant", "constant", "", "labels"), "value", ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__TENSOR)->t =
		    labels;
	else
		c->graph->initializer[c->graph->n_initializer++] = labels;
	case_attr_int(c, case_node(c, "Softmax", "softmax", "x", "shares"), "axis", 1);
	case_attr_int(c, case_node(c, "ArgMax", "best", "shares", "class"), "axis", 1);
	case_ints(c, "one", 1, (const int64_t[]){1});
	case_node(c, "Gather", "pick", "labels class", "picked");
	case_node(c, "Reshape", "shape", "picked one", "label");
}

void test_onnx_strings__an_output_of_labels_is_left_out(void **state)
{
	for (int i = 0; i < 2; i++) {
		struct onnx_case c;
		char line[200];
		classifier(&c, i);
		case_output(&c, c.graph, "label");
		case_output(&c, c.graph, "shares");
		case_load(&c);
		assert_int_equal(c.loaded->n_outputs, 1);
		assert_string_equal(c.loaded->value[c.loaded->output[0]].name, "shares");
		assert_int_equal(graph_find_node(c.loaded, "pick"), -1);
		assert_int_equal(log_line(support_log_count() - 1, line, sizeof line), LOG_WARN);
		assert_non_null(strstr(line, "output label holds strings"));
		case_done(&c);
	}
}

// What a constant says of the shape picks nothing.
void test_onnx_strings__what_picks_the_label_stands_in_its_place(void **state)
{
	struct onnx_case c;
	char line[200];
	classifier(&c, false);
	case_output(&c, c.graph, "label");
	case_load(&c);
	assert_int_equal(c.loaded->n_outputs, 1);
	assert_string_equal(c.loaded->value[c.loaded->output[0]].name, "class");
	assert_int_equal(log_line(support_log_count() - 1, line, sizeof line), LOG_WARN);
	assert_non_null(strstr(line, "what picks them, class"));
	case_rewrite(&c);
	assert_string_equal(c.loaded->value[c.loaded->output[0]].name, "class");
	case_done(&c);
}

// What is computed from strings is refused as before, and so is a network that only has them.
void test_onnx_strings__others_are_refused(void **state)
{
	struct onnx_case c;
	classifier(&c, false);
	case_node(&c, "Equal", "equal", "label label", "same");
	case_output(&c, c.graph, "same");
	case_output(&c, c.graph, "label");
	case_output(&c, c.graph, "shares");
	case_refused(&c, STATUS_UNSUPPORTED, "'labels', which it reads, has elements of type string");
	case_done(&c);
	classifier(&c, false);
	case_node(&c, "Identity", "all", "labels", "list");
	c.graph->node[2] = c.graph->node[--c.graph->n_node];
	c.graph->n_node = 3;
	case_output(&c, c.graph, "list");
	case_refused(&c, STATUS_UNSUPPORTED, "has elements of type string");
	case_done(&c);
}
