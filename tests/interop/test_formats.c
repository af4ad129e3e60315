// What holds for all formats: scales, losses, names; and the formats that say least.
#include "study_case.h"
#include "engine/onnx_case.h"
#include "qtui/engine/op.h"

// A tool that can be told a scale and not who finds it is told the scale; the others say what they lose.
void test_formats__a_calibrator_becomes_a_scale_or_a_loss(void **state)
{
	struct study *st = case_open(MODEL, CALIB, "esp32p4");
	struct str loss = {0};
	struct error err = {0};
	assert_int_equal(study_command(st, "calibration " CLASS_CONV " kl", &err), STATUS_OK);
	cJSON *setting = case_export_json(st, "esp-ppq-setting", NULL), *ort = case_export_json(st, "onnxruntime", NULL);
	double scale = json_number(case_at(setting, "quant_config_modify_setting|custom_config"), CLASS_CONV, 0);
	const cJSON *tensor = cJSON_GetArrayItem(case_at(ort, "extra_options|TensorQuantOverrides|" CLASS_CONV "_output_0"), 0);
	struct snapshot *s = study_snapshot(st);
	const struct site *made = snapshot_made(s, graph_find_node(s->g, CLASS_CONV));
	assert_true(scale > 0 && scale == (double)made->scale[0]);
	assert_true(json_number(tensor, "scale", 0) == scale);
	cJSON_Delete(case_export_json(st, "hmct", &loss));
	assert_has(&loss, CLASS_CONV ": HMCT has no way to say that kl calibrates it");
	snapshot_drop(&s);
	str_done(&loss);
	cJSON_Delete(setting);
	cJSON_Delete(ort);
	study_close(&st);
}

void test_formats__nncf_ignores_what_is_float(void **state)
{
	struct study *st = case_edited("esp32p4");
	struct str loss = {0};
	cJSON *j = case_export_json(st, "nncf", &loss);
	assert_int_equal(cJSON_GetArraySize(case_at(j, "ignored_scope|names")), 1);
	assert_true(case_has_text(case_at(j, "ignored_scope|names"), SUB));
	assert_true(json_bool(case_at(j, "ignored_scope"), "validate", false));
	assert_non_null(strstr(str_text(&loss), STEM));
	str_done(&loss);
	cJSON_Delete(j);
	study_close(&st);
}

// Where OpenVINO converted the model, what has the name of a Conv with a bias is the sum behind it.
void test_formats__nncf_names_a_conv_with_a_bias_twice(void **state)
{
	struct study *st = case_open(MODEL, CALIB, "esp32p4");
	struct str loss = {0};
	case_set(st, STEM, PREC_FLOAT);
	case_set(st, SUB, PREC_FLOAT);
	cJSON *j = case_export_json(st, "nncf", &loss);
	const cJSON *names = case_at(j, "ignored_scope|names");
	assert_int_equal(cJSON_GetArraySize(names), 3);
	assert_true(case_has_text(names, STEM) && case_has_text(names, STEM "/WithoutBiases"));
	assert_false(json_bool(case_at(j, "ignored_scope"), "validate", true));
	assert_has(&loss, "validate is off");
	str_done(&loss);
	cJSON_Delete(j);
	study_close(&st);
}

// 0.0625 is 3d800000; every line is TENSOR: eight digits.
void test_formats__tensorrt_cache_holds_scales_in_hexadecimal(void **state)
{
	struct study *st = case_edited("esp32p4");
	struct str loss = {0}, text = case_export(st, "tensorrt-cache", &loss);
	assert_true(str_has_prefix(str_text(&text), "TRT-8601-MinMaxCalibration\n"));
	assert_non_null(strstr(str_text(&text), "\n" CLASS_CONV "_output_0: 3d800000\n"));
	assert_null(strstr(str_text(&text), "\nimages: ")); // its only reader is the 16-bit node
	assert_null(strstr(str_text(&text), "\n" STEM_OUT ": "));
	assert_non_null(strstr(str_text(&loss), STEM_OUT ": 16 bits"));
	assert_non_null(strstr(str_text(&loss), SUB));
	str_done(&loss);
	str_done(&text);
	study_close(&st);
}

// A cache knows no zero points.
void test_formats__tensorrt_cache_leaves_zero_points_out(void **state)
{
	struct study *st = case_open(MODEL, CALIB, "onnxruntime");
	struct str loss = {0}, text = case_export(st, "tensorrt-cache", &loss);
	assert_has(&loss, STEM_OUT ": 8 bits with a zero point are not one symmetric 8-bit scale: left out");
	assert_null(strstr(str_text(&text), "\n" STEM_OUT ": "));
	assert_has(
	    &loss, "images: 8 bits without a sign are not one symmetric 8-bit scale: left out"); // 255 codes above zero, where TensorRT has 127
	assert_null(strstr(str_text(&text), "\nimages: "));
	str_done(&loss);
	str_done(&text);
	study_close(&st);
}

// Whose rules a target has it says itself, or its base does.
void test_formats__whose_rules_a_target_has(void **state)
{
	static const struct {
		const char *format, *base, *more;
		bool told;
	} row[] = {
	    {"quark", "vint8", "", false}, {"quark", "vint8", ", \"tool\": \"mine\"", true}, {"onnxruntime", "onnxruntime", "", false},
	    {"onnxruntime", "pytorch", "", true}, {"quark", "onnxruntime", "", true},
	};
	for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
		char text[128];
		struct str loss = {0};
		snprintf(text, sizeof text, "{\"name\": \"mine\", \"base\": \"%s\"%s}", row[i].base, row[i].more);
		struct study *st = case_open(MODEL, CALIB, support_temp_file("mine.json", text, strlen(text)));
		struct str out = case_export(st, row[i].format, &loss);
		assert_int_equal(strstr(str_text(&loss), "target: the rounding and the scale rule of mine are not ") != NULL, row[i].told);
		str_done(&loss);
		str_done(&out);
		study_close(&st);
	}
}

// What names tensors has it, the quantized model as a pair of its own; what does not, says so.
void test_formats__the_scale_of_a_second_output(void **state)
{
	static const char *const none[] = {"quark", "xquant", "nncf", "trtexec", "hmct", "pulsar2", "rknn", "tpu-mlir-qtable"};
	struct study *st = case_open(MODEL, CALIB, "xint8");
	case_scale(st, "/model.12/Split_output_1", 0x1p-5);
	cJSON *j = case_export_json(st, "onnxruntime", NULL);
	const cJSON *o = case_at(j, "extra_options|TensorQuantOverrides|/model.12/Split_output_1");
	assert_true(json_number(cJSON_GetArrayItem(o, 0), "scale", 0) == 0x1p-5);
	assert_string_equal(json_text(cJSON_GetArrayItem(o, 0), "quant_type", ""), "QInt8");
	assert_int_equal(cJSON_GetArraySize(case_at(j, "extra_options|TensorQuantOverrides")), 1);
	cJSON_Delete(j);
	for (size_t i = 0; i < sizeof none / sizeof *none; i++) {
		struct str loss = {0}, text = case_export(st, none[i], &loss);
		const char *said = strstr(str_text(&loss), "/model.12/Split_output_1: ");
		if (!said || !strstr(said, " has no way to say the scale 0.03125\n"))
			fail_msg("%s: %s", none[i], str_text(&loss));
		str_done(&loss);
		str_done(&text);
	}
	study_close(&st);
}

#define CALIBRATED "/model.3/conv/Conv"

void test_formats__what_a_format_cannot_say_is_told(void **state)
{
	static const struct {
		const char *format, *told;
	} row[] = {
	    {"nncf", CLASS_CONV ": an IgnoredScope has no way to say the scale 0.0625"},
	    {"nncf", STEM ": an IgnoredScope has no way to say int16"},
	    {"xquant", CLASS_CONV ": xquant has no way to say the scale 0.0625"},
	    {"onnxruntime", "target: the rounding and the scale rule of esp32p4 are not ONNX Runtime's"},
	    {"aimet", STEM_OUT ": 8 bits for /model.0/act/Sigmoid"},
	    {"tensorrt-cache", "the first line names TensorRT 8.6.1"},
	    {"hmct", STEM ": the int16 of HMCT is of what an operator reads"},
	    {"pulsar2", STEM ": the int16 of Pulsar2 is of what an operator reads"},
	    {"pytorch", "target: the rounding and the scale rule of esp32p4 are not PyTorch's"},
	    {"trtexec", "target: the rounding and the scale rule of esp32p4 are not TensorRT's"},
	    {"hmct", CALIBRATED ": HMCT has no way to say that mse calibrates it"},
	    {"pulsar2", CALIBRATED ": Pulsar2 has no way to say that mse calibrates it"},
	    {"quark", CALIBRATED ": Quark's MixedPrecisionTensor has no way to say that mse calibrates it"},
	    {"nncf", CALIBRATED ": an IgnoredScope has no way to say that mse calibrates it"},
	    {"tpu-mlir-qtable", CALIBRATED ": a qtable (unlike tpu-mlir-cali-table) has no way to say that mse calibrates it"},
	    {"trtexec", CALIBRATED ": trtexec has no way to say that mse calibrates it"},
	    {"rknn", CALIBRATED ": custom_quantize_layers has no way to say that mse calibrates it"},
	    {"esp-ppq-dispatch", CALIBRATED ": a dispatching table (unlike esp-ppq-setting) has no way to say that mse calibrates it"},
	    {"nncf", "calibration: an IgnoredScope has no way to say minmax\n"},
	    {"tpu-mlir-qtable", "calibration: a qtable (unlike tpu-mlir-cali-table) has no way to say minmax\n"},
	    {"trtexec", "calibration: --layerPrecisions (unlike a calibration cache) has no way to say minmax\n"},
	    {"rknn", "calibration: custom_quantize_layers has no way to say minmax\n"},
	    {"esp-ppq-dispatch", "calibration: a dispatching table (unlike esp-ppq-setting) has no way to say minmax\n"},
	};
	struct error err = {0};
	struct study *st = case_edited("esp32p4");
	assert_int_equal(study_command(st, "calibration " CALIBRATED " mse", &err), STATUS_OK);
	for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
		struct str loss = {0}, out = case_export(st, row[i].format, &loss);
		assert_has(&loss, row[i].told);
		str_done(&loss);
		str_done(&out);
	}
	study_close(&st);
}

// The names that nodes without one have here are not in the file, which the tool reads.
void test_formats__nodes_without_a_name(void **state)
{
	static const char *const by_name[] = {"esp-ppq-dispatch", "esp-ppq-setting", "onnxruntime", "quark", "nncf", "trtexec", "aimet", "hmct",
	    "pulsar2"};
	const char *model = support_data("models/squeezenet11_fp16.onnx");
	if (!model)
		skip();
	struct study *st = case_open(model, NULL, "esp32p4");
	case_set(st, "Relu_1", PREC_INT16);
	for (size_t i = 0; i < sizeof by_name / sizeof *by_name; i++) {
		struct str loss = {0}, text = case_export(st, by_name[i], &loss);
		assert_has(&loss, "1: 1 node with decisions has no name in the model's file");
		str_done(&loss);
		str_done(&text);
	}
	study_close(&st);
	st = case_edited("esp32p4"); // where unnamed constants are the only ones
	struct str loss = {0}, text = case_export(st, "esp-ppq-setting", &loss);
	assert_null(strstr(str_text(&loss), "no name in"));
	str_done(&loss);
	str_done(&text);
	study_close(&st);
}

// Each row of the table writes something without any edit.
void test_formats__every_row_writes_without_edits(void **state)
{
	int n;
	const struct export_format *f = export_rows(&n);
	struct study *st = case_open(MODEL, CALIB, "esp32p4");
	for (int i = 0; i < n; i++) {
		struct str text = case_export(st, f[i].name, NULL);
		assert_true(text.len > 0);
		assert_ptr_equal(export_find(f[i].name), &f[i]);
		str_done(&text);
	}
	assert_null(export_find("no-such-format"));
	study_close(&st);
}

// Before the first run, and after an edit as long as it is not computed:
// qdq had no plan to write, others wrote scales of before.
void test_formats__none_writes_what_is_not_computed(void **state)
{
	struct study *st = case_open(MODEL, CALIB, "esp32p4");
	int n;
	const struct export_format *f = export_rows(&n);
	for (int round = 0; round < 2; round++) {
		struct snapshot *s = study_snapshot(st);
		for (int i = 0; i < n; i++) {
			struct str loss = {0};
			struct error err = {0};
			assert_int_equal(export_write(f[i].name, support_temp("none"), st, s, &loss, &err), STATUS_REFUSED);
			str_done(&loss);
		}
		snapshot_drop(&s);
		struct str out = case_export(st, "qdq", NULL);
		str_done(&out);
		case_set(st, STEM, PREC_INT16);
	}
	study_close(&st);
}

static int count_lines(const char *text)
{
	int n = 0;
	for (; *text; text++)
		n += *text == '\n';
	return n;
}

// One line a reason, whatever the number of nodes: with the first names, and how many more there are.
void test_formats__what_holds_for_many_nodes_is_one_line(void **state)
{
	struct error err = {0};
	struct str loss = {0};
	struct study *st = case_open(MODEL, CALIB, "esp32p4");
	case_own_method(st);
	case_set(st, "op:Conv", PREC_INT16);
	case_scale(st, CLASS_CONV, 0.0625);
	study_run(st);
	assert_int_equal(study_wait(st, &err), STATUS_OK);
	struct snapshot *s = study_snapshot(st);
	assert_int_equal(export_write("nncf", support_temp("many.json"), st, s, &loss, &err), STATUS_OK);
	int convs = 0;
	for (int n = 0; n < s->g->n_nodes; n++)
		convs += s->g->node[n].op->id == OP_Conv;
	char all[200];
	snprintf(all, sizeof all,
	    "/model.0/conv/Conv, /model.1/conv/Conv, /model.2/cv1/conv/Conv and %d more: an IgnoredScope has no way to say int16\n", convs - 3);
	assert_has(&loss, all);
	assert_has(&loss, CLASS_CONV ": an IgnoredScope has no way to say the scale 0.0625\n");
	assert_int_equal(count_lines(str_text(&loss)), 2);
	snapshot_drop(&s);
	str_done(&loss);
	study_close(&st);
}

// The calibrator of the whole is said to be lost only where it is not the one that the tool has anyway.
void test_formats__the_targets_own_calibrator_is_no_loss(void **state)
{
	static const char *const format[] = {"nncf", "tpu-mlir-qtable", "trtexec", "rknn", "esp-ppq-dispatch"};
	struct study *st = case_open(MODEL, CALIB, "esp32p4");
	(void)state;
	case_own_method(st);
	for (size_t i = 0; i < sizeof format / sizeof *format; i++) {
		struct str loss = {0}, out = case_export(st, format[i], &loss);
		assert_null(strstr(str_text(&loss), "calibration"));
		str_done(&loss);
		str_done(&out);
	}
	study_close(&st);
}
