// HMCT's quant_config, written and read: a qtype for the model, for types and for nodes.
#include "import_case.h"

#define CLASS_OUT CLASS_CONV "_output_0"

void test_hmct__what_is_exported_comes_back(void **state)
{
	assert_comes_back("hmct", true, true, false);
}

// Weights of this target have the width of their node; of HMCT's Convs only when both inputs are named.
void test_hmct__both_inputs_of_a_conv_are_wide(void **state)
{
	struct study *st = case_open(MODEL, CALIB, "esp32p4");
	struct str loss = {0};
	struct error err;
	case_set(st, SUB, PREC_FLOAT);
	case_set(st, STEM ".." SWISH, PREC_INT16);
	case_set(st, CLASS_CONV, PREC_INT8);
	case_scale(st, CLASS_CONV, 0.0625);
	assert_int_equal(study_set_method(st, CALIB_MSE, &err), STATUS_OK);
	cJSON *j = case_export_json(st, "hmct", &loss);
	const cJSON *nodes = case_at(j, "node_config");
	assert_string_equal(json_text(case_at(j, "model_config"), "all_node_type", ""), "int8");
	assert_null(case_at(j, "model_config|activation"));
	assert_string_equal(json_text(case_at(nodes, STEM), "input0", ""), "int16");
	assert_string_equal(json_text(case_at(nodes, STEM), "input1", ""), "int16");
	assert_string_equal(json_text(case_at(nodes, SWISH), "qtype", ""), "int16");
	assert_string_equal(json_text(case_at(nodes, SUB), "qtype", ""), "float16");
	assert_string_equal(json_text(case_at(nodes, CLASS_CONV), "qtype", ""), "int8");
	assert_has(&loss, "calibration: HMCT has no way to say mse");
	assert_has(&loss, "nodes in float: HMCT computes them in float16");
	assert_has(&loss, CLASS_CONV ": HMCT has no way to say the scale 0.0625");
	str_done(&loss);
	cJSON_Delete(j);
	study_close(&st);
}

// Only of products does the qtype leave an input at 8 bits.
void test_hmct__other_operators_have_one_width(void **state)
{
	struct study *st = case_open(MODEL, CALIB, "esp32p4");
	case_set(st, SUB, PREC_INT16);
	cJSON *j = case_export_json(st, "hmct", NULL);
	assert_string_equal(json_text(case_at(j, "node_config|" SUB), "qtype", ""), "int16");
	cJSON_Delete(j);
	study_close(&st);
}

// What is decided of one part of an operator is said of all of it.
void test_hmct__every_part_of_an_operator_is_named(void **state)
{
	struct study *st = case_open(MODEL, CALIB, "esp32p4");
	case_set(st, "/model.0/act/Sigmoid", PREC_FLOAT);
	cJSON *j = case_export_json(st, "hmct", NULL);
	const cJSON *nodes = case_at(j, "node_config");
	assert_int_equal(cJSON_GetArraySize(nodes), 2);
	assert_string_equal(json_text(case_at(nodes, "/model.0/act/Sigmoid"), "qtype", ""), "float16");
	assert_string_equal(json_text(case_at(nodes, SWISH), "qtype", ""), "float16");
	cJSON_Delete(j);
	study_close(&st);
}

// Node before type before model, in whatever order they stand in the file.
void test_hmct__the_nearest_to_the_node_counts(void **state)
{
	struct study *st = bare();
	struct import_report r = take(st,
	    file(
	        "{\"node_config\": {\"" STEM "\": {\"qtype\": \"int8\"}, \"" SUB "\": {\"input0\": \"int16\", \"input1\": \"int8\"}}, "
	        "\"op_config\": {\"Conv\": {\"qtype\": \"float16\"}, \"Sub\": {\"qtype\": \"float32\"}}, "
	        "\"model_config\": {\"all_node_type\": \"int16\", "
	        "\"activation\": {\"calibration_type\": \"kl\"}}}"));
	assert_string_equal(r.format, "HMCT quant_config");
	assert_true(r.method);
	assert_int_equal(precision(st, STEM), -1); // it is so already
	assert_int_equal(precision(st, CLASS_CONV), PREC_FLOAT);
	assert_int_equal(precision(st, SUB), PREC_INT16);
	assert_int_equal(precision(st, SWISH), PREC_INT16);
	assert_has(&r.notes, SUB ": its input1 is int8: a node has one width here, int16 is taken");
	import_report_done(&r);
	study_close(&st);
}

void test_hmct__what_is_not_known_here_is_said(void **state)
{
	struct study *st = bare();
	struct import_report r = take(st,
	    file(
	        "{\"model_config\": {\"all_node_type\": \"int4\", \"activation\": {\"calibration_type\": [\"max\", \"kl\"], "
	        "\"per_channel\": true}, \"weight\": {\"bias_correction\": {\"num_sample\": 4}}}, "
	        "\"op_config\": {\"Nothing\": {\"qtype\": \"int16\"}}, "
	        "\"subgraph_config\": {\"a\": {}}, \"node_config\": {\"" STEM "\": {\"qtype\": \"mxfp4\"}, \"" SUB "\": {}, \"" CLASS_CONV
	        "\": 3, "
	        "\"nothing\": {\"qtype\": \"int16\"}}}"));
	static const char *const note[] = {"all_node_type: int4",
	    "calibration_type: one of max and kl is known here, not a search among several", "per_channel and asymmetric",
	    "bias_correction: changes biases", "Nothing: the model has no operator of this type", "subgraph_config is not read",
	    STEM ": the qtype mxfp4 is not known", SUB ", " CLASS_CONV ": neither a qtype", "nothing: the model has no such node"};
	for (size_t i = 0; i < sizeof note / sizeof *note; i++)
		assert_has(&r.notes, note[i]);
	assert_int_equal(r.n_notes, sizeof note / sizeof *note + 1); // two nodes have neither
	assert_int_equal(r.precisions, 0);
	assert_false(r.method);
	import_report_done(&r);
	study_close(&st);
}

// What hb_mapper and hb_compile are run with, in the words of either age; a nearer word wins, in whatever order.
void test_hmct__a_configuration_of_hb_mapper(void **state)
{
	struct study *st = bare();
	struct import_report r = take(st, file("model_parameters:\n  march: \"bayes-e\"\n"
	    "  node_info: {\"" SUB "\": {'ON': 'BPU', 'InputType': 'int16', 'OutputType': 'int16'},\n"
	    "              \"/model.12/Sigmoid\": {'ON': 'CPU'}, '" SWISH "': {'ON': 'BPU', 'InputType': 'int8', 'OutputType': 'int16'}}\n"
	    "calibration_parameters:\n  cal_data_dir: './calibration_data'\n  calibration_type: 'kl'\n"
	    "  optimization: set_all_nodes_int16,set_Conv_input_int8, set_Conv_output_int8,bias_correction,set_model_output_int8\n"
	    "  run_on_cpu: '/model.12/Sub_1; /nothing'\ncompiler_parameters:\n  compile_mode: 'latency' # O3\n"));
	static const char *const note[] = {"optimization: bias_correction is not read", "optimization: set_model_output_int8 is not read",
	    SWISH ": its OutputType is int16: a node has one width here, int8 is taken", "/nothing: the model has no such node"};
	assert_string_equal(r.format, "Horizon hb_mapper or hb_compile configuration");
	assert_true(r.method);
	assert_int_equal(precision(st, SUB), PREC_INT16);
	assert_int_equal(precision(st, "/model.12/Sub_1"), PREC_FLOAT);
	assert_int_equal(precision(st, "/model.12/Sigmoid"), PREC_FLOAT);
	assert_int_equal(precision(st, STEM), -1);
	assert_int_equal(precision(st, SWISH), -1);
	assert_int_equal(precision(st, "/model.1/act/Mul"), PREC_INT16); // as all nodes
	for (size_t i = 0; i < sizeof note / sizeof *note; i++)
		assert_has(&r.notes, note[i]);
	assert_int_equal(r.n_notes, sizeof note / sizeof *note);
	import_report_done(&r);
	study_close(&st);
}

// The newer way: a quant_config in it, or the name of a file that has one; and the short form of node_info.
void test_hmct__a_configuration_of_hb_compile(void **state)
{
	struct study *st = bare();
	struct import_report r = take(st, file("model_parameters:\n  node_info: '" SUB ":int16;/model.12/Sub_1'\ncalibration_parameters:\n"
	    "  calibration_type: max\n  quant_config: {\n    \"node_config\": {\"" STEM "\": {\"qtype\": \"int16\"},},\n"
	    "    \"model_config\": {\"all_node_type\": \"int8\", \"model_output_type\": \"int16\"}\n  }\n"));
	assert_int_equal(precision(st, SUB), PREC_INT16);
	assert_int_equal(precision(st, STEM), PREC_INT16);
	assert_has(&r.notes, "node_info: /model.12/Sub_1: not NAME:TYPE");
	assert_has(&r.notes, "model_config: model_output_type is not read");
	assert_int_equal(r.n_notes, 2);
	import_report_done(&r);
	r = take(st, file("{\"calibration_parameters\": {\"quant_config\": \"./quant.json\"}, \"compiler_parameters\": {}}"));
	assert_has(&r.notes, "quant_config: it is a file of its own: import ./quant.json too");
	import_report_done(&r);
	study_close(&st);
}
