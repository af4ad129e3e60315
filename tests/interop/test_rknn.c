// RKNN-Toolkit2's .quantization.cfg: the block of layers with a type of their own, written and read.
#include "import_case.h"

void test_rknn__what_is_exported_comes_back(void **state)
{
	assert_comes_back("rknn", true, true, false);
}

// The types stand at what an operator ends with: no tensor within one has a place in RKNN's own list.
void test_rknn__only_ends_of_operators_are_named(void **state)
{
	struct study *st = case_open(MODEL, CALIB, "tensorrt");
	struct str loss = {0};
	case_set(st, STEM, PREC_INT8);
	case_set(st, SUB, PREC_FLOAT);
	case_scale(st, CLASS_CONV, 0.0625);
	struct str text = case_export(st, "rknn", &loss);
	assert_string_equal(
	    str_text(&text), "custom_quantize_layers:\n    '/model.0/act/Mul_output_0': int8\n    '" SUB "_output_0': float16\n");
	assert_has(&loss, CLASS_CONV ": custom_quantize_layers has no way to say the scale 0.0625");
	assert_has(&loss, "put this block, as text, in place of custom_quantize_layers");
	str_done(&loss);
	str_done(&text);
	study_close(&st);
}

// A line of the loss report for each: a name may hold the end of one.
void test_rknn__a_name_of_two_lines_is_told_in_one(void **state)
{
	struct study *st = case_open(MODEL, CALIB, "tensorrt");
	struct str loss = {0};
	struct value *of = &((struct graph *)study_graph(st))->value[graph_output(study_graph(st), node(st, SUB))];
	const char *was = of->name;
	case_set(st, SUB, PREC_FLOAT);
	of->name = "two\nlines";
	struct str text = case_export(st, "rknn", &loss);
	assert_has(&loss, "two lines: YAML cannot say");
	assert_null(strstr(str_text(&loss), "two\nlines"));
	of->name = was;
	str_done(&loss);
	str_done(&text);
	study_close(&st);
}

void test_rknn__no_decision_is_an_empty_block(void **state)
{
	struct study *st = case_open(MODEL, CALIB, "esp32p4"), *again = bare();
	case_own_method(st);
	struct str loss = {0}, text = case_export(st, "rknn", &loss);
	assert_string_equal(str_text(&text), "custom_quantize_layers: {}\n");
	assert_int_equal(loss.len, 0);
	struct import_report r = take(again, file(str_text(&text)));
	assert_string_equal(r.format, "RKNN-Toolkit2 quantization.cfg");
	assert_int_equal(r.n_notes, 0);
	import_report_done(&r);
	str_done(&loss);
	str_done(&text);
	study_close(&again);
	study_close(&st);
}

// As step 1 leaves the file and a user fills it: names plain, ranges and scales as lists of one.
void test_rknn__a_file_of_step_1(void **state)
{
	struct study *st = bare();
	struct import_report r = take(st,
	    file("custom_quantize_layers:\n    " SUB "_output_0: float16\n    \"" STEM_OUT "\": int16\n    " SUB "_output_0-rs: float16\n"
	         "    " CLASS_CONV "_output_0: bfloat16\nquantize_parameters:\n"
	         "    " CLASS_CONV
	         "_output_0:\n        qtype: asymmetric_quantized\n        qmethod: layer\n        dtype: int8\n        min:\n        - -8.0\n"
	         "        max:\n        - 7.9375\n        scale:\n        - 0.0625\n        zero_point:\n        - 0\n"
	         "    images:\n        dtype: int8\n        scale: [0.0039]\n        zero_point: [-128]\n"
	         "    /model.3/act/Mul_output_0:\n        dtype: int8\n        scale: [0.03125]\n        zero_point: [-7]\n"
	         "    model.0.conv.weight:\n        dtype: int8\n        scale: [0.1, 0.2]\n        zero_point: [0, 0]\n"));
	assert_string_equal(r.format, "RKNN-Toolkit2 quantization.cfg");
	assert_int_equal(precision(st, SUB), PREC_FLOAT);
	assert_int_equal(precision(st, STEM), PREC_INT16);
	assert_true(scale(st, CLASS_CONV) == 0.0625);
	assert_int_equal(r.scales, 1);
	assert_int_equal(r.n_notes, 3);
	assert_has(&r.notes, SUB "_output_0-rs: no operator of the model makes such a tensor");
	assert_has(&r.notes, CLASS_CONV "_output_0: its type is not known here");
	assert_has(&r.notes, "quantize_parameters: 3 of 4 scales are not taken");
	import_report_done(&r);
	study_close(&st);
}

void test_rknn__files_that_are_refused(void **state)
{
	assert_refused("customized_quantize_layers:\n    '@conv:out0': float32\n", "of RKNN-Toolkit 1");
	assert_refused("custom_quantize_layers:\n    a: *b\n", "import.json:2: an alias");
	assert_refused("custom_quantize_layers:\n    a: 'float16\n", "not valid YAML");
	assert_refused("custom_quantize_layers\n", "not a file of esp-ppq");
	assert_refused("- custom_quantize_layers\n", "not a file of esp-ppq");
}

void test_rknn__members_of_the_wrong_kind(void **state)
{
	static const char *const text[] = {"custom_quantize_layers: [a, b]\n", "custom_quantize_layers: {a: [1], b: {c: d}, ? {} \n",
	    "custom_quantize_layers:\n    a: 3\n",
	    "quantize_parameters: {a: 1, " CLASS_CONV "_output_0: {scale: x, dtype: 4}}\n",
	    "quantize_parameters: {" CLASS_CONV "_output_0: {scale: [1, 2], dtype: int8}}\n"};
	for (size_t i = 0; i < sizeof text / sizeof *text; i++) {
		struct study *st = bare();
		struct error err = {0};
		struct import_report r;
		enum status s = import_file(&r, st, file(text[i]), &err);
		assert_int_equal(steps(st), 0);
		assert_true(s != STATUS_OK || r.n_notes > 0);
		import_report_done(&r);
		study_close(&st);
	}
}

// What another tool takes as JSON or YAML is read as either.
void test_rknn__yaml_of_another_tool(void **state)
{
	struct study *st = bare();
	struct import_report r = take(st, file("# a build\nquant:\n  layer_configs:\n  - layer_name: " SUB "\n    data_type: FP32\n"));
	assert_string_equal(r.format, "Pulsar2 configuration");
	assert_int_equal(precision(st, SUB), PREC_FLOAT);
	import_report_done(&r);
	study_close(&st);
}

void test_rknn__scales_with_zero_points(void **state)
{
	static const char text[] =
	    "quantize_parameters:\n    " CLASS_CONV "_output_0:\n        dtype: int8\n        scale: [0.0625]\n        zero_point: [-7]\n";
	for (int zeros = 0; zeros < 2; zeros++) {
		struct study *st = case_open(MODEL, NULL, zeros ? "onnxruntime" : "esp32p4");
		struct import_report r = take(st, file(text));
		assert_true(scale(st, CLASS_CONV) == (zeros ? 0.0625 : 0));
		assert_int_equal(r.n_notes, !zeros);
		import_report_done(&r);
		study_close(&st);
	}
}
