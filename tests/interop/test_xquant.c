// Configurations of xquant and XSlim: regions, calibrators, samples.
#include "study_case.h"
#include "engine/written_out_case.h"

void test_xquant__names_regions_by_tensors(void **state)
{
	struct study *st = case_edited("esp32p4");
	struct str loss = {0};
	cJSON *j = case_export_json(st, "xquant", &loss);
	const cJSON *region = cJSON_GetArrayItem(case_at(j, "quantization_parameters|custom_setting"), 0);
	assert_true(case_has_text(case_at(region, "output_names"), SUB "_output_0"));
	assert_true(json_number(region, "precision_level", 0) == 3);
	assert_int_equal(cJSON_GetArraySize(case_at(region, "input_names")), 1); // the other operand is a constant
	const cJSON *input = cJSON_GetArrayItem(case_at(j, "calibration_parameters|input_parameters"), 0);
	assert_string_equal(json_text(input, "input_name", ""), "images");
	assert_string_equal(json_text(input, "color_format", ""), "rgb");
	assert_true(cJSON_GetArrayItem(case_at(input, "mean_value"), 0)->valuedouble == 0);
	assert_true(cJSON_GetArrayItem(case_at(input, "std_value"), 0)->valuedouble == 255);
	assert_non_null(strstr(str_text(&loss), STEM ": xquant has no way to say int16"));
	assert_non_null(strstr(str_text(&loss), CLASS_CONV));
	str_done(&loss);
	cJSON_Delete(j);
	study_close(&st);
}

// xquant goes into whatever reads an input of a region, and on to the end of the network
// where it meets no tensor of output_names.
void test_xquant__stops_where_others_read_the_input(void **state)
{
	struct study *st = case_open(MODEL, CALIB, "xquant");
	struct str loss = {0};
	case_set(st, "/model.3/act/Sigmoid", PREC_FLOAT);
	case_set(st, "/model.1/act/Mul", PREC_FLOAT); // nothing else reads the gate that it reads
	cJSON *j = case_export_json(st, "xquant", &loss);
	const cJSON *list = case_at(j, "quantization_parameters|custom_setting"), *mul = cJSON_GetArrayItem(list, 0);
	const cJSON *gate = cJSON_GetArrayItem(list, 1);
	assert_int_equal(cJSON_GetArraySize(list), 2);
	assert_true(case_has_text(case_at(mul, "input_names"), "/model.1/act/Sigmoid_output_0"));
	assert_int_equal(cJSON_GetArraySize(case_at(mul, "input_names")), 1);
	assert_true(case_has_text(case_at(mul, "output_names"), "/model.1/act/Mul_output_0"));
	assert_int_equal(cJSON_GetArraySize(case_at(mul, "output_names")), 1);
	assert_true(case_has_text(case_at(gate, "output_names"), "/model.3/act/Sigmoid_output_0"));
	assert_true(case_has_text(case_at(gate, "output_names"), "/model.3/act/Mul_output_0"));
	assert_has(&loss, "/model.3/act/Mul: xquant leaves it in float with /model.3/act/Sigmoid: both read /model.3/conv/Conv_output_0");
	assert_null(strstr(str_text(&loss), "/model.1/"));
	str_done(&loss);
	cJSON_Delete(j);
	study_close(&st);
}

// Whatever is in the name of the other.
void test_xquant__what_goes_along_is_told_in_one_line(void **state)
{
	struct onnx_case c;
	struct str loss = {0};
	case_begin_conv(&c, "y");
	case_node(&c, "Conv", "its\nneighbour", "x w", "z");
	case_output(&c, c.graph, "y");
	case_output(&c, c.graph, "z");
	struct study *st = case_open(case_finish(&c, "neighbours.onnx"), NULL, "xquant");
	case_set(st, "conv", PREC_FLOAT);
	cJSON_Delete(case_export_json(st, "xquant", &loss));
	assert_has(&loss, "its neighbour: xquant leaves it in float with conv: both read x\n");
	str_done(&loss);
	study_close(&st);
}

// The region ends where the operator does; another reader of its input is calibrated with it.
void test_xquant__calibrates_regions(void **state)
{
	struct study *st = case_open(MODEL, CALIB, "xquant");
	struct str loss = {0};
	struct error err = {0};
	assert_int_equal(study_command(st, "calibration /model.3/act/Mul kl", &err), STATUS_OK);
	cJSON *j = case_export_json(st, "xquant", &loss);
	const cJSON *list = case_at(j, "quantization_parameters|custom_setting"), *region = cJSON_GetArrayItem(list, 0);
	assert_int_equal(cJSON_GetArraySize(list), 1);
	assert_string_equal(json_text(region, "calibration_type", ""), "kl");
	assert_true(json_number(region, "precision_level", -1) == 0);
	assert_true(case_has_text(case_at(region, "output_names"), "/model.3/act/Mul_output_0"));
	assert_null(strstr(str_text(&loss), "calibrates it"));
	cJSON_Delete(j);
	assert_int_equal(study_command(st, "calibration /model.1/act/Sigmoid kl", &err), STATUS_OK);
	cJSON_Delete(case_export_json(st, "xquant", &loss));
	assert_has(&loss, "/model.1/act/Mul: xquant calibrates it with /model.1/act/Sigmoid: both read /model.1/conv/Conv_output_0");
	str_done(&loss);
	study_close(&st);
}

// Conv and Relu are one operator, quantized behind the Relu: the region reaches so far, and one scale is told of both.
void test_xquant__a_calibrator_of_a_fused_operator(void **state)
{
	const char *model = support_data("models/resnet20_cifar10.onnx");
	if (!model)
		skip();
	struct study *st = case_open(model, NULL, "xquant");
	struct error err = {0};
	const struct graph *g = study_graph(st);
	int relu = 0, conv;
	while (strcmp(g->node[relu].op->name, "Relu") != 0)
		relu++;
	conv = g->value[g->node[relu].in[0]].producer;
	const char *end = g->value[g->node[relu].out[0]].name;
	int both[] = {conv, relu};
	assert_int_equal(study_set_calibrator(st, both, 2, CALIB_KL, NULL, &err), STATUS_OK);
	cJSON *j = case_export_json(st, "xquant", NULL), *ort = case_export_json(st, "onnxruntime", NULL);
	const cJSON *region = cJSON_GetArrayItem(case_at(j, "quantization_parameters|custom_setting"), 0), *member;
	assert_true(case_has_text(case_at(region, "output_names"), end));
	int scales = 0;
	const cJSON *overrides = case_at(ort, "extra_options|TensorQuantOverrides");
	cJSON_ArrayForEach(member, cJSON_GetArrayItem(cJSON_GetObjectItemCaseSensitive(overrides, end), 0))
		scales += strcmp(member->string, "scale") == 0;
	assert_int_equal(scales, 1);
	cJSON_Delete(j);
	cJSON_Delete(ort);
	study_close(&st);
}

// Of what XSlim makes one operator before it looks for regions, a region goes from what that reads to what it gives; tools that
// make nothing of it are told every node.
void test_xquant__regions_of_written_out_operators(void **state)
{
	struct onnx_case c;
	written_out_begin(&c);
	written_out_layer_norm(&c, false);
	case_output(&c, c.graph, "y");
	struct study *st = case_open(case_save(&c, "norm.onnx"), NULL, "xquant");
	case_set(st, "shifted", PREC_FLOAT);
	cJSON *j = case_export_json(st, "xquant", NULL), *nncf = case_export_json(st, "nncf", NULL);
	const cJSON *list = case_at(j, "quantization_parameters|custom_setting");
	assert_int_equal(cJSON_GetArraySize(list), 1);
	assert_true(case_has_text(case_at(cJSON_GetArrayItem(list, 0), "input_names"), "f"));
	assert_true(case_has_text(case_at(cJSON_GetArrayItem(list, 0), "output_names"), "y"));
	assert_int_equal(cJSON_GetArraySize(case_at(cJSON_GetArrayItem(list, 0), "output_names")), 1);
	assert_int_equal(cJSON_GetArraySize(case_at(nncf, "ignored_scope|names")), 9);
	cJSON_Delete(j);
	cJSON_Delete(nncf);
	study_close(&st);
	case_done(&c);
}

// xquant 1 knows the one spelling only, XSlim 2 the other.
void test_xquant__of_either_version(void **state)
{
	struct study *st = case_open(MODEL, CALIB, "xquant");
	cJSON *j = case_export_json(st, "xquant", NULL);
	const cJSON *new = case_at(j, "calibration_parameters|input_parameters"), *old = case_at(j, "calibration_parameters|input_parametres");
	assert_int_equal(cJSON_GetArraySize(new), 1);
	assert_true(cJSON_Compare(new, old, true));
	assert_string_equal(json_text(cJSON_GetArrayItem(old, 0), "file_type", ""), "img");
	cJSON_Delete(j);
	study_close(&st);
}

// An array is what the network gets: nothing is subtracted from it.
void test_xquant__of_arrays(void **state)
{
	const char *path = support_temp("sample.npy");
	struct tensor x = {.type = DT_F32, .shape = shape_of(4, (int64_t[]){1, 3, 160, 160})};
	struct error err = {0};
	assert_int_equal(tensor_alloc(&x, NULL, &err), STATUS_OK);
	memset(x.data, 0, tensor_bytes(&x));
	assert_int_equal(array_write(&x, 0, path, &err), STATUS_OK);
	struct study *st = case_open(MODEL, path, "xquant");
	cJSON *j = case_export_json(st, "xquant", NULL);
	const cJSON *input = cJSON_GetArrayItem(case_at(j, "calibration_parameters|input_parameters"), 0);
	assert_string_equal(json_text(input, "file_type", ""), "npy");
	assert_null(case_at(input, "mean_value"));
	tensor_drop(&x);
	cJSON_Delete(j);
	study_close(&st);
}

// So is a TensorProto, and an NPZ file, which the tool cannot read: the report asks for .npy files.
void test_xquant__of_arrays_that_it_does_not_read(void **state)
{
	static const unsigned char head[] = {0x08, 1, 0x08, 3, 0x08, 0xa0, 1, 0x08, 0xa0, 1, 0x10, 1, 0x4a, 0x80, 0xe0, 0x12}; // 1x3x160x160
	static unsigned char file[sizeof head + 4 * 3 * 160 * 160];
	struct str loss = {0};
	(void)state;
	memcpy(file, head, sizeof head);
	struct study *st = case_open(MODEL, support_temp_file("sample.pb", file, sizeof file), "xquant");
	cJSON *j = case_export_json(st, "xquant", &loss);
	const cJSON *input = cJSON_GetArrayItem(case_at(j, "calibration_parameters|input_parameters"), 0);
	assert_string_equal(json_text(input, "file_type", ""), "npy");
	assert_null(case_at(input, "mean_value"));
	assert_has(&loss, "with one .npy of one sample a line");
	str_done(&loss);
	cJSON_Delete(j);
	study_close(&st);
}

static void expect_calibration_type(struct study *st, const char *type)
{
	cJSON *j = case_export_json(st, "xquant", NULL);
	assert_string_equal(json_text(case_at(j, "calibration_parameters"), "calibration_type", ""), type);
	cJSON_Delete(j);
}

void test_xquant__own_calibrator_is_its_default(void **state)
{
	struct study *st = case_open(MODEL, CALIB, "xquant");
	struct error err;
	expect_calibration_type(st, "minmax");
	assert_int_equal(study_set_method(st, CALIB_MSE, &err), STATUS_OK);
	expect_calibration_type(st, "default");
	study_close(&st);
	st = case_open(MODEL, CALIB, "esp32p4"); // whose own is another tool's
	assert_int_equal(study_set_method(st, CALIB_KL, &err), STATUS_OK);
	expect_calibration_type(st, "kl");
	study_close(&st);
}

// XSlim looks at it for every calibrator, and only if it is no whole number.
void test_xquant__is_told_the_percentile(void **state)
{
	static const struct {
		const char *target, *text;
	} row[] = {{"xquant", "0.9999"}, {"xquant,calibration.percentile=0.995", "0.995"}, {"xquant,calibration.percentile=1", "1.0"}};
	for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
		struct study *st = case_open(MODEL, CALIB, row[i].target);
		struct str text = case_export(st, "xquant", NULL);
		char want[64];
		snprintf(want, sizeof want, "\"max_percentile\":\t%s,", row[i].text);
		assert_has(&text, want);
		str_done(&text);
		study_close(&st);
	}
}
