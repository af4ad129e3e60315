// tpu-mlir's two tables, written and read. An operator goes there by its first output and its type.
#include <math.h>
#include "import_case.h"

#define STEM_OP STEM_OUT "_Conv"
#define CLASS_OUT CLASS_CONV "_output_0"

void test_tpu_mlir__what_is_exported_comes_back(void **state)
{
	assert_comes_back("tpu-mlir-qtable", true, false, false);
	assert_comes_back("tpu-mlir-cali-table", false, false, true);
}

void test_tpu_mlir__a_qtable_names_every_part_of_a_fused_operator(void **state)
{
	struct study *st = case_open(MODEL, CALIB, "esp32p4");
	struct str loss = {0};
	case_set(st, STEM ".." SWISH, PREC_FLOAT);
	case_set(st, SUB, PREC_INT16);
	case_scale(st, CLASS_CONV, 0.0625);
	struct str text = case_export(st, "tpu-mlir-qtable", &loss);
	assert_true(str_has_prefix(str_text(&text), "# op_name   quantize_mode\n"));
	assert_has(&text, "\n" STEM_OP " F32\n");
	assert_has(&text, "\n/model.0/act/Sigmoid_output_0_Sigmoid F32\n");
	assert_has(&text, "\n" SWISH "_output_0_Mul F32\n");
	assert_null(strstr(str_text(&text), SUB));
	assert_has(&loss, SUB ": a qtable has no way to say int16");
	assert_has(&loss, CLASS_CONV ": a qtable (unlike tpu-mlir-cali-table) has no way to say the scale 0.0625");
	str_done(&loss);
	str_done(&text);
	study_close(&st);
}

// 127 times the scale is what tpu-mlir divides by 127 again.
void test_tpu_mlir__a_threshold_is_127_scales(void **state)
{
	struct study *st = case_open(MODEL, CALIB, "esp32p4");
	struct str loss = {0};
	case_set(st, SUB, PREC_FLOAT);
	case_set(st, STEM, PREC_INT16);
	case_scale(st, CLASS_CONV, 0.0625);
	struct str text = case_export(st, "tpu-mlir-cali-table", &loss);
	assert_has(&text, "# op_name    threshold    min    max\n");
	assert_has(&text, "\n" CLASS_OUT "_Conv 7.9375000 -8.0000000 7.9375000\n");
	assert_null(strstr(str_text(&text), STEM_OP));
	assert_has(&loss, STEM_OUT ": 16 bits are not one 8-bit range");
	assert_has(&loss, SUB ": a calibration table (unlike tpu-mlir-qtable) has no way to say float");
	str_done(&loss);
	str_done(&text);
	study_close(&st);
}

// Seven decimals of it would have no digit left, or two.
void test_tpu_mlir__a_threshold_too_small_for_its_decimals(void **state)
{
	static const double scale[] = {0x1p-40, 0x1p-27};
	for (int i = 0; i < 2; i++) {
		struct study *st = case_open(MODEL, CALIB, "esp32p4"), *again = case_open(MODEL, CALIB, "esp32p4");
		struct error err = {0};
		double threshold, min, max;
		case_scale(st, CLASS_CONV, scale[i]);
		struct str text = case_export(st, "tpu-mlir-cali-table", NULL);
		const char *line = strstr(str_text(&text), "\n" CLASS_OUT "_Conv ");
		assert_non_null(line);
		assert_int_equal(sscanf(strchr(line, ' '), "%lf %lf %lf", &threshold, &min, &max), 3);
		assert_true(fabs(threshold / (127 * scale[i]) - 1) < 1e-7 && fabs(min / (-128 * scale[i]) - 1) < 1e-7 && max == threshold);
		assert_int_equal(study_set_method(again, CALIB_PERCENTILE, &err), STATUS_OK);
		struct import_report r = take(again, support_temp_file("table", str_text(&text), text.len));
		assert_true(study_edits(again)->scale[graph_output(study_graph(again), graph_find_node(study_graph(again), CLASS_CONV))] == scale[i]);
		import_report_done(&r);
		str_done(&text);
		study_close(&again);
		study_close(&st);
	}
}

// Logits of classes that are all negative: with a zero point, what reaches furthest is the minimum.
void test_tpu_mlir__a_range_below_zero(void **state)
{
	const char *model = support_data("models/yolov8n.onnx");
	if (!model)
		skip();
	struct study *st = case_open(model, NULL, "onnxruntime");
	struct str text = case_export(st, "tpu-mlir-cali-table", NULL);
	const char *line = strstr(str_text(&text), "\n/model.22/cv3.0/cv3.0.2/Conv_output_0_Conv ");
	double threshold, min, max;
	assert_non_null(line);
	assert_int_equal(sscanf(strchr(line, ' '), "%lf %lf %lf", &threshold, &min, &max), 3);
	assert_true(max == 0 && min < -5 && threshold == -min);
	str_done(&text);
	study_close(&st);
}

void test_tpu_mlir__thresholds_hold_under_another_calibrator(void **state)
{
	struct study *st = case_open(MODEL, CALIB, "tensorrt"), *again = case_open(MODEL, CALIB, "tensorrt");
	struct error err = {0};
	assert_int_equal(study_set_method(again, CALIB_PERCENTILE, &err), STATUS_OK);
	struct str text = case_export(st, "tpu-mlir-cali-table", NULL);
	struct import_report r = take(again, support_temp_file("table", str_text(&text), text.len));
	assert_string_equal(r.format, "tpu-mlir calibration table");
	assert_true(r.scales > 20);
	struct str second = case_export(again, "tpu-mlir-cali-table", NULL);
	// Inputs keep the calibrator's range: the lines behind theirs.
	assert_string_equal(strstr(str_text(&text), SWISH), strstr(str_text(&second), SWISH));
	import_report_done(&r);
	str_done(&text);
	str_done(&second);
	study_close(&again);
	study_close(&st);
}

void test_tpu_mlir__a_table_that_was_written_by_hand(void **state)
{
	struct study *st = bare();
	struct import_report r = take(st, file("\n" STEM_OP "\tF16 \r\n# later: all\n" SUB "_output_0_Sub BF16\n" CLASS_OUT "_Conv INT8\n"
	    "/model.1/conv/Conv_output_0_Conv W4INT8\nnothing_Conv F32\nF32\n" STEM_OP " F32 INT8\n"));
	assert_string_equal(r.format, "tpu-mlir quantization table");
	assert_int_equal(r.precisions, 2);
	assert_int_equal(precision(st, STEM), PREC_FLOAT);
	assert_int_equal(precision(st, SUB), PREC_FLOAT);
	assert_int_equal(precision(st, CLASS_CONV), -1); // it is so already
	assert_int_equal(r.n_notes, 4);
	assert_has(&r.notes, "line 6: /model.1/conv/Conv_output_0_Conv: the mode W4INT8 is not known here: INT8, F32, F16 and BF16 are");
	assert_has(&r.notes, "line 7: nothing: the model has no tensor of this name");
	assert_has(&r.notes, "line 8: F32: not OPERATOR MODE");
	assert_has(&r.notes, "line 9: " STEM_OP ": not OPERATOR MODE");
	import_report_done(&r);
	study_close(&st);
}

void test_tpu_mlir__broken_thresholds(void **state)
{
	struct study *st = bare();
	struct import_report r =
	    take(st, file("# op_name    threshold    min    max\nimages 1.0 0.0 1.0\n" CLASS_OUT "_Conv 0.0 0 0\n" STEM_OP
	                  " -1 0 0\n/model.1/conv/Conv_output_0_Conv nan 0 0\n/model.3/conv/Conv_output_0_Conv 31.75 0\n" STEM_OP
	                  " 1e999 0 0\n#asym_op\n" STEM_OP "\n"));
	assert_int_equal(r.scales + r.precisions, 0);
	assert_int_equal(r.n_notes, 7);
	assert_has(&r.notes, "images: target esp32p4 takes only powers of two");
	assert_has(&r.notes, CLASS_OUT ": 0 is no threshold");
	assert_has(&r.notes, "line 5: /model.1/conv/Conv_output_0_Conv: not OPERATOR THRESHOLD MIN MAX");
	assert_has(&r.notes, "line 6: ");
	assert_has(&r.notes, "line 8: #asym_op and what follows is not read");
	import_report_done(&r);
	study_close(&st);
}

// 0.3 is no power of two of this target; a target with zero points takes the range, as far as it holds 0.
void test_tpu_mlir__thresholds_that_the_target_does_not_take(void **state)
{
	static const char text[] = CLASS_OUT "_Conv 38.1 -12.75 38.25\n" STEM_OUT "_Conv 1 0 0\n";
	struct study *st = bare(), *other = case_open(MODEL, NULL, "onnxruntime");
	struct import_report r = take(st, file(text));
	assert_int_equal(r.scales, 0);
	assert_int_equal(r.n_notes, 2);
	import_report_done(&r);
	r = take(other, file(text));
	assert_int_equal(r.scales, 1);
	assert_float_equal(scale(other, CLASS_CONV), 0.2, 1e-7);
	assert_int_equal(zero_point(other, CLASS_CONV), 64);
	assert_has(&r.notes, STEM_OUT ": 0 to 0 is no range");
	import_report_done(&r);
	study_close(&other);
	study_close(&st);
}

// An export without decisions is a header, and still the file that it is.
void test_tpu_mlir__an_empty_table(void **state)
{
	struct study *st = bare();
	struct import_report r = take(st, file("# op_name   quantize_mode\n"));
	assert_string_equal(r.format, "tpu-mlir quantization table");
	assert_int_equal(r.n_notes, 0);
	import_report_done(&r);
	study_close(&st);
}
