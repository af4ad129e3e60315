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
	struct import_report r = take(st, file("{\"node_config\": {\"" STEM "\": {\"qtype\": \"int8\"}, \"" SUB "\": {\"input0\": \"int16\", \"input1\": \"int8\"}}, "
	    "\"op_config\": {\"Conv\": {\"qtype\": \"float16\"}, \"Sub\": {\"qtype\": \"float32\"}}, \"model_config\": {\"all_node_type\": \"int16\", "
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
	struct import_report r = take(st, file("{\"model_config\": {\"all_node_type\": \"int4\", \"activation\": {\"calibration_type\": [\"max\", \"kl\"], "
	    "\"per_channel\": true}, \"weight\": {\"bias_correction\": {\"num_sample\": 4}}}, \"op_config\": {\"Nothing\": {\"qtype\": \"int16\"}}, "
	    "\"subgraph_config\": {\"a\": {}}, \"node_config\": {\"" STEM "\": {\"qtype\": \"mxfp4\"}, \"" SUB "\": {}, \"" CLASS_CONV "\": 3, "
	    "\"nothing\": {\"qtype\": \"int16\"}}}"));
	static const char *const note[] = {"all_node_type: int4", "calibration_type: one of max and kl is known here, not a search among several",
	    "per_channel and asymmetric", "bias_correction: changes biases", "Nothing: the model has no operator of this type",
	    "subgraph_config is not read",
	    STEM ": the qtype mxfp4 is not known", SUB ": neither a qtype", CLASS_CONV ": neither a qtype", "the model has no node nothing"};
	for (size_t i = 0; i < sizeof note / sizeof *note; i++)
		assert_has(&r.notes, note[i]);
	assert_int_equal(r.n_notes, sizeof note / sizeof *note);
	assert_int_equal(r.precisions, 0);
	assert_false(r.method);
	import_report_done(&r);
	study_close(&st);
}
