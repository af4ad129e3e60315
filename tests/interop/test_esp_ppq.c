// Files for esp-ppq: the names are those of its own operators, checked against complete runs of it.
#include "import_case.h"
#include "engine/written_out_case.h"

void test_esp_ppq__setting_has_precision_scale_and_calibrator(void **state)
{
	struct study *st = case_open(MODEL, CALIB, "esp32p4");
	case_set(st, "/model.0/conv/Conv../model.0/act/Mul", PREC_INT16);
	case_set(st, "/model.12/Sub", PREC_FLOAT);
	case_scale(st, CLASS_CONV, 0.0625);
	struct str loss = {0};
	cJSON *j = case_export_json(st, "esp-ppq-setting", &loss);
	assert_string_equal(json_text(case_at(j, "quantize_activation_setting"), "calib_algorithm", ""), "minmax");
	const cJSON *d = case_at(j, "dispatching_table|dispatchings");
	assert_int_equal(cJSON_GetArraySize(d), 3);
	assert_true(json_number(d, "/model.0/conv/Conv", -1) == 552);
	assert_true(json_number(d, "/model.0/conv/Conv/Swish", -1) == 552);
	assert_true(json_number(d, "/model.12/Sub", -1) == 0);
	assert_true(json_bool(j, "quant_config_modify", false));
	assert_true(json_number(case_at(j, "quant_config_modify_setting|custom_config"), CLASS_CONV, 0) == 0.0625);
	assert_int_equal(loss.len, 0);
	str_done(&loss);
	cJSON_Delete(j);
	study_close(&st);
}

// TargetPlatform of esp-ppq, a number for each chip and width.
void test_esp_ppq__platforms_of_each_chip(void **state)
{
	static const struct {
		const char *target;
		int int8, int16;
	} row[] = {{"esp32p4", 551, 552}, {"esp32s3", 553, 554}, {"esp32", 557, 558}};
	for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
		struct study *st = case_open(MODEL, CALIB, row[i].target);
		case_set(st, CLASS_CONV, PREC_INT8);
		case_set(st, "/model.0/conv/Conv", PREC_INT16);
		case_set(st, "/model.12/Sub", PREC_FLOAT);
		cJSON *j = case_export_json(st, "esp-ppq-dispatch", NULL);
		const cJSON *d = case_at(j, "dispatchings");
		assert_true(json_number(d, CLASS_CONV, -1) == row[i].int8);
		assert_true(json_number(d, "/model.0/conv/Conv", -1) == row[i].int16);
		assert_true(json_number(d, "/model.12/Sub", -1) == 0);
		cJSON_Delete(j);
		study_close(&st);
	}
}

// Conv + BatchNormalization + Relu is quantized behind the Relu: esp-ppq skips a scale at the Conv,
// and ONNX Runtime looks for the tensor.
void test_esp_ppq__a_scale_is_of_the_operator_at_the_end(void **state)
{
	const char *model = support_data("models/resnet20_cifar10.onnx");
	if (!model)
		skip();
	struct study *st = case_open(model, NULL, "esp32p4");
	case_scale(st, "Conv_40", 0.125);
	cJSON *j = case_export_json(st, "esp-ppq-setting", NULL), *ort = case_export_json(st, "onnxruntime", NULL);
	const cJSON *scales = case_at(j, "quant_config_modify_setting|custom_config"),
	            *overrides = case_at(ort, "extra_options|TensorQuantOverrides");
	assert_int_equal(cJSON_GetArraySize(scales), 1);
	assert_true(json_number(scales, "Relu_42", 0) == 0.125);
	assert_int_equal(cJSON_GetArraySize(overrides), 1);
	assert_true(json_number(cJSON_GetArrayItem(case_at(overrides, "171"), 0), "scale", 0) == 0.125);
	cJSON_Delete(j);
	cJSON_Delete(ort);
	study_close(&st);
}

void test_esp_ppq__dispatch_reports_scales_as_lost(void **state)
{
	struct study *st = case_open(MODEL, CALIB, "esp32p4");
	case_scale(st, CLASS_CONV, 0.0625);
	struct str loss = {0};
	cJSON *j = case_export_json(st, "esp-ppq-dispatch", &loss);
	assert_int_equal(cJSON_GetArraySize(case_at(j, "dispatchings")), 0);
	assert_non_null(strstr(str_text(&loss), CLASS_CONV));
	str_done(&loss);
	cJSON_Delete(j);
	study_close(&st);
}

// PPQ has a number for its platform, and names for both parts of a Swish.
void test_esp_ppq__a_table_of_ppq(void **state)
{
	struct study *st = case_open(MODEL, CALIB, "qnn");
	case_set(st, "op:Sigmoid", PREC_FLOAT);
	case_set(st, CLASS_CONV, PREC_FLOAT);
	cJSON *j = case_export_json(st, "esp-ppq-dispatch", NULL);
	const cJSON *list = case_at(j, "dispatchings"), *one;
	int floats = 0;
	cJSON_ArrayForEach(one, list)
	{
		floats += one->valueint == 0;
		assert_null(strstr(one->string, "/Swish"));
	}
	assert_true(floats > 2);
	assert_non_null(cJSON_GetObjectItemCaseSensitive(list, CLASS_CONV));
	cJSON_Delete(j);
	study_close(&st);
}

void test_esp_ppq__other_targets_are_refused(void **state)
{
	static const char *const other[] = {"tensorrt", "fp16"}; // the second has a chip as its base
	for (size_t i = 0; i < sizeof other / sizeof *other; i++) {
		struct study *st = case_open(MODEL, CALIB, other[i]);
		struct error err = {0};
		struct str loss = {0}, said = {0};
		study_run(st);
		assert_int_equal(study_wait(st, &err), STATUS_OK);
		struct snapshot *s = study_snapshot(st);
		assert_int_equal(export_write("esp-ppq-setting", support_temp("none.json"), st, s, &loss, &err), STATUS_UNSUPPORTED);
		str_addf(&said, "target %s is none of esp-ppq's", other[i]);
		assert_non_null(strstr(err.text, str_text(&said)));
		snapshot_drop(&s);
		str_done(&loss);
		str_done(&said);
		study_close(&st);
	}
}

static cJSON *golden(const char *name)
{
	struct error err = {0};
	cJSON *j = NULL;
	const char *path = support_data(name);
	if (!path)
		skip();
	if (json_read(&j, path, &err) != STATUS_OK)
		fail_msg("%s", err.text);
	return j;
}

static bool is_operator(const cJSON *run, const char *name)
{
	const cJSON *op;
	cJSON_ArrayForEach(op, case_at(run, "ops"))
		if (strcmp(json_text(op, "name", ""), name) == 0)
			return true;
	return false;
}

// What is written for a whole network at 16 bit exists there, Swish included;
// what is missing is what esp-ppq does not quantize.
void test_esp_ppq__every_name_is_an_operator_there(void **state)
{
	cJSON *run = golden("golden/esp-ppq/yolov8n_esp_ESPDL_INT8_n8.json");
	struct study *st = case_open(support_data("models/yolov8n.onnx"), NULL, "esp32p4");
	case_set(st, "*", PREC_INT16);
	cJSON *j = case_export_json(st, "esp-ppq-dispatch", NULL);
	const cJSON *entry;
	int swishes = 0;
	cJSON_ArrayForEach(entry, case_at(j, "dispatchings"))
	{
		if (!is_operator(run, entry->string))
			fail_msg("esp-ppq has no operator %s", entry->string);
		swishes += strstr(entry->string, "/Swish") != NULL;
	}
	assert_int_equal(swishes, 57);
	cJSON_Delete(j);
	cJSON_Delete(run);
	study_close(&st);
}

// The table of a run of esp-ppq with two Convs at 16 bit; its own examples of entries are not ours.
void test_esp_ppq__table_of_a_mixed_run(void **state)
{
	cJSON *run = golden("golden/esp-ppq/resnet20_esp_ESPDL_INT8_n8_mixed16.json");
	const cJSON *theirs = case_at(run, "setting|dispatching_table|dispatchings"), *entry;
	struct study *st = case_open(support_data("models/resnet20_cifar10_folded.onnx"), NULL, "esp32p4");
	int wanted = 0;
	cJSON_ArrayForEach(entry, theirs)
		if (is_operator(run, entry->string)) {
			case_set(st, entry->string, PREC_INT16);
			wanted++;
		}
	cJSON *j = case_export_json(st, "esp-ppq-dispatch", NULL);
	assert_int_equal(cJSON_GetArraySize(case_at(j, "dispatchings")), wanted);
	cJSON_ArrayForEach(entry, case_at(j, "dispatchings"))
		assert_true(json_number(theirs, entry->string, -1) == entry->valuedouble);
	cJSON_Delete(j);
	cJSON_Delete(run);
	study_close(&st);
}

// A target of the user's own is one of esp-ppq's if its base is.
void test_esp_ppq__a_target_with_a_chip_as_base(void **state)
{
	static const char text[] = "{\"name\": \"newer\", \"base\": \"esp32s3\", \"fusion\": {\"swish\": \"merge_and_fuse\"}}";
	struct study *st = case_open(MODEL, CALIB, support_temp_file("newer.json", text, strlen(text)));
	case_set(st, "/model.0/conv/Conv", PREC_INT16);
	cJSON *j = case_export_json(st, "esp-ppq-dispatch", NULL);
	assert_true(json_number(case_at(j, "dispatchings"), "/model.0/conv/Conv", -1) == 554);
	cJSON_Delete(j);
	study_close(&st);
}

// What esp-ppq makes one RMSNormalization of has a name of its own there, and comes back under it.
void test_esp_ppq__names_of_written_out_normalizations(void **state)
{
	struct onnx_case c;
	written_out_begin(&c);
	written_out_rms(&c, "two", "last");
	case_output(&c, c.graph, "y");
	struct study *st = case_open(case_save(&c, "rms.onnx"), NULL, "esp32p4");
	case_own_method(st);
	case_set(st, "gained", PREC_INT16);
	struct str loss = {0}, text = case_export(st, "esp-ppq-dispatch", &loss);
	cJSON *j = cJSON_Parse(str_text(&text));
	const cJSON *d = case_at(j, "dispatchings");
	assert_int_equal(cJSON_GetArraySize(d), 1);
	assert_true(json_number(d, "gained_rmsnorm", -1) == 552);
	assert_int_equal(loss.len, 0);
	assert_true(undoes(st));
	struct import_report r = take(st, file(str_text(&text)));
	assert_int_equal(r.n_notes, 0);
	assert_int_equal(precision(st, "gained"), PREC_INT16);
	import_report_done(&r);
	r = take(st, file("{\"nodes_to_exclude\": [\"root\"]}")); // what is said of a part holds for all of it
	assert_int_equal(precision(st, "gained"), PREC_FLOAT);
	import_report_done(&r);
	r = take(st, file("{\"dispatchings\": {\"norm_rmsnorm\": 0, \"gained_lpnorm\": 0, \"front_rmsnorm\": 0}}"));
	assert_int_equal(r.n_notes, 3);
	import_report_done(&r);
	str_done(&loss);
	str_done(&text);
	cJSON_Delete(j);
	study_close(&st);
	case_done(&c);
}

// There is no operator before it that a merged one would be named after: its parts keep their names.
void test_esp_ppq__a_swish_of_the_networks_input(void **state)
{
	struct onnx_case c;
	struct str loss = {0};
	case_init(&c);
	case_input(&c, "x", FLOAT, DIMS(1, 4));
	case_node(&c, "Sigmoid", "gate", "x", "g");
	case_node(&c, "Mul", "swish", "x g", "h");
	case_node(&c, "Tanh", "end", "h", "y");
	case_output(&c, c.graph, "y");
	struct study *st = case_open(case_finish(&c, "swish.onnx"), NULL, "esp32p4");
	case_own_method(st);
	case_set(st, "swish", PREC_INT16);
	case_own_method(st);
	cJSON *j = case_export_json(st, "esp-ppq-dispatch", &loss);
	assert_int_equal(cJSON_GetArraySize(case_at(j, "dispatchings")), 1);
	assert_true(json_number(case_at(j, "dispatchings"), "swish", -1) == 552);
	assert_string_equal(str_text(&loss), "");
	cJSON_Delete(j);
	str_done(&loss);
	study_close(&st);
}
