// PyTorch: modules by the names of nodes and weights, and the mapping there and back.
#include "import_case.h"
#include "../engine/graph_builder.h"
#include "../../src/interop/modules.h"

// Nodes with their names and weights, one behind the other: what the names say is all that counts.
static struct graph *named(const char *const row[][3], size_t n)
{
	static const float one[1] = {1};
	struct builder b = builder_new();
	builder_input(&b, "x");
	for (size_t i = 0; i < n; i++) {
		char inputs[120], output[40];
		snprintf(inputs, sizeof inputs, "x%s%s", row[i][2] ? " " : "", row[i][2] ? row[i][2] : "");
		snprintf(output, sizeof output, "y%zu", i);
		if (row[i][2] && namemap_get(b.g->value_by_name, row[i][2]) < 0)
			builder_constant(&b, row[i][2], DT_F32, shape_of(1, (int64_t[]){1}), one);
		builder_node(&b, row[i][1], row[i][0], inputs, output);
	}
	return b.g;
}

static void assert_module(const struct modules *m, const struct graph *g, const char *name, const char *path, bool own)
{
	int n = graph_find_node(g, name);
	assert_true(n >= 0);
	if (!path) {
		assert_null(m->path[n]);
		return;
	}
	assert_non_null(m->path[n]);
	assert_string_equal(m->path[n], path);
	assert_int_equal(m->own[n], own);
}

void test_pytorch__modules_by_their_names(void **state)
{
	static const char *const row[][3] = {
	    {"/model.0/conv/Mul", "Mul", "model.0.conv.weight"}, {"/model.0/act/Sigmoid", "Sigmoid", NULL}, {"/model.0/act/Relu", "Relu", NULL},
	    {"/model.22/cv3.0/cv3.0.2/Mul", "Mul", "model.22.cv3.0.2.weight"}, {"/model.22/cv3.0/cv3.0.1/Relu", "Relu", NULL},
	    {"/model.22/Sigmoid", "Sigmoid", NULL},
	    // a Sequential "model" of which only elements are called, within another "model"
	    {"/model/model.2/cv1/Mul", "Mul", "model.model.2.cv1.weight"}, {"/model/model.2/act/Relu", "Relu", NULL},
	    {"/head/layers.0/Mul", "Mul", "onnx::Mul_17"}, {"/head/layers.0_1/Mul", "Mul", "onnx::Mul_17"}, {"/head/conv_2/Relu", "Relu", NULL},
	    {"node_Mul_3", "Mul", "features.0.bias"}, {"node_Relu", "Relu", NULL}, {"Relu_7", "Relu", NULL}, {"/Relu", "Relu", NULL}};
	struct graph *g = named(row, sizeof row / sizeof *row);
	struct modules m = modules_of(g);
	assert_module(&m, g, "/model.0/conv/Mul", "model.0.conv", true);
	assert_module(&m, g, "/model.0/act/Sigmoid", "model.0.act", true);
	assert_module(&m, g, "/model.0/act/Relu", "model.0.act", true);
	assert_module(&m, g, "/model.22/cv3.0/cv3.0.2/Mul", "model.22.cv3.0.2", true);
	assert_module(&m, g, "/model.22/cv3.0/cv3.0.1/Relu", "model.22.cv3.0.1", true);
	assert_module(&m, g, "/model.22/Sigmoid", "model.22", false);
	assert_module(&m, g, "/model/model.2/act/Relu", "model.model.2.act", true);
	assert_module(&m, g, "/head/layers.0/Mul", "head.layers.0", true);
	assert_module(&m, g, "/head/layers.0_1/Mul", "head.layers.0", true);
	assert_module(&m, g, "/head/conv_2/Relu", "head.conv_2", true); // no call of a "conv" is there
	assert_module(&m, g, "node_Mul_3", "features.0", true);
	assert_module(&m, g, "node_Relu", NULL, false);
	assert_module(&m, g, "Relu_7", NULL, false);
	assert_module(&m, g, "/Relu", NULL, false);
	modules_done(&m);
	graph_free(&g);
	assert_true(module_has("", "a") && module_has("a.b", "a.b.c") && !module_has("a.b", "a.bc"));
}

static const cJSON *entry(const cJSON *j, const char *module)
{
	const cJSON *pair;
	cJSON_ArrayForEach(pair, case_at(j, "module_name"))
		if (strcmp(cJSON_GetArrayItem(pair, 0)->valuestring, module) == 0)
			return cJSON_GetArrayItem(pair, 1);
	return NULL;
}

void test_pytorch__a_mapping_there_and_back(void **state)
{
	struct study *st = case_open(MODEL, CALIB, "pytorch"), *again = case_open(MODEL, NULL, "pytorch");
	struct error err = {0};
	struct str loss = {0};
	case_set(st, CLASS_CONV, PREC_FLOAT);
	case_set(st, "/model.2/Add", PREC_FLOAT);
	case_scale(st, "/model.12/cv2.0/cv2.0.2/Conv", 0.125);
	assert_int_equal(study_command(st, "calibration /model.1/conv/Conv mse", &err), STATUS_OK);
	assert_int_equal(study_command(st, "calibration /model.3/conv/Conv kl", &err), STATUS_OK);
	struct str text = case_export(st, "pytorch", &loss);
	cJSON *j = NULL;
	assert_int_equal(json_parse(&j, str_text(&text), text.len, "mapping", &err), STATUS_OK);
	assert_string_equal(json_text(j, "observer", ""), "MinMaxObserver");
	assert_int_equal(cJSON_GetArraySize(case_at(j, "module_name")), 3);
	assert_true(cJSON_IsNull(entry(j, "model.12.cv3.0.2")));
	assert_true(json_number(entry(j, "model.12.cv2.0.2"), "scale", 0) == 0.125);
	assert_string_equal(json_text(entry(j, "model.1.conv"), "observer", ""), "HistogramObserver");
	assert_has(&loss, "/model.2/Add: it stands in the forward of model.2");
	assert_has(&loss, "/model.3/conv/Conv: torch has no observer for kl");
	struct import_report r = take(again, support_temp_file("mapping.json", str_text(&text), text.len));
	assert_string_equal(r.format, "PyTorch QConfigMapping");
	if (r.n_notes)
		fail_msg("%s", str_text(&r.notes));
	assert_int_equal(precision(again, CLASS_CONV), PREC_FLOAT);
	assert_int_equal(precision(again, "/model.2/Add"), -1);
	assert_true(scale(again, "/model.12/cv2.0/cv2.0.2/Conv") == 0.125);
	assert_int_equal(study_edits(again)->calibrator[node(again, "/model.1/conv/Conv")], CALIB_MSE);
	import_report_done(&r);
	cJSON_Delete(j);
	str_done(&text);
	str_done(&loss);
	study_close(&again);
	study_close(&st);
}

// A module stands for those within it; the longer name decides. What is not read is said.
void test_pytorch__a_mapping_by_hand(void **state)
{
	struct study *st = case_open(MODEL, NULL, "pytorch");
	struct import_report r = take(st,
	    file(
	        "{\"module_name\": [[\"model.12\", null], [\"model.12.cv2\", {\"observer\": \"HistogramObserver\"}], "
	        "[\"nowhere\", null], [\"model.3\", {\"scale\": 1}], [\"model.1.act\", {\"observer\": \"PerTokenObserver\"}], 7], "
	        "\"object_type\": []}"));
	assert_int_equal(precision(st, CLASS_CONV), PREC_FLOAT);
	assert_int_equal(precision(st, "/model.12/Sigmoid"), PREC_FLOAT);
	assert_int_equal(precision(st, "/model.12/cv2.0/cv2.0.2/Conv"), -1);
	assert_int_equal(precision(st, "/model.1/conv/Conv"), -1);
	static const char *const note[] = {"nowhere: the names in the model's file tell of no such module",
	    "model.3: a scale is that of a module", "model.1.act: observer PerTokenObserver is not known here", "module_name: neither",
	    "the mapping: object_type is not read"};
	for (size_t i = 0; i < sizeof note / sizeof *note; i++)
		assert_has(&r.notes, note[i]);
	assert_int_equal(r.n_notes, sizeof note / sizeof *note);
	import_report_done(&r);
	study_close(&st);
}

// Torch's activations are quint8: what is signed here has its zero in the middle of those codes, and comes back as it was.
void test_pytorch__a_symmetric_scale_there_and_back(void **state)
{
	static const char conv[] = "/model.12/cv2.0/cv2.0.2/Conv";
	struct study *st = case_open(MODEL, CALIB, "esp32p4"), *again = case_open(MODEL, NULL, "esp32p4");
	struct error err = {0};
	cJSON *j = NULL;
	case_scale(st, conv, 0.125);
	struct str text = case_export(st, "pytorch", NULL);
	assert_int_equal(json_parse(&j, str_text(&text), text.len, "mapping", &err), STATUS_OK);
	assert_int_equal(json_count(entry(j, "model.12.cv2.0.2"), "zero_point"), 128);
	struct import_report r = take(again, support_temp_file("symmetric.json", str_text(&text), text.len));
	if (r.n_notes)
		fail_msg("%s", str_text(&r.notes));
	assert_true(scale(again, conv) == 0.125);
	import_report_done(&r);
	cJSON_Delete(j);
	str_done(&text);
	study_close(&again);
	study_close(&st);
}
