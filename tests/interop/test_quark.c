// AMD Quark: tensors of 16 bits, and the calibrator.
#include "study_case.h"

void test_quark__lists_wide_tensors(void **state)
{
	struct study *st = case_edited("esp32p4");
	struct str loss = {0};
	cJSON *j = case_export_json(st, "quark", &loss);
	const cJSON *wide = case_at(j, "extra_options|MixedPrecisionTensor|QInt16");
	assert_int_equal(cJSON_GetArraySize(wide), 2);
	assert_true(case_has_text(wide, STEM_OUT) && case_has_text(wide, "images"));
	assert_has(&loss, "target: the rounding and the scale rule of esp32p4 are not Quark's");
	assert_true(case_has_text(case_at(j, "nodes_to_exclude"), SUB));
	assert_non_null(strstr(str_text(&loss), CLASS_CONV));
	str_done(&loss);
	cJSON_Delete(j);
	study_close(&st);
}

// The Relu goes to 16 bits with its Conv: the tensor that is wide is its own.
void test_quark__lists_what_went_along(void **state)
{
	const char *model = support_data("models/resnet20_cifar10.onnx");
	if (!model)
		skip();
	struct study *st = case_open(model, NULL, "esp32p4");
	case_set(st, "Conv_40", PREC_INT16);
	cJSON *j = case_export_json(st, "quark", NULL);
	assert_true(case_has_text(case_at(j, "extra_options|MixedPrecisionTensor|QInt16"), "171"));
	cJSON_Delete(j);
	study_close(&st);
}

// The methods of powers of two have names of their own, and are not all there.
void test_quark__calibrates_as_was_shown(void **state)
{
	static const struct {
		const char *target, *name;
		enum calib_method method;
	} row[] = {
	    {"xint8", "PowerOfTwoMethod.MinMSE", CALIB_MSE}, {"vint8", "PowerOfTwoMethod.NonOverflow", CALIB_MINMAX},
	    {"a8w8", "CalibrationMethod.MinMax", CALIB_MINMAX}, {"a16w8", "CalibrationMethod.Percentile", CALIB_PERCENTILE},
	    {"xint8", "", CALIB_KL}, {"a8w8", "", CALIB_MSE}, {"bf16", "", CALIB_MINMAX},
	};
	for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
		struct study *st = case_open(MODEL, CALIB, row[i].target);
		struct error err = {0};
		struct str loss = {0};
		assert_int_equal(study_set_method(st, row[i].method, &err), STATUS_OK);
		cJSON *j = case_export_json(st, "quark", &loss);
		assert_string_equal(json_text(j, "calibrate_method", ""), row[i].name);
		assert_int_equal(strstr(str_text(&loss), "calibration: ") != NULL, !row[i].name[0] && strcmp(row[i].target, "bf16") != 0);
		assert_null(strstr(str_text(&loss), "target: "));
		assert_null(case_at(j, "extra_options|MixedPrecisionTensor|QInt16")->child);
		str_done(&loss);
		cJSON_Delete(j);
		study_close(&st);
	}
}
