// AIMET's encodings of ranges that a target reduces by a bit: their width is that of the range, and they are read so.
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
