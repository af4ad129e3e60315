// AIMET's encodings: codes counted from zero, casts, channels, and ranges that a target reduces by a bit, whose width they have.
#include "import_case.h"

#define TARGET "onnxruntime,activation.reduce_range=true,weight.reduce_range=true"

static double first(const cJSON *encoding, const char *member)
{
	return cJSON_GetArrayItem(cJSON_GetObjectItemCaseSensitive(encoding, member), 0)->valuedouble;
}

void test_aimet__the_width_of_a_reduced_range(void **state)
{
	struct study *st = case_open(MODEL, CALIB, TARGET);
	case_set(st, STEM, PREC_INT16);
	struct str text = case_export(st, "aimet", NULL);
	cJSON *j = cJSON_Parse(str_text(&text));
	const cJSON *acts = cJSON_GetObjectItemCaseSensitive(j, "activation_encodings");
	const cJSON *params = cJSON_GetObjectItemCaseSensitive(j, "param_encodings");
	const cJSON *logits = encoding_of(acts, CLASS_CONV "_output_0"), *weight = encoding_of(params, "model.0.conv.weight");
	assert_true(json_number(logits, "bw", 0) == 7);
	assert_in_range(-first(logits, "offset"), 1, 127); // a zero point of seven bits
	assert_true(json_number(encoding_of(acts, STEM_OUT), "bw", 0) == 15);
	assert_true(json_number(weight, "bw", 0) == 8); // -64 .. 64 are more codes than seven bits have
	assert_true(first(weight, "offset") == -127);   // as AIMET has it without the lowest code
	cJSON_Delete(j);
	str_done(&text);
	study_close(&st);
}

// Another calibrator, one node more in 16 bits: what the file says comes back, code for code.
void test_aimet__reduced_ranges_come_back(void **state)
{
	struct study *st = case_open(MODEL, CALIB, TARGET), *again = case_open(MODEL, CALIB, TARGET);
	struct error err = {0};
	case_set(st, STEM, PREC_INT16);
	assert_int_equal(study_set_method(again, CALIB_PERCENTILE, &err), STATUS_OK);
	struct str text = case_export(st, "aimet", NULL);
	struct import_report r = take(again, support_temp_file("encodings", str_text(&text), text.len));
	assert_int_equal(precision(again, STEM), PREC_INT16);
	assert_true(r.scales > 20);
	assert_int_equal(r.weights, 0); // the target's own
	assert_null(strstr(str_text(&r.notes), " bits are not known"));
	assert_null(strstr(str_text(&r.notes), "width"));
	struct str second = case_export(again, "aimet", NULL);
	assert_string_equal(str_text(&text), str_text(&second));
	import_report_done(&r);
	str_done(&text);
	str_done(&second);
	study_close(&again);
	study_close(&st);
}

// Seven bits are no width of a target that has all eight.
void test_aimet__seven_bits_elsewhere(void **state)
{
	struct study *st = case_open(MODEL, NULL, "onnxruntime");
	struct import_report r = take(st, file("{\"activation_encodings\": [{\"name\": \"" STEM_OUT "\", \"dtype\": \"INT\", \"bw\": 7,"
	    " \"scale\": [0.05], \"offset\": [-64]}], \"param_encodings\": []}"));
	if (!strstr(str_text(&r.notes), "7 bits are not known here"))
		fail_msg("%s", str_text(&r.notes));
	assert_int_equal(r.scales, 0);
	import_report_done(&r);
	study_close(&st);
}

void test_aimet__counts_codes_from_zero(void **state)
{
	struct study *st = case_edited("esp32p4");
	cJSON *j = case_export_json(st, "aimet", NULL);
	const cJSON *stem = encoding_of(case_at(j, "activation_encodings"), STEM_OUT);
	const cJSON *logits = encoding_of(case_at(j, "activation_encodings"), CLASS_CONV "_output_0");
	assert_string_equal(json_text(j, "version", ""), "1.0.0");
	assert_true(json_number(stem, "bw", 0) == 16 && json_bool(stem, "is_sym", false));
	assert_true(cJSON_GetArrayItem(case_at(stem, "offset"), 0)->valuedouble == -32768);
	assert_true(cJSON_GetArrayItem(case_at(logits, "scale"), 0)->valuedouble == 0.0625);
	assert_true(cJSON_GetArrayItem(case_at(logits, "offset"), 0)->valuedouble == -128);
	assert_true(json_number(encoding_of(case_at(j, "param_encodings"), "model.0.conv.weight"), "bw", 0) == 16);
	cJSON_Delete(j);
	study_close(&st);
}

// Codes that begin at zero are not symmetric, though their zero point is none.
void test_aimet__of_codes_without_a_sign(void **state)
{
	struct study *st = case_open(MODEL, CALIB, "onnxruntime");
	struct str loss = {0};
	cJSON *j = case_export_json(st, "aimet", &loss);
	const cJSON *images = encoding_of(case_at(j, "activation_encodings"), "images");
	assert_true(cJSON_GetArrayItem(case_at(images, "offset"), 0)->valuedouble == 0);
	assert_false(json_bool(images, "is_sym", true));
	assert_int_equal(loss.len, 0);
	str_done(&loss);
	cJSON_Delete(j);
	study_close(&st);
}

// A cast has no scale: AIMET calls it a float.
void test_aimet__of_casts(void **state)
{
	struct study *st = case_open(MODEL, CALIB, "fp16");
	struct str loss = {0};
	cJSON *j = case_export_json(st, "aimet", &loss);
	const cJSON *images = encoding_of(case_at(j, "activation_encodings"), "images");
	assert_string_equal(json_text(images, "dtype", ""), "FLOAT");
	assert_true(json_number(images, "bw", 0) == 16);
	assert_null(case_at(images, "scale"));
	assert_int_equal(loss.len, 0);
	cJSON_Delete(j);
	study_close(&st);
	st = case_open(MODEL, CALIB, "bf16");
	cJSON_Delete(case_export_json(st, "aimet", &loss));
	assert_has(&loss, "AIMET's floats of 16 bits are float16");
	str_done(&loss);
	study_close(&st);
}

// Per-channel weights of another target are one entry a channel.
void test_aimet__weights_per_channel(void **state)
{
	struct study *st = case_open(MODEL, CALIB, "tensorrt");
	cJSON *j = case_export_json(st, "aimet", NULL);
	const cJSON *w = encoding_of(case_at(j, "param_encodings"), "model.0.conv.weight");
	assert_string_equal(json_text(w, "enc_type", ""), "PER_CHANNEL");
	assert_true(cJSON_GetArraySize(case_at(w, "scale")) > 1);
	assert_int_equal(cJSON_GetArraySize(case_at(w, "scale")), cJSON_GetArraySize(case_at(w, "offset")));
	cJSON_Delete(j);
	study_close(&st);
}
