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
	assert_comes_back("trtexec", true, false, false);
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
	struct import_report r =
	    take(st, file("{\"version\": \"0.6.1\", \"activation_encodings\": {\"images\": [{\"bitwidth\": 16, \"dtype\": \"float\"}]}, "
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

// What a node in float makes has the width of those that read it, as an input of the network has.
void test_import__the_type_of_what_comes_in_float(void **state)
{
	struct study *st = bare();
	struct import_report r = take(st, file("{\"nodes_to_exclude\": [\"" STEM "\"], \"extra_options\": {\"TensorQuantOverrides\": {\"" STEM_OUT
	    "\": [{\"quant_type\": \"QInt16\"}], \"images\": [{\"quant_type\": \"QInt16\"}], \"" SUB "_output_0\": [{\"quant_type\": \"QInt16\"}]}}}"));
	(void)state;
	assert_int_equal(precision(st, STEM), PREC_FLOAT);
	assert_int_equal(precision(st, SUB), PREC_INT16);
	assert_int_equal(r.n_notes, 0);
	import_report_done(&r);
	study_close(&st);
}

// A range makes the scale that the target's rule makes of it; of the network's input, too.
void test_import__ranges_of_overrides(void **state)
{
	static const char text[] = "{\"nodes_to_exclude\": [], \"extra_options\": {\"TensorQuantOverrides\": {\"images\": [{\"rmin\": 0, "
	    "\"rmax\": 1.5}], \""
	    CLASS_CONV "_output_0\": [{\"rmin\": -3, \"rmax\": 12}], \"" STEM_OUT "\": [{\"quant_type\": \"QInt16\", \"rmin\": 0, \"rmax\": 1}], \""
	    SUB "_output_0\": [{\"rmax\": 1}]}}}";
	(void)state;
	for (int zeros = 0; zeros < 2; zeros++) {
		struct study *st = case_open(MODEL, CALIB, zeros ? "onnxruntime" : "esp32p4");
		struct import_report r = take(st, file(text));
		const struct edits *e = study_edits(st);
		int images = graph_find_value(study_graph(st), "images");
		assert_float_equal(e->scale[images], zeros ? 1.5 / 65535 : 0x1p-14, 1e-10); // as its reader has 16 bits
		assert_int_equal(e->zero[images], zeros ? 0 : ZERO_FOLLOWS);
		assert_float_equal(scale(st, CLASS_CONV), zeros ? 15. / 255 : 0x1p-3, 1e-8);
		assert_int_equal(zero_point(st, CLASS_CONV), zeros ? 51 : ZERO_FOLLOWS);
		assert_float_equal(scale(st, STEM), zeros ? 1. / 65535 : 0x1p-14, 1e-10); // of 16 bits
		assert_true(scale(st, SUB) == 0);
		assert_has(&r.notes, SUB "_output_0: rmin and rmax go together");
		import_report_done(&r);
		study_close(&st);
	}
}

// What was read under one calibrator is not taken over under another; under the same it is.
void test_import__another_calibrator_meanwhile(void **state)
{
	struct study *st = bare();
	struct snapshot *now = study_snapshot(st);
	struct importing *m;
	struct import_report r;
	struct error err = {0};
	const enum calib_method method[] = {study_method(st) == CALIB_KL ? CALIB_MINMAX : CALIB_KL, study_method(st)};
	const enum status want[] = {STATUS_REFUSED, STATUS_OK};
	const char *path = file("{\"nodes_to_exclude\": [\"" STEM "\"]}");
	for (int i = 0; i < 2; i++) {
		if (import_begin(&m, st, now, path, &err) || import_read(m, &err) || study_set_method(st, method[i], &err))
			fail_msg("%s", err.text);
		assert_int_equal(import_end(&r, m, st, &err), want[i]);
		assert_int_equal(precision(st, STEM), i ? PREC_FLOAT : -1);
		import_report_done(&r);
		import_free(&m);
		assert_true(undoes(st));
	}
	snapshot_drop(&now);
	study_close(&st);
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
	    {"onnxruntime", "\"activation_type\": \"QInt8\", \"weight_type\": \"QInt4\"",
	        "weight_type: QInt4 has 4 bits, weights of the target have 8", -1},
	    {"onnxruntime", "\"per_channel\": false", "per_channel: false, but weights of the target have a scale for each channel", -1},
	    {"onnxruntime", "\"reduce_range\": true", "reduce_range: weights of the target use all their bits", -1},
	    {"xint8", "\"per_channel\": true", "per_channel: true, but weights of the target have a scale for each tensor", -1},
	    {"xint8", "\"activation_type\": \"QUInt16\", \"extra_options\": {\"ActivationSymmetric\": true}",
	        "activation_type: QUInt16 has 16 bits, activations of the target have 8", -1},
	    {"a16w8", "\"activation_type\": \"QInt16\", \"extra_options\": {\"ActivationSymmetric\": true}", "", -1},
	    {"esp32p4", "\"activation_type\": \"QUInt8\"", "ActivationSymmetric: false, but activations of the target are symmetric", -1},
	    {"esp32p4", "\"activation_type\": \"Q9\", \"extra_options\": {\"ActivationSymmetric\": true}",
	        "activation_type: Q9 is not known here", -1},
	};
	for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
		char text[256];
		snprintf(text, sizeof text, "{\"nodes_to_exclude\": [\"" CLASS_CONV "\"], %s}", row[i].text);
		struct study *st = take_noted(row[i].target, text, row[i].note);
		assert_int_equal(precision(st, STEM), row[i].stem);
		assert_int_equal(precision(st, CLASS_CONV), PREC_FLOAT);
		study_close(&st);
	}
}

// Each of these arguments may be all that a file has.
void test_import__arguments_that_stand_alone(void **state)
{
	static const struct {
		const char *text, *note;
		int stem;
	} row[] = {
	    {"{\"activation_type\": \"QUInt16\"}", "", PREC_INT16},
	    {"{\"weight_type\": \"QInt4\"}", "weight_type: QInt4 has 4 bits", -1},
	    {"{\"per_channel\": false}", "per_channel: false, but", -1},
	    {"{\"reduce_range\": true}", "reduce_range: weights of the target use all their bits", -1},
	};
	(void)state;
	for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
		struct study *st = take_noted("onnxruntime", row[i].text, row[i].note);
		assert_int_equal(precision(st, STEM), row[i].stem);
		study_close(&st);
	}
}

#define LAYER(type, weight) "\"specific_layer_config\": [[{\"input_tensors\": {\"data_type\": \"" type "\"}, \"weight\": " weight "}, [\"" \
	STEM "\"]]]"

// Options that AMD demands with a preset, or that its users change, are the target's own or name the member to change.
void test_import__options_of_quark(void **state)
{
	static const struct {
		const char *target, *text, *note; // "": nothing is said
	} row[] = {
	    {"vint8", "\"enable_npu_cnn\": true, \"extra_options\": {\"Int32Bias\": false, \"DedicatedQDQPair\": true, "
	              "\"QuantizeAllOpTypes\": true}", ""},
	    {"xint8", "\"extra_options\": {\"EnableNPUCnn\": true, \"ConvertSigmoidToHardSigmoid\": true}", ""},
	    {"xint8", "\"extra_options\": {\"ConvertSigmoidToHardSigmoid\": false}",
	        "ConvertSigmoidToHardSigmoid: false, the target does otherwise: choose --target NAME,operators.becomes.Sigmoid=itself"},
	    {"xint8", "\"extra_options\": {\"Int32Bias\": true}", "choose --target NAME,bias.own_scale=false,precisions.int8.bias=32"},
	    {"xint8", "\"extra_options\": {\"QuantizeAllOpTypes\": true}", "choose --target NAME,operators.all_types=true"},
	    {"xint8,operators.becomes.Sigmoid=itself", "\"extra_options\": {\"ConvertSigmoidToHardSigmoid\": false}", ""},
	    {"xint8,bias.own_scale=false,precisions.int8.bias=32", "\"extra_options\": {\"Int32Bias\": true}", ""},
	    {"a8w8", "\"enable_npu_cnn\": true", "enable_npu_cnn: true, but activations of the target have scales that are no powers of two"},
	    {"a8w8", "\"enable_npu_cnn\": false, \"extra_options\": {\"Int32Bias\": true}", ""},
	    {"bf16", "\"extra_options\": {\"QuantizeAllOpTypes\": true, \"Int32Bias\": false}", ""},
	    {"onnxruntime", "\"extra_options\": {\"Int32Bias\": true}", "extra_options: Int32Bias is not read"}, // of another tool
	};
	(void)state;
	for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
		char text[512];
		snprintf(text, sizeof text, "{\"exclude\": [\"" CLASS_CONV "\"], %s}", row[i].text);
		struct study *st = case_open(MODEL, NULL, row[i].target);
		struct import_report r = take(st, file(text));
		assert_has(&r.notes, row[i].note);
		if (r.n_notes != (row[i].note[0] != '\0'))
			fail_msg("%s %s: %s", row[i].target, row[i].text, str_text(&r.notes));
		import_report_done(&r);
		study_close(&st);
	}
}

// The plan that AMD's skills for Quark write before they quantize.
void test_import__a_plan_of_quarks_skills(void **state)
{
	static const char text[] = "{\"model\": {\"model_type\": \"onnx\"}, \"preset\": \"XINT8_ADAROUND\", \"calibration\": {\"method\": "
	    "\"PowerOfTwo_MinMSE\"}, \"algorithms\": [\"BiasCorrection\"], \"onnx_specific\": {\"enable_npu_cnn\": true, \"include_cle\": true, "
	    "\"nodes_to_exclude\": null, \"subgraphs_to_exclude\": [[[\"" SUB "\"], [\"" SUB "\"]]], \"extra_options\": {}}}";
	(void)state;
	for (int i = 0; i < 2; i++) {
		struct study *st = case_open(MODEL, NULL, i ? "a8w8" : "xint8");
		struct import_report r = take(st, file(text));
		assert_string_equal(r.format, "Quark quantization plan");
		assert_int_equal(study_method(st), CALIB_MSE);
		assert_int_equal(precision(st, SUB), PREC_FLOAT);
		assert_has(&r.notes, "preset: XINT8_ADAROUND is not read: what it does to weights");
		assert_has(&r.notes, "algorithms: BiasCorrection is not read: what it does to weights");
		assert_has(&r.notes, "include_cle is not read: what it does to weights");
		if (i)
			assert_has(&r.notes, "preset: XINT8_ADAROUND: open with --target xint8");
		assert_int_equal(r.n_notes, i ? 5 : 3); // and enable_npu_cnn, whose scales are powers of two
		import_report_done(&r);
		study_close(&st);
	}
}

// Of several files that a tool writes, the one that is read is named: the others were no valid YAML.
void test_import__files_beside_the_one_that_is_read(void **state)
{
	static const struct {
		const char *name, *instead;
	} row[] = {{"model.espdl", "the .json that esp-ppq writes"}, {"model.info", "the .json that esp-ppq writes"},
	    {"calibration.flatbuffers", "the calibration.json or calibration.cache"}, {"model.rknn", "the .quantization.cfg"},
	    {"quantize.py", "give as JSON what it passes"}, {"model.engine", "the calibration cache"}, {"model.alls", "names of their own"}};
	(void)state;
	for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
		struct study *st = bare();
		struct error err = {0};
		struct import_report r;
		const char *path = support_temp_file(row[i].name, "EDL2\x01\x02", 6);
		assert_int_equal(import_file(&r, st, path, &err), STATUS_UNSUPPORTED);
		assert_non_null(strstr(err.text, row[i].name));
		assert_non_null(strstr(err.text, row[i].instead));
		import_report_done(&r);
		study_close(&st);
	}
}

// Quark's newer configuration says of tensors what the target decides.
void test_import__specifications_of_all_tensors(void **state)
{
	static const struct {
		const char *target, *text, *note; // "": nothing is said
	} row[] = {
	    {"xint8", "\"global_config\": {\"input_tensors\": {\"scale_type\": \"ScaleType.PowerOf2\"}, \"weight\": {\"data_type\": \"Int8\","
	              " \"symmetric\": true, \"scale_type\": \"ScaleType.PowerOf2\", \"quant_granularity\": \"QuantGranularity.Tensor\"}}", ""},
	    {"a8w8", "\"global_config\": {\"activation\": {\"scale_type\": \"ScaleType.PowerOf2\"}}",
	        "scale_type: ScaleType.PowerOf2, but activations of the target have scales that are no powers of two"},
	    {"xint8", "\"global_config\": {\"weight\": {\"scale_type\": \"ScaleType.Float32\"}}",
	        "weight.scale_type: ScaleType.Float32, but weights of the target have scales that are powers of two"},
	    {"a8w8", "\"global_config\": {\"weight\": {\"quant_granularity\": \"QuantGranularity.Channel\"}}",
	        "weight.quant_granularity: QuantGranularity.Channel, but weights of the target have a scale for each tensor"},
	    {"a8w8", "\"global_config\": {\"weight\": {\"symmetric\": false}}", "weight.symmetric: false, but weights of the target are symmetric"},
	    {"a8w8", "\"global_config\": {\"weight\": {\"data_type\": \"Int4\"}}",
	        "weight.data_type: Int4 has 4 bits, weights of the target have 8"},
	    {"a8w8", "\"global_config\": {\"weight\": {\"data_type\": \"BFloat16\"}}",
	        "weight.data_type: BFloat16 is no integer, weights of the target have 8 bits"},
	    {"a8w8", "\"calibrate_method\": \"PowerOfTwoMethod.MinMSE\"",
	        "calibrate_method: PowerOfTwoMethod.MinMSE, but activations of the target have scales that are no powers of two"},
	    // of layers: the same, and a node at 16 bits has the weights that the target gives it
	    {"a8w8", LAYER("Int8", "{\"data_type\": \"Int4\"}"),
	        "specific_layer_config: weight.data_type: Int4 has 4 bits, weights of the target have 8"},
	    {"a8w8", LAYER("Int8", "{\"data_type\": \"Int8\", \"quant_granularity\": \"QuantGranularity.Channel\"}"),
	        "specific_layer_config: weight.quant_granularity: QuantGranularity.Channel, but weights of the target have a scale"},
	    {"a8w8", LAYER("Int16", "{\"data_type\": \"Int8\"}"), ""},
	    {"esp32p4", LAYER("Int16", "{\"data_type\": \"Int16\"}"), ""},
	    {"esp32p4", LAYER("Int16", "{\"data_type\": \"Int8\"}"),
	        "specific_layer_config: weight.data_type: Int8 has 8 bits, weights of the target have 16"},
	    {"a8w8", LAYER("BFloat16", "{\"data_type\": \"BFloat16\"}"), ""}, // in float
	};
	for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
		char text[512];
		snprintf(text, sizeof text, "{\"exclude\": [\"" CLASS_CONV "\"], %s}", row[i].text);
		struct study *st = take_noted(row[i].target, text, row[i].note);
		study_close(&st);
	}
}

// What PPQ itself exported for TensorRT gives each tensor that rules its scale that of its run.
void test_import__ppq_s_own_export_for_tensorrt(void **state)
{
	const char *model = support_data("models/resnet20_cifar10.onnx"),
	           *config = support_data("golden/esp-ppq/resnet20_trt_export_config.json");
	if (!model || !config)
		skip();
	char *paths[] = {xstrdup(model), xstrdup(config)};
	struct study *st = case_open(paths[0], NULL, "tensorrt");
	struct import_report r = take(st, paths[1]);
	assert_string_equal(r.format, "PPQ's scales for TensorRT");
	assert_true(r.scales > 20);
	assert_true(scale(st, "Conv_0") == (float)(2.717488806694746 / 127)); // of 131, behind its Relu
	assert_true(scale(st, "Gemm_77") == (float)(6.653603550046682 / 127));
	import_report_done(&r);
	free(paths[0]);
	free(paths[1]);
	study_close(&st);
}

// What esp-ppq itself exported of a run with kl gives its scales under min-max.
void test_import__esp_ppq_s_own_export(void **state)
{
	const char *model = support_data("models/resnet20_cifar10.onnx"),
	           *config = support_data("golden/esp-ppq/resnet20_esp_export_config.json");
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
	assert_true(undoes(st));
	assert_true(scale(st, "Gemm_77") == 0);
	import_report_done(&r);
	free(paths[0]);
	free(paths[1]);
	study_close(&st);
}

// Those of PPQ, by the numbers of its TargetPlatform.
void test_import__platforms_of_ppq(void **state)
{
	struct study *st = case_open(MODEL, CALIB, "qnn");
	case_set(st, STEM, PREC_FLOAT);
	struct import_report r =
	    take(st, file("{\"dispatchings\": {\"" STEM "\": 304, \"" CLASS_CONV "\": 203, \"/model.1/conv/Conv\": \"FPGA_INT8\"}}"));
	assert_int_equal(r.n_notes, 1);
	assert_non_null(strstr(str_text(&r.notes), STEM ": was set to float, the file's int8 is taken"));
	assert_int_not_equal(precision(st, STEM), PREC_FLOAT);
	assert_int_equal(precision(st, CLASS_CONV), PREC_FLOAT);
	import_report_done(&r);
	study_close(&st);
}

void test_import__platforms_by_number_and_by_name(void **state)
{
	struct study *st = bare();
	struct import_report r =
	    take(st, file("{\"dispatchings\": {\"" SUB "\": \"FP32\", \"" STEM "\": 552, \"" STEM "/Swish\": \"ESPDL_INT16\", "
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
	assert_true(undoes(st));
	assert_int_equal(precision(st, STEM), PREC_INT16);
	import_report_done(&r);
	study_close(&st);
}

// A node, or two parts of one operator, of which a file says two things.
void test_import__a_file_that_contradicts_itself(void **state)
{
	struct study *st = bare();
	struct import_report r = take(st, file("{\"nodes_to_exclude\": [\"" STEM "\", \"" SUB
	                                       "\"], \"extra_options\": {\"MixedPrecisionTensor\": {\"QInt16\": [\"" STEM_OUT "\"]}}}"));
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

// Quantizers look up their scales by name, one by one: time that grows with the square of their number would be days.
void test_import__an_exported_configuration_of_many_operators(void **state)
{
	enum { MANY = 200000 };
	struct str text = {0};
	str_add(&text, "{\"configs\": {\"stem\": {\"" STEM_OUT
	               "\": {\"bit_width\": 16, \"state\": \"ACTIVATED\", \"hash\": 7, \"dominator\": 7}}, \"none\": 5");
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
	struct import_report r = take(st,
	    file(
	        "{\"quant_config_modify_setting\": {\"custom_config\": {\"" CLASS_CONV "\": 0.3, \"" STEM "\": -1, "
	        "\"/model.1/conv/Conv\": \"x\", \"/model.3/conv/Conv\": 0.25, \"/model.5/conv/Conv\": 1e39, "
	        "\"/model.7/cv1/conv/Conv\": 1e-60}}, \"quantize_activation_setting\": {\"calib_algorithm\": \"percentile\"}}"));
	assert_int_equal(r.scales, 1);
	assert_true(r.method);
	assert_true(scale(st, "/model.3/conv/Conv") == 0.25);
	assert_true(scale(st, CLASS_CONV) == 0 && scale(st, STEM) == 0);
	assert_int_equal(r.n_notes, 5);
	assert_non_null(strstr(str_text(&r.notes), CLASS_CONV)); // no power of two
	assert_non_null(strstr(str_text(&r.notes), STEM ": -1 is no scale"));
	assert_non_null(strstr(str_text(&r.notes), "/model.5/conv/Conv: 1e+39 is no scale")); // not as the float that it would be
	assert_non_null(strstr(str_text(&r.notes), "/model.7/cv1/conv/Conv: 1e-60 is no scale"));
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
	struct import_report r =
	    take(st, file("{\"activation_encodings\": [{\"name\": \"" STEM_OUT "\", \"bw\": 4, \"is_sym\": true, \"scale\": [0.5]}, "
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
	assert_refused("{\"quantized\": false, \"subgraphs\": [{\"name\": \"head\", \"start_nodes\": [\"" SUB "\"], \"end_nodes\": [\"" SUB
	               "\"]}]}",
	    "Quark's auto mixed precision");
	assert_refused("{\"cache_key\": \"ab\", \"results\": []}", "Quark's auto mixed precision");
	assert_refused("{\"colour\": 3}", "not a file of esp-ppq");
	assert_refused("conv_param_0 12.5 13.5\nconv 55.2\n", "a table of ncnn");
	assert_refused("[1, 2]", "not a file of esp-ppq");
	assert_refused("[{\"nodes_to_exclude\": [\"" SUB "\"]}]", "not a file of esp-ppq");
	assert_refused("{\"dispatchings\": ", "import.json");
	assert_refused("", "import.json");
}

// Its words are modes, not ncnn's numbers.
void test_import__a_table_with_a_name_of_ncnn(void **state)
{
	struct study *st = take_noted("esp32p4", "# op_name   quantize_mode\nconv_param_0 F32\n", "conv_param: the model has no tensor of this name");
	study_close(&st);
}

// Members of any other kind than what is meant: nothing is taken, nothing breaks.
void test_import__members_of_the_wrong_kind(void **state)
{
	static const char *const text[] = {
	    "{\"dispatchings\": [552, \"a\", null]}",
	    "{\"dispatchings\": {\"" STEM "\": {\"a\": 1}}}",
	    "{\"configs\": {\"a\": 3, \"b\": {\"c\": 4}}}",
	    "{\"configs\": [[{\"state\": \"ACTIVATED\", \"hash\": 1, \"dominator\": 1}]], \"values\": {\"1\": {\"scale\": 1}}}",
	    "{\"activation_encodings\": [[], 3, {\"name\": 4}]}",
	    "{\"activation_encodings\": {\"x\": 3}}",
	    "{\"encodings\": \"x\"}",
	    "{\"nodes_to_exclude\": {\"a\": [1]}, \"extra_options\": {\"TensorQuantOverrides\": {\"" STEM_OUT
	    "\": 7}, \"MixedPrecisionTensor\": [[\"a\"]]}}",
	    "{\"act_quant_info\": [1, 2]}",
	    "{\"ignored_scope\": 5}",
	    "{\"patterns\": [\"(\"], \"types\": [1]}",
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

// esp-ppq skips a scale whose operator is quantized behind another; the file's author learns of it here.
void test_import__a_scale_that_esp_ppq_skips(void **state)
{
	const char *model = support_data("models/resnet20_cifar10.onnx");
	if (!model)
		skip();
	struct study *st = case_open(model, NULL, "esp32p4");
	struct import_report r =
	    take(st, file("{\"quant_config_modify_setting\": {\"custom_config\": {\"Conv_40\": 0.125, \"Relu_5\": 0.25}}}"));
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
