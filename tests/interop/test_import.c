// Decisions of other tools as edits: what is written for a tool and read again is the same,
// and what its own files hold is found.
#include "import_case.h"

void test_import__what_is_exported_comes_back(void **state)
{
	assert_comes_back("esp-ppq-dispatch", true, true, false);
	assert_comes_back("esp-ppq-setting", true, true, true);
	assert_comes_back("onnxruntime", true, true, true);
	assert_comes_back("quark", true, true, false);
	assert_comes_back("nncf", true, false, false);
	assert_comes_back("aimet", true, true, true);
}

// The formats that name tensors hold those of the network's inputs too.
void test_import__the_scale_of_an_input(void **state)
{
	static const char *const format[] = {"onnxruntime", "aimet", "tensorrt-cache", "tpu-mlir-cali-table"};
	for (size_t i = 0; i < sizeof format / sizeof *format; i++) {
		struct study *st = case_open(MODEL, CALIB, "esp32p4"), *again = bare();
		const int images = graph_find_value(study_graph(again), "images");
		case_scale(st, "images", 0x1p-5);
		struct str text = case_export(st, format[i], NULL);
		struct import_report r = take(again, support_temp_file("round", str_text(&text), text.len));
		if (study_edits(again)->scale[images] != 0x1p-5)
			fail_msg("%s: %g, %s", format[i], study_edits(again)->scale[images], str_text(&r.notes));
		import_report_done(&r);
		str_done(&text);
		study_close(&again);
		study_close(&st);
	}
}

void test_import__an_input_in_float(void **state)
{
	struct study *st = bare();
	struct import_report r = take(st, file("{\"version\": \"0.6.1\", \"activation_encodings\": {\"images\": [{\"bitwidth\": 16, \"dtype\": \"float\"}]}, "
	    "\"param_encodings\": {}}"));
	assert_int_equal(steps(st), 0);
	assert_has(&r.notes, "images: an input of the network: the nodes that read it can stay in float, not it alone");
	import_report_done(&r);
	study_close(&st);
}

// A scale with a zero point is one that a target with zero points can take.
void test_import__a_scale_with_a_zero_point(void **state)
{
	static const char text[] = "{\"nodes_to_exclude\": [], \"extra_options\": {\"TensorQuantOverrides\": {\"" CLASS_CONV
	    "_output_0\": [{\"quant_type\": \"QUInt8\", \"scale\": 0.0625, \"zero_point\": 109}]}}}";
	(void)state;
	for (int zeros = 0; zeros < 2; zeros++) {
		struct study *st = case_open(MODEL, CALIB, zeros ? "onnxruntime" : "esp32p4");
		struct import_report r = take(st, file(text));
		assert_true(scale(st, CLASS_CONV) == (zeros ? 0.0625 : 0));
		assert_int_equal(zero_point(st, CLASS_CONV), zeros ? 109 : ZERO_FOLLOWS);
		assert_int_equal(strstr(str_text(&r.notes), "a scale with a zero point cannot be fixed here") != NULL, !zeros);
		import_report_done(&r);
		study_close(&st);
	}
}

// An unsigned type whose zero is its middle code is what a target without zero points has;
// one whose zero is its lowest code is not.
void test_import__a_scale_of_a_type_without_a_sign(void **state)
{
	struct study *st = bare();
	struct import_report r = take(st, file("{\"extra_options\": {\"TensorQuantOverrides\": {"
	    "\"" CLASS_CONV "_output_0\": [{\"quant_type\": \"QUInt8\", \"scale\": 0.0625, \"zero_point\": 128}], "
	    "\"" STEM_OUT "\": [{\"quant_type\": \"QUInt8\", \"scale\": 0.0625, \"zero_point\": 0}]}}}"));
	assert_true(scale(st, CLASS_CONV) == 0.0625);
	assert_true(scale(st, STEM) == 0);
	assert_has(&r.notes, STEM_OUT ": a scale with a zero point cannot be fixed here");
	assert_int_equal(r.n_notes, 1);
	import_report_done(&r);
	study_close(&st);
}

// What holds for all tensors is taken over where the target has it, and said where it has not.
void test_import__types_for_all_tensors(void **state)
{
	static const struct {
		const char *target, *text, *note; // "": nothing is said
		int stem;
	} row[] = {
	    {"onnxruntime", "\"activation_type\": \"QuantType.QUInt16\", \"weight_type\": \"QInt8\", \"per_channel\": true", "", PREC_INT16},
	    {"onnxruntime", "\"activation_type\": \"QInt8\", \"weight_type\": \"QInt4\"", "weight_type: QInt4 has 4 bits, weights of the target have 8", -1},
	    {"onnxruntime", "\"per_channel\": false", "per_channel: false, but weights of the target have a scale for each channel", -1},
	    {"onnxruntime", "\"reduce_range\": true", "reduce_range: weights of the target use all their bits", -1},
	    {"xint8", "\"per_channel\": true", "per_channel: true, but weights of the target have a scale for each tensor", -1},
	    {"xint8", "\"activation_type\": \"QUInt16\", \"extra_options\": {\"ActivationSymmetric\": true}",
	        "activation_type: QUInt16 has 16 bits, activations of the target have 8", -1},
	    {"a16w8", "\"activation_type\": \"QInt16\", \"extra_options\": {\"ActivationSymmetric\": true}", "", -1},
	    {"esp32p4", "\"activation_type\": \"QUInt8\"", "ActivationSymmetric: false, but activations of the target are symmetric", -1},
	    {"esp32p4", "\"activation_type\": \"Q9\", \"extra_options\": {\"ActivationSymmetric\": true}", "activation_type: Q9 is not known here", -1},
	};
	for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
		char text[256];
		snprintf(text, sizeof text, "{\"nodes_to_exclude\": [\"" CLASS_CONV "\"], %s}", row[i].text);
		struct study *st = case_open(MODEL, NULL, row[i].target);
		struct import_report r = take(st, file(text));
		assert_int_equal(precision(st, STEM), row[i].stem);
		assert_int_equal(precision(st, CLASS_CONV), PREC_FLOAT);
		assert_has(&r.notes, row[i].note);
		if (r.n_notes != (row[i].note[0] != '\0'))
			fail_msg("%s: %s", row[i].text, str_text(&r.notes));
		import_report_done(&r);
		study_close(&st);
	}
}

// Tables that hold a scale for every tensor: all that were calculated by one calibrator hold under another.
static void assert_scales_hold(const char *format)
{
	struct study *st = case_open(MODEL, CALIB, "esp32p4"), *again = case_open(MODEL, CALIB, "esp32p4");
	struct error err = {0};
	assert_int_equal(study_set_method(again, CALIB_PERCENTILE, &err), STATUS_OK);
	struct str text = case_export(st, format, NULL);
	struct import_report r = take(again, support_temp_file("table", str_text(&text), text.len));
	assert_true(r.scales > 20);
	struct str second = case_export(again, format, NULL);
	// The first line of a cache names the calibrator.
	assert_string_equal(strchr(str_text(&text), '\n'), strchr(str_text(&second), '\n'));
	import_report_done(&r);
	str_done(&text);
	str_done(&second);
	study_close(&again);
	study_close(&st);
}

void test_import__a_table_of_scales_holds_under_another_calibrator(void **state)
{
	assert_scales_hold("aimet");
	assert_scales_hold("tensorrt-cache");
}

// The scale of a tensor behind a fused operator stands at the operator's owner.
void test_import__a_table_gives_the_scale_behind_a_relu_once(void **state)
{
	const char *model = support_data("misc/face_detection_front_128x128_barracuda.onnx");
	if (!model)
		skip();
	struct study *st = case_open(model, NULL, "xquant"), *again = case_open(model, NULL, "xquant");
	(void)state;
	struct str text = case_export(st, "aimet", NULL);
	struct import_report r = take(again, support_temp_file("encodings", str_text(&text), text.len));
	assert_true(r.scales > 20);
	assert_null(strstr(str_text(&r.notes), "shares the scale of tensor"));
	import_report_done(&r);
	str_done(&text);
	study_close(&again);
	study_close(&st);
}

// Of tensors that share a scale only the one that rules it can be given one:
// the others are named where they would have another.
void test_import__a_table_gives_a_shared_scale_once(void **state)
{
	for (int other = 0; other < 2; other++) {
		char text[256];
		snprintf(text, sizeof text, "{\"act_quant_info\": {\"/model.7/cv1/act/Mul_output_0\": 7.9375, \"/model.7/m/MaxPool_output_0\": %s}}",
		    other ? "15.875" : "7.9375");
		struct study *st = bare();
		struct import_report r = take(st, file(text));
		assert_int_equal(r.scales, 1);
		assert_true(scale(st, "/model.7/cv1/act/Mul") == 0.0625);
		assert_int_equal(r.n_notes, other);
		assert_has(&r.notes, other ? "/model.7/m/MaxPool: its output shares the scale of tensor /model.7/cv1/act/Mul_output_0" : "");
		import_report_done(&r);
		study_close(&st);
	}
}

// What esp-ppq itself exported of a run with kl gives its scales under min-max.
void test_import__esp_ppq_s_own_export(void **state)
{
	const char *model = support_data("models/resnet20_cifar10.onnx"), *config = support_data("golden/esp-ppq/resnet20_esp_export_config.json");
	if (!model || !config)
		skip();
	char *paths[] = {xstrdup(model), xstrdup(config)};
	struct study *st = case_open(paths[0], NULL, "esp32p4");
	struct import_report r = take(st, paths[1]);
	assert_string_equal(r.format, "esp-ppq's exported configuration");
	assert_int_equal(r.precisions, 0); // INT8 throughout, as it is
	assert_true(r.scales > 15);
	assert_true(scale(st, "Conv_0") == 0x1p-6); // of the tensor behind its Relu, 131
	assert_true(scale(st, "Gemm_77") == 0x1p-4);
	assert_true(study_undo(st));
	assert_true(scale(st, "Gemm_77") == 0);
	import_report_done(&r);
	free(paths[0]);
	free(paths[1]);
	study_close(&st);
}

void test_import__platforms_by_number_and_by_name(void **state)
{
	struct study *st = bare();
	struct import_report r = take(st, file("{\"dispatchings\": {\"" SUB "\": \"FP32\", \"" STEM "\": 552, \"" STEM "/Swish\": \"ESPDL_INT16\", "
	    "\"" CLASS_CONV "\": 551, \"/model.12/Sigmoid\": \"SOI\", \"nothing\": 0, \"/model.1/conv/Conv\": 9999}}"));
	assert_int_equal(r.precisions, 3);
	assert_int_equal(precision(st, SUB), PREC_FLOAT);
	assert_int_equal(precision(st, STEM), PREC_INT16);
	assert_int_equal(precision(st, SWISH), PREC_INT16);
	assert_int_equal(precision(st, CLASS_CONV), -1); // it is so already
	assert_int_equal(r.n_notes, 2);
	assert_non_null(strstr(str_text(&r.notes), "nothing: the model has no such operator"));
	assert_non_null(strstr(str_text(&r.notes), "/model.1/conv/Conv: its platform is not known"));
	import_report_done(&r);
	study_close(&st);
}

// What was decided before gives way where the file says otherwise, which is said, and stays where it is silent.
void test_import__is_a_merge_that_tells_its_conflicts(void **state)
{
	struct study *st = bare();
	case_set(st, STEM, PREC_INT16);
	case_set(st, CLASS_CONV, PREC_INT16);
	struct import_report r = take(st, file("{\"nodes_to_exclude\": [\"" STEM "\", \"^/model.12/S(ub|igmoid)$\", \"^/none\"]}"));
	assert_int_equal(precision(st, STEM), PREC_FLOAT);
	assert_int_equal(precision(st, CLASS_CONV), PREC_INT16);
	assert_int_equal(precision(st, SUB), PREC_FLOAT);
	assert_int_equal(precision(st, "/model.12/Sigmoid"), PREC_FLOAT);
	assert_non_null(strstr(str_text(&r.notes), STEM ": was set to int16, the file's float is taken"));
	assert_non_null(strstr(str_text(&r.notes), "^/none: no node"));
	assert_true(study_undo(st));
	assert_int_equal(precision(st, STEM), PREC_INT16);
	import_report_done(&r);
	study_close(&st);
}

// A node, or two parts of one operator, of which a file says two things.
void test_import__a_file_that_contradicts_itself(void **state)
{
	struct study *st = bare();
	struct import_report r = take(st, file("{\"nodes_to_exclude\": [\"" STEM "\", \"" SUB "\"], \"extra_options\": {\"MixedPrecisionTensor\": {\"QInt16\": [\""
	    STEM_OUT "\"]}}}"));
	assert_int_equal(precision(st, STEM), PREC_FLOAT);
	assert_has(&r.notes, STEM ": the file gives it both float and int16: float is taken");
	assert_int_equal(r.n_notes, 1);
	import_report_done(&r);
	r = take(st, file("{\"dispatchings\": {\"/model.0/act/Sigmoid\": 552, \"" SWISH "\": 551, \"" SUB "\": 0, \"" SUB "\": 0}}"));
	assert_has(&r.notes, SWISH ": the file gives it both int16 and int8: int8 is taken");
	assert_int_equal(r.n_notes, 1);
	import_report_done(&r);
	study_close(&st);
}

void test_import__nncf_types_and_patterns(void **state)
{
	struct study *st = bare();
	struct import_report r = take(st, file("{\"names\": [], \"types\": [\"Softmax\", \"Nothing\"], \"patterns\": [\"/model.12/Su\"]}"));
	assert_int_equal(precision(st, SUB), PREC_FLOAT); // from the first character on, not to the last
	assert_non_null(strstr(str_text(&r.notes), "Nothing: the model has no operator"));
	import_report_done(&r);
	study_close(&st);
}

// A model that OpenVINO converted has names and types of its own.
void test_import__nncf_in_openvinos_words(void **state)
{
	struct study *st = bare();
	struct import_report r = take(st, file("{\"ignored_scope\": {\"names\": [\"" STEM "/WithoutBiases\", \"/none/WithoutBiases\"], "
	    "\"types\": [\"Subtract\"]}}"));
	assert_int_equal(precision(st, STEM), PREC_FLOAT);
	assert_int_equal(precision(st, SUB), PREC_FLOAT);
	assert_int_equal(r.n_notes, 1);
	assert_non_null(strstr(str_text(&r.notes), "/none"));
	import_report_done(&r);
	study_close(&st);
}

// OpenVINO has a type of its own for convolutions with groups.
void test_import__convolutions_in_openvinos_words(void **state)
{
	const char *model = support_data("models/mobilenetv2_12.onnx");
	if (!model)
		skip();
	for (int grouped = 0; grouped < 2; grouped++) {
		struct study *st = case_open(model, NULL, "onnxruntime");
		struct import_report r = take(st, file(grouped ? "{\"types\": [\"GroupConvolution\", \"ConvolutionBackpropData\"], \"type\": []}" :
		    "{\"types\": [\"Convolution\", \"ConvolutionBackpropData\"], \"type\": []}"));
		const struct graph *g = study_graph(st);
		int n = 0;
		for (int i = 0; i < g->n_nodes; i++)
			n += study_edits(st)->precision[i] == PREC_FLOAT;
		assert_int_equal(n, grouped ? 17 : 35);
		assert_has(&r.notes, "ConvolutionBackpropData: the model has no operator of this type");
		assert_has(&r.notes, "ignored_scope: type is not read");
		import_report_done(&r);
		study_close(&st);
	}
}

void test_import__encodings_of_each_version(void **state)
{
	static const char *const text[] = {
	    "{\"version\": \"0.6.1\", \"activation_encodings\": {\"" STEM_OUT "\": [{\"bitwidth\": 16, \"dtype\": \"int\", "
	    "\"is_symmetric\": \"True\", \"scale\": 0.5}]}}",
	    "{\"version\": \"1.0.0\", \"activation_encodings\": [{\"name\": \"" STEM_OUT "\", \"bw\": 16, \"dtype\": \"INT\", \"is_sym\": true, "
	    "\"scale\": [0.5]}]}",
	    "{\"version\": \"2.0.0\", \"encodings\": [{\"name\": \"" STEM_OUT "\", \"output_dtype\": \"int16\", \"y_scale\": 0.5}]}",
	};
	for (size_t i = 0; i < sizeof text / sizeof *text; i++) {
		struct study *st = bare();
		struct import_report r = take(st, file(text[i]));
		assert_int_equal(precision(st, STEM), PREC_INT16);
		assert_true(scale(st, STEM) == 0.5);
		assert_int_equal(r.n_notes, 0);
		import_report_done(&r);
		study_close(&st);
	}
}

// AIMET exports symmetric activations without a sign, and calls symmetric what has no negative values too.
void test_import__encodings_are_symmetric_about_the_middle_code(void **state)
{
	static const struct {
		const char *text;
		bool taken;
	} row[] = {
	    {"{\"encodings\": [{\"name\": \"" STEM_OUT "\", \"output_dtype\": \"uint8\", \"y_scale\": 0.5, \"y_zero_point\": 128}]}", true},
	    {"{\"encodings\": [{\"name\": \"" STEM_OUT "\", \"output_dtype\": \"uint8\", \"y_scale\": 0.5, \"y_zero_point\": 3}]}", false},
	    {"{\"encodings\": [{\"name\": \"" STEM_OUT "\", \"output_dtype\": \"uint8\", \"y_scale\": 0.5}]}", false},
	    {"{\"activation_encodings\": [{\"name\": \"" STEM_OUT "\", \"bw\": 8, \"is_sym\": true, \"offset\": [0], \"scale\": [0.5]}]}", false},
	    {"{\"activation_encodings\": [{\"name\": \"" STEM_OUT "\", \"bw\": 8, \"is_sym\": false, \"offset\": [-128], \"scale\": [0.5]}]}", true},
	    {"{\"activation_encodings\": {\"" STEM_OUT "\": [{\"bitwidth\": 8, \"is_symmetric\": \"True\", \"offset\": -127, \"scale\": 0.5}]}}",
	        true},
	    {"{\"activation_encodings\": {\"" STEM_OUT "\": [{\"bitwidth\": 8, \"is_symmetric\": \"True\", \"offset\": 0, \"scale\": 0.5}]}}", false},
	};
	for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
		struct study *st = bare();
		struct import_report r = take(st, file(row[i].text));
		assert_true(scale(st, STEM) == (row[i].taken ? 0.5 : 0));
		assert_int_equal(r.n_notes, !row[i].taken);
		import_report_done(&r);
		study_close(&st);
	}
}

static double scale_of_tensor(const struct study *st, const char *tensor)
{
	return study_edits(st)->scale[graph_find_value(study_graph(st), tensor)];
}

// Where files name tensors, the scale of a second output is taken over and written again.
void test_import__the_scale_of_a_second_output_comes_back(void **state)
{
	static const char *const format[] = {"onnxruntime", "aimet", "tensorrt-cache", "tpu-mlir-cali-table"};
	for (size_t i = 0; i < sizeof format / sizeof *format; i++) {
		struct study *st = case_open(MODEL, CALIB, "xint8"), *again = case_open(MODEL, NULL, "xint8");
		case_scale(st, SECOND, 0x1p-5);
		struct str text = case_export(st, format[i], NULL);
		struct import_report r = take(again, support_temp_file("import", str_text(&text), text.len));
		assert_true(scale_of_tensor(again, SECOND) == 0x1p-5);
		assert_true(scale(again, SPLIT) != 0x1p-5);
		assert_null(strstr(str_text(&r.notes), SECOND));
		import_report_done(&r);
		str_done(&text);
		study_close(&again);
		study_close(&st);
	}
}

// A target that gives it the scale of another tensor says whose; a node has the width of its first output.
void test_import__what_a_second_output_cannot_have_is_said(void **state)
{
	struct study *st = bare(), *wide = case_open(MODEL, NULL, "xint8");
	struct import_report r = take(st, file("{\"act_quant_info\": {\"" SECOND "\": 127}}"));
	assert_int_equal(r.scales, 0);
	assert_non_null(strstr(str_text(&r.notes), SPLIT ": its output " SECOND " shares the scale of tensor "));
	import_report_done(&r);
	r = take(wide, file("{\"version\": \"1.0.0\", \"activation_encodings\": [{\"name\": \"" SECOND "\", \"bw\": 16, "
	    "\"dtype\": \"INT\", \"is_sym\": true, \"scale\": [0.25]}]}"));
	assert_int_equal(precision(wide, SPLIT), -1);
	assert_true(scale_of_tensor(wide, SECOND) == 0.25);
	const char *said = SECOND ": int16, but a node has one width, and that of " SPLIT " is int8";
	assert_non_null(strstr(str_text(&r.notes), said));
	import_report_done(&r);
	study_close(&wide);
	study_close(&st);
}

// An expression that regcomp would copy until memory ends, or recurse into until the stack does.
void test_import__a_pattern_that_would_take_all_memory_is_told(void **state)
{
	enum { BRACKETS = 200000 };
	struct str deep = {0};
	str_add(&deep, "{\"nodes_to_exclude\": [\"^((((a{1,255}){1,255}){1,255}){1,255})\", \"^(a*)\\\\1\", \"^/model.12/Su{1}b$\", \"^");
	for (int i = 0; i < BRACKETS; i++)
		str_add(&deep, "(");
	str_add(&deep, "\"]}");
	struct study *st = bare();
	struct import_report r = take(st, file(str_text(&deep)));
	assert_int_equal(precision(st, SUB), PREC_FLOAT);
	assert_int_equal(r.n_notes, 3);
	assert_non_null(strstr(str_text(&r.notes), "((((a{1,255}){1,255}){1,255}){1,255}): not a regular expression that is understood here"));
	import_report_done(&r);
	str_done(&deep);
	study_close(&st);
}

// Quantizers look up their scales by name, one by one: time that grows with the square of their number would be days.
void test_import__an_exported_configuration_of_many_operators(void **state)
{
	enum { MANY = 200000 };
	struct str text = {0};
	str_add(&text, "{\"configs\": {\"stem\": {\"" STEM_OUT "\": {\"bit_width\": 16, \"state\": \"ACTIVATED\", \"hash\": 7, \"dominator\": 7}}, \"none\": 5");
	for (int i = 0; i < MANY; i++)
		str_addf(&text, ", \"op%d\": {\"x\": {\"state\": \"ACTIVATED\", \"hash\": %d, \"dominator\": %d}}", i, i + 8, i + 8);
	str_add(&text, "}, \"values\": {");
	for (int i = MANY; i >= 0; i--)
		str_addf(&text, "\"%d\": {\"scale\": 0.5}%s", i + 7, i ? ", " : "");
	str_add(&text, "}}");
	struct study *st = bare();
	struct import_report r = take(st, file(str_text(&text)));
	assert_int_equal(precision(st, STEM), PREC_INT16);
	assert_true(scale(st, STEM) == 0.5);
	assert_non_null(strstr(str_text(&r.notes), "none: it is not an object"));
	import_report_done(&r);
	str_done(&text);
	study_close(&st);
}

void test_import__what_the_target_cannot_do_is_left_and_said(void **state)
{
	struct study *st = bare();
	struct import_report r = take(st, file("{\"quant_config_modify_setting\": {\"custom_config\": {\"" CLASS_CONV "\": 0.3, \"" STEM "\": -1, "
	    "\"/model.1/conv/Conv\": \"x\", \"/model.3/conv/Conv\": 0.25}}, \"quantize_activation_setting\": {\"calib_algorithm\": \"percentile\"}}"));
	assert_int_equal(r.scales, 1);
	assert_true(r.method);
	assert_true(scale(st, "/model.3/conv/Conv") == 0.25);
	assert_true(scale(st, CLASS_CONV) == 0 && scale(st, STEM) == 0);
	assert_int_equal(r.n_notes, 3);
	assert_non_null(strstr(str_text(&r.notes), CLASS_CONV)); // no power of two
	assert_non_null(strstr(str_text(&r.notes), STEM ": -1 is no scale"));
	import_report_done(&r);
	study_close(&st);
}

// Passes of a setting that change weights are no edits: named, with what does it here.
void test_import__passes_that_change_weights_are_said(void **state)
{
	struct study *st = bare();
	struct import_report r = take(st, file("{\"equalization\": true, \"equalization_setting\": {\"opt_level\": 2}, \"tqt_optimization\": true, "
	    "\"bias_correct\": false, \"dispatching_table\": {\"dispatchings\": {}}}"));
	assert_int_equal(r.precisions + r.scales, 0);
	assert_int_equal(r.n_notes, 2);
	assert_non_null(strstr(str_text(&r.notes), "equalization: "));
	assert_non_null(strstr(str_text(&r.notes), "qtui equalize"));
	assert_non_null(strstr(str_text(&r.notes), "tqt_optimization: "));
	import_report_done(&r);
	study_close(&st);
}

// quantize_static leaves Entropy as many bins as levels: what it calibrates is min-max.
void test_import__entropy_of_onnx_runtime_is_minmax(void **state)
{
	struct study *st = bare();
	struct error err = {0};
	assert_int_equal(study_set_method(st, CALIB_PERCENTILE, &err), STATUS_OK);
	struct import_report r = take(st, file("{\"nodes_to_exclude\": [], \"calibrate_method\": \"Entropy\"}"));
	assert_true(r.method);
	import_report_done(&r);
	cJSON *j = case_export_json(st, "onnxruntime", NULL);
	assert_string_equal(json_text(j, "calibrate_method", ""), "MinMax");
	cJSON_Delete(j);
	study_close(&st);
}

// Which calibrator is in force counts, not the one that the study was opened with.
void test_import__the_calibrator_in_force(void **state)
{
	static const char text[] = "{\"quantize_activation_setting\": {\"calib_algorithm\": \"minmax\"}}";
	struct error err = {0};
	struct study *st = bare(); // min-max
	struct import_report r = take(st, file(text));
	assert_false(r.method);
	assert_int_equal(steps(st), 0);
	import_report_done(&r);
	assert_int_equal(study_set_method(st, CALIB_PERCENTILE, &err), STATUS_OK);
	r = take(st, file(text));
	assert_true(r.method);
	assert_int_equal(steps(st), 2);
	import_report_done(&r);
	study_close(&st);
}

void test_import__widths_that_there_are_not(void **state)
{
	struct study *st = bare();
	struct import_report r = take(st, file("{\"activation_encodings\": [{\"name\": \"" STEM_OUT "\", \"bw\": 4, \"is_sym\": true, \"scale\": [0.5]}, "
	    "{\"name\": \"" CLASS_CONV "_output_0\", \"bw\": 1e300, \"is_sym\": true, \"scale\": [0.5]}]}"));
	assert_int_equal(r.precisions + r.scales, 0);
	assert_int_equal(r.n_notes, 2);
	assert_non_null(strstr(str_text(&r.notes), STEM_OUT ": 4 bits are not known here"));
	import_report_done(&r);
	study_close(&st);
}

void test_import__other_files_are_refused(void **state)
{
	assert_refused("{\"quantization_parameters\": {}}", "--config");
	assert_refused("{\"qtui_session\": 1, \"edits\": []}", "--session");
	assert_refused("{\"quantized\": false, \"subgraphs\": [{\"name\": \"head\", \"start_nodes\": [\"" SUB "\"], \"end_nodes\": [\"" SUB "\"]}]}",
	    "Quark's auto mixed precision");
	assert_refused("{\"cache_key\": \"ab\", \"results\": []}", "Quark's auto mixed precision");
	assert_refused("{\"colour\": 3}", "not a file of esp-ppq");
	assert_refused("[1, 2]", "not a file of esp-ppq");
	assert_refused("[{\"nodes_to_exclude\": [\"" SUB "\"]}]", "not a file of esp-ppq");
	assert_refused("{\"dispatchings\": ", "import.json");
	assert_refused("", "import.json");
}

// Members of any other kind than what is meant: nothing is taken, nothing breaks.
void test_import__members_of_the_wrong_kind(void **state)
{
	static const char *const text[] = {
	    "{\"dispatchings\": [552, \"a\", null]}", "{\"dispatchings\": {\"" STEM "\": {\"a\": 1}}}", "{\"configs\": {\"a\": 3, \"b\": {\"c\": 4}}}",
	    "{\"configs\": [[{\"state\": \"ACTIVATED\", \"hash\": 1, \"dominator\": 1}]], \"values\": {\"1\": {\"scale\": 1}}}",
	    "{\"activation_encodings\": [[], 3, {\"name\": 4}]}", "{\"activation_encodings\": {\"x\": 3}}", "{\"encodings\": \"x\"}",
	    "{\"nodes_to_exclude\": {\"a\": [1]}, \"extra_options\": {\"TensorQuantOverrides\": {\"" STEM_OUT "\": 7}, \"MixedPrecisionTensor\": [[\"a\"]]}}",
	    "{\"act_quant_info\": [1, 2]}", "{\"ignored_scope\": 5}", "{\"patterns\": [\"(\"], \"types\": [1]}",
	    "TRT-8\nabc\nx: zz\ny: 1234567890123\n",
	};
	for (size_t i = 0; i < sizeof text / sizeof *text; i++) {
		struct study *st = bare();
		struct import_report r = take(st, file(text[i]));
		assert_int_equal(r.precisions + r.scales, 0);
		assert_int_equal(steps(st), 0);
		if (r.n_notes == 0)
			fail_msg("%s: nothing is said", text[i]);
		import_report_done(&r);
		study_close(&st);
	}
}

// What would change the numbers and is not read is named; so are types in float, and tensors at half a float's bits.
void test_import__quark_s_other_members(void **state)
{
	struct study *st = bare();
	struct import_report r = take(st, file("{\"global_config\": {}, \"layer_type_config\": [[null, [\"Sub\"]], [{\"weight\": {}}, [\"Conv\"]]], "
	    "\"exclude\": [[[\"a\"], [\"b\"]], 7], \"subgraphs_to_exclude\": [[[\"" SUB "\"], [\"" STEM "\"]]], \"specific_layer_config\": [[{}, [\"" STEM "\"]]], "
	    "\"nodes_to_quantize\": [], \"extra_options\": {\"MixedPrecisionTensor\": {\"ExtendedQuantType.QBFloat16\": [\"" CLASS_CONV
	    "_output_0\"], \"QInt4\": [\"" STEM_OUT "\"], \"Q7\": [\"" STEM_OUT "\"]}}}"));
	assert_int_equal(precision(st, SUB), PREC_FLOAT);
	assert_int_equal(precision(st, CLASS_CONV), PREC_FLOAT);
	assert_int_equal(precision(st, STEM), -1);
	static const char *const note[] = {"layer_type_config: a configuration of weights alone", "a: the model has no such node", "exclude: neither a name", "no way leads to its end",
	    "specific_layer_config: a configuration of weights alone", STEM_OUT ": 4 bits", STEM_OUT ": the type Q7"};
	for (size_t i = 0; i < sizeof note / sizeof *note; i++)
		if (!strstr(str_text(&r.notes), note[i]))
			fail_msg("%s is not in: %s", note[i], str_text(&r.notes));
	assert_int_equal(r.n_notes, sizeof note / sizeof *note);
	import_report_done(&r);
	study_close(&st);
}

// As Olive's passes and Quark's objects have it: a type of all, of types of operators, of nodes, the last over the others.
void test_import__quark_s_layers(void **state)
{
	struct study *st = case_open(MODEL, NULL, "a8w8");
	struct import_report r = take(st, file("{\"global_config\": {\"activation\": {\"symmetric\": true, \"calibration_method\": \"CalibMethod.Percentile\", "
	    "\"data_type\": \"Int8\"}, \"weight\": {\"data_type\": \"Int8\"}}, \"layer_type_config\": [[null, [\"Sub\"]], [{\"activation\": "
	    "{\"data_type\": \"UInt16\"}}, [\"Concat\"]]], \"specific_layer_config\": [[{\"input_tensors\": {\"data_type\": \"Int8\", "
	    "\"calibration_method\": \"MinMSE\"}, \"output_tensors\": {\"data_type\": \"Int16\"}}, [\"" STEM "\"]], [{\"input_tensors\": {}}, "
	    "[\"/model.12/Concat_4\", \"^/model.1/conv\"]], [{\"input_tensors\": {\"data_type\": \"Int3\"}}, [\"" CLASS_CONV "\"]]]}"));
	const struct edits *e = study_edits(st);
	assert_true(r.method && e->precision[node(st, STEM)] == PREC_INT16 && e->calibrator[node(st, STEM)] == CALIB_MSE);
	assert_int_equal(r.calibrators, 1);
	assert_int_equal(precision(st, "/model.12/Sub"), PREC_FLOAT);
	assert_int_equal(precision(st, "/model.12/Concat"), PREC_INT16);
	assert_int_equal(precision(st, "/model.12/Concat_4"), -1); // 8 bits, which it has
	assert_int_equal(precision(st, "/model.1/conv/Conv"), -1);
	assert_int_equal(precision(st, CLASS_CONV), -1);
	assert_has(&r.notes, "specific_layer_config: the type Int3 is not known here");
	import_report_done(&r);
	study_close(&st);
}

// esp-ppq skips a scale whose operator is quantized behind another; the file's author learns of it here.
void test_import__a_scale_that_esp_ppq_skips(void **state)
{
	const char *model = support_data("models/resnet20_cifar10.onnx");
	if (!model)
		skip();
	struct study *st = case_open(model, NULL, "esp32p4");
	struct import_report r = take(st, file("{\"quant_config_modify_setting\": {\"custom_config\": {\"Conv_40\": 0.125, \"Relu_5\": 0.25}}}"));
	assert_int_equal(r.scales, 1);
	assert_true(scale(st, "Conv_40") == 0);
	assert_true(scale(st, "Conv_3") == 0.25);
	assert_non_null(strstr(str_text(&r.notes), "Conv_40: esp-ppq skips its scale"));
	assert_non_null(strstr(str_text(&r.notes), "behind Relu_42: name that"));
	import_report_done(&r);
	study_close(&st);
}

// The words of both tools for a calibrator, as Python prints them.
void test_import__calibrators_by_their_enumerations(void **state)
{
	static const struct {
		const char *text;
		enum calib_method method;
	} t[] = {
	    {"{\"calibrate_method\": \"CalibrationMethod.Percentile\"}", CALIB_PERCENTILE},
	    {"{\"calibrate_method\": \"PowerOfTwoMethod.MinMSE\"}", CALIB_MSE},
	    {"{\"calibrate_method\": \"PowerOfTwoMethod.NonOverflow\"}", CALIB_MINMAX},
	    {"{\"global_config\": {\"input_tensors\": {\"calibration_method\": \"CalibMethod.MinMSE\"}}}", CALIB_MSE},
	};
	for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
		struct study *st = bare();
		struct import_report r = take(st, file(t[i].text));
		struct snapshot *s = study_snapshot(st);
		assert_int_equal(s->method, t[i].method);
		assert_int_equal(r.n_notes, 0);
		snapshot_drop(&s);
		import_report_done(&r);
		study_close(&st);
	}
}

// What AMD's documents advise for the head of a YOLO: the region between nodes, in float. NNCF says the same otherwise.
void test_import__subgraphs_between_nodes(void **state)
{
	static const char *const text[] = {
	    "{\"subgraphs_to_exclude\": [[[\"" SUB "\"], [\"/model.12/Concat_4\"]]]}",
	    "{\"exclude\": [[[\"" SUB "\"], [\"/model.12/Concat_4\"]]]}",
	    "{\"subgraphs\": [{\"inputs\": [\"" SUB "\"], \"outputs\": [\"/model.12/Concat_4\"]}]}",
	};
	for (size_t i = 0; i < sizeof text / sizeof *text; i++) {
		struct study *st = bare();
		struct import_report r = take(st, file(text[i]));
		assert_int_equal(r.n_notes, 0);
		assert_int_equal(precision(st, SUB), PREC_FLOAT);
		assert_int_equal(precision(st, "/model.12/Sub_1"), PREC_FLOAT);
		assert_int_equal(precision(st, "/model.12/Concat_4"), PREC_FLOAT);
		assert_int_equal(precision(st, "/model.12/Sigmoid"), -1); // leads to the end, but not from the start
		assert_int_equal(precision(st, STEM), -1);
		import_report_done(&r);
		study_close(&st);
	}
}

void test_import__expressions_of_python(void **state)
{
	static const struct {
		const char *pattern;
		bool matches;
	} t[] = {{"/model\\\\.\\\\d+/Sub$", true}, {"(?:/model)[.]12/Sub", true}, {"/model\\\\.\\\\D", false}, {"/model..\\\\w/S", true},
	    {"Sub", false}, {"(?=x)", false}};
	for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
		struct study *st = bare();
		char text[128];
		snprintf(text, sizeof text, "{\"patterns\": [\"%s\"]}", t[i].pattern);
		struct import_report r = take(st, file(text));
		if ((precision(st, SUB) == PREC_FLOAT) != t[i].matches)
			fail_msg("%s: %s", t[i].pattern, str_text(&r.notes));
		assert_true(t[i].matches || r.n_notes == 1);
		import_report_done(&r);
		study_close(&st);
	}
}

// A scale with a zero point, or of which nobody says that it has none, cannot be fixed here.
void test_import__encodings_that_are_not_symmetric(void **state)
{
	static const char *const text[] = {
	    "{\"encodings\": [{\"name\": \"" STEM_OUT "\", \"output_dtype\": \"int16\", \"y_scale\": 0.5, \"y_zero_point\": 3}]}",
	    "{\"encodings\": [{\"name\": \"" STEM_OUT "\", \"output_dtype\": \"uint16\", \"y_scale\": 0.5}]}",
	    "{\"activation_encodings\": [{\"name\": \"" STEM_OUT "\", \"bw\": 16, \"dtype\": \"INT\", \"scale\": [0.5]}]}",
	    "{\"activation_encodings\": {\"" STEM_OUT "\": [{\"bitwidth\": 16, \"dtype\": \"int\", \"is_symmetric\": \"False\", \"scale\": 0.5}]}}",
	};
	for (size_t i = 0; i < sizeof text / sizeof *text; i++) {
		struct study *st = bare();
		struct import_report r = take(st, file(text[i]));
		assert_int_equal(precision(st, STEM), PREC_INT16);
		assert_true(scale(st, STEM) == 0);
		assert_has(&r.notes, STEM_OUT ": a scale with a zero point cannot be fixed here: target esp32p4 has none");
		import_report_done(&r);
		study_close(&st);
	}
}

// A target with zero points can take its scale, as from other tools' files.
void test_import__encodings_with_zero_points(void **state)
{
	struct study *st = case_open(MODEL, CALIB, "onnxruntime"), *again = case_open(MODEL, CALIB, "onnxruntime");
	(void)state;
	case_scale(st, CLASS_CONV, 0.0625);
	struct str text = case_export(st, "aimet", NULL);
	struct import_report r = take(again, support_temp_file("encodings", str_text(&text), text.len));
	assert_true(scale(again, CLASS_CONV) == 0.0625);
	struct snapshot *s = study_snapshot(st);
	const struct node_row *row = &s->row[node(st, CLASS_CONV)];
	for (int i = row->first_site; i < row->first_site + row->n_sites; i++)
		if (s->site[i].kind == SITE_OUTPUT)
			assert_int_equal(zero_point(again, CLASS_CONV), s->site[i].zero[0]);
	snapshot_drop(&s);
	assert_null(strstr(str_text(&r.notes), "zero point"));
	import_report_done(&r);
	str_done(&text);
	study_close(&again);
	study_close(&st);
}

void test_import__encodings_in_float(void **state)
{
	static const char *const text[] = {
	    "{\"encodings\": [{\"name\": \"" STEM_OUT "\", \"output_dtype\": \"float16\"}]}",
	    "{\"activation_encodings\": [{\"name\": \"" STEM_OUT "\", \"dtype\": \"FLOAT\", \"bw\": 16}]}",
	    "{\"activation_encodings\": {}, \"excluded_layers\": [\"" STEM "\"]}",
	};
	for (size_t i = 0; i < sizeof text / sizeof *text; i++) {
		struct study *st = bare();
		struct import_report r = take(st, file(text[i]));
		assert_int_equal(precision(st, STEM), PREC_FLOAT);
		assert_int_equal(r.n_notes, 0);
		import_report_done(&r);
		study_close(&st);
	}
}

// A line of a cache with more than its eight digits is another tool's mistake: no half of it is taken.
void test_import__a_cache_s_broken_lines(void **state)
{
	struct study *st = bare();
	struct import_report r = take(st, file("TRT-8601-EntropyCalibration2\n" STEM_OUT ": 3d800000 3d000000\n" CLASS_CONV "_output_0: 3d800000 \r\n"));
	assert_true(scale(st, STEM) == 0 && scale(st, CLASS_CONV) == 0.0625);
	assert_int_equal(r.n_notes, 1);
	import_report_done(&r);
	study_close(&st);
}

// What ONNX Runtime writes for its TensorRT provider: the largest magnitude of each tensor.
void test_import__a_cache_of_ranges(void **state)
{
	static const char text[] = STEM_OUT " 7.9375\r\n" CLASS_CONV "_output_0 25.4\nnothing 1e3\n\n";
	static const char *const target[] = {"esp32p4", "tensorrt", "onnxruntime"};
	for (size_t i = 0; i < sizeof target / sizeof *target; i++) {
		struct study *st = case_open(MODEL, NULL, target[i]);
		struct import_report r = take(st, support_temp_file("calibration.cache", text, strlen(text)));
		assert_string_equal(r.format, "ONNX Runtime calibration cache");
		assert_true(scale(st, STEM) == (i == 0 ? 0.0625 : 0)); // fused with its Swish on the second
		assert_true(scale(st, CLASS_CONV) == (i == 1 ? 25.4 / 127 : 0)); // no power of two
		assert_has(&r.notes, "nothing: the model has no tensor of this name");
		assert_int_equal(r.n_notes, i < 2 ? 2 : 3);
		import_report_done(&r);
		study_close(&st);
	}
	assert_refused("version: 1\nname: 2\n", "not a file of esp-ppq");
	assert_refused("a 1\nb\n", "import.json");
}
