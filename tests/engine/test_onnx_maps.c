// What converters of scikit-learn put behind a classifier: ZipMap, and labels that ArrayFeatureExtractor picks.
#include "onnx_case.h"
#include "qtui/base/log.h"

static void classifier(struct onnx_case *c)
{
	case_init(c);
	case_domain(c, "ai.onnx.ml");
	case_input(c, "x", FLOAT, DIMS(1, 3));
	case_attr_int(c, case_node(c, "Softmax", "softmax", "x", "shares"), "axis", 1);
	Onnx__NodeProto *zip = case_node(c, "ZipMap", "zip", "shares", "map");
	zip->domain = case_text(c, "ai.onnx.ml");
	case_attr_ints(c, zip, "classlabels_int64s", 3, (const int64_t[]){3, 5, 8});
}

// Declared as a sequence of something else than tensors.
static void output_of_maps(struct onnx_case *c)
{
	case_output(c, c->graph, "map");
	Onnx__TypeProto *type = c->graph->output[c->graph->n_output - 1]->type;
	type->value_case = ONNX__TYPE_PROTO__VALUE_SEQUENCE_TYPE;
	type->sequence_type = case_new(c, sizeof *type->sequence_type);
	onnx__type_proto__sequence__init(type->sequence_type);
}

void test_onnx_maps__their_numbers_stand_in_their_place(void **state)
{
	struct onnx_case c;
	char line[200];
	classifier(&c);
	output_of_maps(&c);
	case_load(&c);
	assert_int_equal(log_line(support_log_count() - 1, line, sizeof line), LOG_WARN);
	assert_non_null(strstr(line, "output map holds maps"));
	case_rewrite(&c);
	assert_int_equal(c.loaded->n_outputs, 1);
	const struct value *v = &c.loaded->value[c.loaded->output[0]];
	assert_string_equal(v->name, "map");
	assert_int_equal(v->shape.rank, 2);
	assert_int_equal(v->shape.dim[1], 3);
	case_done(&c);
}

void test_onnx_maps__others_are_refused(void **state)
{
	struct onnx_case c;
	classifier(&c);
	case_node(&c, "Identity", "again", "map", "copy");
	case_output(&c, c.graph, "copy");
	case_refused(&c, STATUS_UNSUPPORTED, "ZipMap");
	case_done(&c);
}

// The node that picks labels goes with their output.
void test_onnx_maps__labels_of_text_are_left_out(void **state)
{
	static ProtobufCBinaryData text[] = {{1, (uint8_t *)"a"}, {1, (uint8_t *)"b"}, {1, (uint8_t *)"c"}};
	struct onnx_case c;
	classifier(&c);
	Onnx__TensorProto *labels = case_tensor(&c, "labels", ONNX__TENSOR_PROTO__DATA_TYPE__STRING, DIMS(3));
	labels->n_string_data = 3;
	labels->string_data = text;
	c.graph->initializer[c.graph->n_initializer++] = labels;
	case_attr_int(&c, case_node(&c, "ArgMax", "best", "shares", "class"), "axis", 1);
	case_node(&c, "ArrayFeatureExtractor", "pick", "labels class", "label")->domain = case_text(&c, "ai.onnx.ml");
	case_output(&c, c.graph, "label");
	output_of_maps(&c);
	case_load(&c);
	assert_int_equal(c.loaded->n_outputs, 1);
	assert_int_equal(graph_find_node(c.loaded, "pick"), -1);
	case_done(&c);
}
