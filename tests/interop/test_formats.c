// The other formats: what each says of the same decisions, and what it reports as lost.
#include "qtui/engine/op.h"
#include "study_case.h"
#include "engine/written_out_case.h"

#define SUB "/model.12/Sub"
#define STEM "/model.0/conv/Conv"
#define STEM_OUT "/model.0/conv/Conv_output_0"

// A node in float, one at 16 bit, and a scale.
static struct study *edited(const char *target)
{
	struct study *st = case_open(MODEL, CALIB, target);
	case_set(st, SUB, PREC_FLOAT);
	case_set(st, STEM, PREC_INT16);
	case_scale(st, CLASS_CONV, 0.0625);
	return st;
}

void test_formats__onnxruntime_converts_between_widths(void **state)
{
	struct study *st = edited("esp32p4");
	cJSON *j = case_export_json(st, "onnxruntime", NULL);
	assert_true(case_has_text(case_at(j, "nodes_to_exclude"), SUB));
	assert_int_equal(cJSON_GetArraySize(case_at(j, "nodes_to_exclude")), 1);
	const cJSON *o = case_at(j, "extra_options|TensorQuantOverrides");
	const cJSON *image = cJSON_GetArrayItem(case_at(o, "images"), 0), *stem = cJSON_GetArrayItem(case_at(o, STEM_OUT), 0);
	assert_string_equal(json_text(image, "quant_type", ""), "QInt16"); // a conversion would round to 8 bits first
	assert_null(case_at(image, "convert"));
	assert_string_equal(json_text(stem, "quant_type", ""), "QInt16");
	assert_string_equal(json_text(case_at(stem, "convert"), "quant_type", ""), "QInt8");
	const cJSON *logits = cJSON_GetArrayItem(case_at(o, CLASS_CONV "_output_0"), 0);
	assert_true(json_number(logits, "scale", 0) == 0.0625 && json_number(logits, "zero_point", -1) == 0);
	assert_string_equal(json_text(cJSON_GetArrayItem(case_at(o, "model.0.conv.weight"), 0), "quant_type", ""), "QInt16");
	assert_null(case_at(o, "model.0.conv.bias"));
	cJSON_Delete(j);
	study_close(&st);
}

// A node in float has no scale, and gives nothing that its readers would convert: what it makes has their width.
void test_formats__onnxruntime_says_nothing_of_floats(void **state)
{
	struct study *st = case_open(MODEL, CALIB, "esp32p4");
	case_scale(st, CLASS_CONV, 0.0625);
	case_set(st, CLASS_CONV, PREC_FLOAT);
	case_set(st, STEM, PREC_FLOAT);
	case_set(st, "/model.0/act/Sigmoid", PREC_INT16);
	case_set(st, "/model.0/act/Mul", PREC_INT16);
	cJSON *j = case_export_json(st, "onnxruntime", NULL);
	const cJSON *o = case_at(j, "extra_options|TensorQuantOverrides");
	assert_null(case_at(o, CLASS_CONV "_output_0"));
	const cJSON *stem = cJSON_GetArrayItem(case_at(o, STEM_OUT), 0);
	assert_string_equal(json_text(stem, "quant_type", ""), "QInt16");
	assert_null(stem->child->next);
	assert_non_null(case_at(o, "/model.0/act/Mul_output_0"));
	cJSON_Delete(j);
	study_close(&st);
}

// A constant has the width of its node, on the left as well.
void test_formats__onnxruntime_widens_constants(void **state)
{
	struct study *st = case_open(MODEL, CALIB, "esp32p4");
	const struct graph *g = study_graph(st);
	const struct node *sub = &g->node[graph_find_node(g, SUB)];
	(void)state;
	assert_non_null(g->value[sub->in[0]].constant);
	case_set(st, SUB, PREC_INT16);
	cJSON *j = case_export_json(st, "onnxruntime", NULL);
	const cJSON *left = case_at(case_at(j, "extra_options|TensorQuantOverrides"), g->value[sub->in[0]].name);
	assert_string_equal(json_text(cJSON_GetArrayItem(left, 0), "quant_type", ""), "QInt16");
	cJSON_Delete(j);
	study_close(&st);
}

// Of the readers of a tensor that comes in float one has 16 bits: the tensor has them, and is converted for the others.
void test_formats__onnxruntime_converts_for_the_narrow_readers(void **state)
{
	struct study *st = case_open(MODEL, CALIB, "onnxruntime");
	(void)state;
	case_set(st, STEM, PREC_FLOAT);
	case_set(st, "/model.0/act/Mul", PREC_INT16);
	cJSON *j = case_export_json(st, "onnxruntime", NULL);
	const cJSON *stem = cJSON_GetArrayItem(case_at(j, "extra_options|TensorQuantOverrides|" STEM_OUT), 0);
	assert_string_equal(json_text(stem, "quant_type", ""), "QUInt16");
	assert_string_equal(json_text(case_at(stem, "convert"), "quant_type", ""), "QUInt8");
	assert_int_equal(cJSON_GetArraySize(case_at(stem, "convert|recv_nodes")), 1);
	assert_true(case_has_text(case_at(stem, "convert|recv_nodes"), "/model.0/act/Sigmoid"));
	cJSON_Delete(j);
	study_close(&st);
}

// Its own target has unsigned activations with zero points, and keeps weights at 8 bits beside 16:
// what is written is what was shown.
void test_formats__onnxruntime_writes_its_own_target_as_it_is(void **state)
{
	(void)state;
	struct study *st = case_open(MODEL, CALIB, "onnxruntime");
	struct str loss = {0};
	case_set(st, STEM, PREC_INT16);
	case_scale(st, CLASS_CONV, 0.06);
	cJSON *j = case_export_json(st, "onnxruntime", &loss);
	const cJSON *o = case_at(j, "extra_options|TensorQuantOverrides");
	const cJSON *image = cJSON_GetArrayItem(case_at(o, "images"), 0), *stem = cJSON_GetArrayItem(case_at(o, STEM_OUT), 0);
	assert_string_equal(json_text(image, "quant_type", ""), "QUInt16");
	assert_null(case_at(image, "convert"));
	assert_string_equal(json_text(stem, "quant_type", ""), "QUInt16");
	assert_string_equal(json_text(case_at(stem, "convert"), "quant_type", ""), "QUInt8");
	assert_null(case_at(o, "model.0.conv.weight"));
	const cJSON *logits = cJSON_GetArrayItem(case_at(o, CLASS_CONV "_output_0"), 0);
	struct snapshot *s = study_snapshot(st);
	const struct site *site = &s->site[s->row[graph_find_node(s->g, CLASS_CONV)].first_site];
	assert_string_equal(json_text(logits, "quant_type", ""), "QUInt8");
	assert_true(json_number(logits, "scale", 0) == 0.06 && json_number(logits, "zero_point", -1) == site->zero[0] && site->zero[0] > 0);
	assert_string_equal(json_text(j, "activation_type", ""), "QUInt8");
	assert_string_equal(json_text(j, "weight_type", ""), "QInt8");
	assert_true(json_bool(j, "per_channel", false));
	assert_false(json_bool(case_at(j, "extra_options"), "ActivationSymmetric", true));
	assert_null(strstr(str_text(&loss), "rule"));
	snapshot_drop(&s);
	str_done(&loss);
	cJSON_Delete(j);
	study_close(&st);
}

// What was changed of the target and has an argument there is written, and not said to be lost.
void test_formats__onnxruntime_says_what_its_arguments_can(void **state)
{
	struct study *st = case_open(MODEL, CALIB, "onnxruntime");
	cJSON *j = case_export_json(st, "onnxruntime", NULL);
	assert_false(json_bool(j, "reduce_range", true));
	assert_true(json_bool(case_at(j, "extra_options"), "WeightSymmetric", false));
	cJSON_Delete(j);
	study_close(&st);
	struct str loss = {0};
	st = case_open(MODEL, CALIB, "onnxruntime,weight.reduce_range=true,activation.signed=true,activation.reduce_range=true");
	j = case_export_json(st, "onnxruntime", NULL);
	assert_true(json_bool(j, "reduce_range", false));
	assert_string_equal(json_text(j, "activation_type", ""), "QInt8");
	struct error err = {0};
	struct snapshot *s = study_snapshot(st);
	assert_int_equal(export_write("onnxruntime", support_temp_file("json", "", 0), st, s, &loss, &err), STATUS_OK);
	snapshot_drop(&s);
	assert_non_null(strstr(str_text(&loss), "activation.reduce_range=true"));
	assert_null(strstr(str_text(&loss), "weight."));
	assert_null(strstr(str_text(&loss), "activation.signed"));
	cJSON_Delete(j);
	study_close(&st);
	str_clear(&loss);
	st = case_open(MODEL, CALIB, "onnxruntime,calibration.default=mse"); // the calibrator is a decision, which formats say
	cJSON_Delete(case_export_json(st, "onnxruntime", NULL));
	s = study_snapshot(st);
	assert_int_equal(export_write("onnxruntime", support_temp_file("json", "", 0), st, s, &loss, &err), STATUS_OK);
	snapshot_drop(&s);
	assert_null(strstr(str_text(&loss), "calibration.default"));
	study_close(&st);
	str_done(&loss);
	st = case_open(MODEL, CALIB, "onnxruntime,weight.symmetric=false,weight.signed=false");
	j = case_export_json(st, "onnxruntime", NULL);
	assert_string_equal(json_text(j, "weight_type", ""), "QUInt8");
	assert_false(json_bool(case_at(j, "extra_options"), "WeightSymmetric", true));
	assert_false(json_bool(j, "reduce_range", true));
	cJSON_Delete(j);
	study_close(&st);
}

// quantize_static begins with unsigned activations, and weights of one scale.
void test_formats__onnxruntime_is_told_the_targets_types(void **state)
{
	struct study *st = case_open(MODEL, CALIB, "xint8");
	cJSON *j = case_export_json(st, "onnxruntime", NULL);
	assert_string_equal(json_text(j, "activation_type", ""), "QInt8");
	assert_false(json_bool(j, "per_channel", true));
	assert_true(json_bool(case_at(j, "extra_options"), "ActivationSymmetric", false));
	cJSON_Delete(j);
	study_close(&st);
	st = case_open(MODEL, CALIB, "a16w8");
	j = case_export_json(st, "onnxruntime", NULL);
	assert_string_equal(json_text(j, "activation_type", ""), "QInt16");
	assert_string_equal(json_text(j, "weight_type", ""), "QInt8");
	assert_null(case_at(j, "extra_options|TensorQuantOverrides")->child);
	cJSON_Delete(j);
	study_close(&st);
}

// Its Entropy is min-max, and it has no other KL.
void test_formats__onnxruntime_has_no_kl(void **state)
{
	struct study *st = case_open(MODEL, CALIB, "onnxruntime");
	struct error err = {0};
	struct str loss = {0};
	assert_int_equal(study_set_method(st, CALIB_KL, &err), STATUS_OK);
	cJSON *j = case_export_json(st, "onnxruntime", &loss);
	assert_null(case_at(j, "calibrate_method"));
	assert_non_null(strstr(str_text(&loss), "calibration: quantize_static has no way to say kl"));
	str_done(&loss);
	cJSON_Delete(j);
	study_close(&st);
}

void test_formats__xquant_names_regions_by_tensors(void **state)
{
	struct study *st = edited("esp32p4");
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
void test_formats__xquant_stops_where_others_read_the_input(void **state)
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

// The region ends where the operator does; another reader of its input is calibrated with it.
void test_formats__xquant_calibrates_regions(void **state)
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
void test_formats__a_calibrator_of_a_fused_operator(void **state)
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
void test_formats__regions_of_written_out_operators(void **state)
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

// xquant 1 knows the one spelling only, XSlim 2 the other.
void test_formats__xquant_of_either_version(void **state)
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
void test_formats__xquant_of_arrays(void **state)
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

static void expect_calibration_type(struct study *st, const char *type)
{
	cJSON *j = case_export_json(st, "xquant", NULL);
	assert_string_equal(json_text(case_at(j, "calibration_parameters"), "calibration_type", ""), type);
	cJSON_Delete(j);
}

void test_formats__xquants_own_calibrator_is_its_default(void **state)
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
void test_formats__xquant_is_told_the_percentile(void **state)
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

void test_formats__quark_lists_wide_tensors(void **state)
{
	struct study *st = edited("esp32p4");
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
void test_formats__quark_lists_what_went_along(void **state)
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
void test_formats__quark_calibrates_as_was_shown(void **state)
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

void test_formats__nncf_ignores_what_is_float(void **state)
{
	struct study *st = edited("esp32p4");
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
	struct study *st = edited("esp32p4");
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
	};
	struct error err = {0};
	struct study *st = edited("esp32p4");
	assert_int_equal(study_command(st, "calibration " CALIBRATED " mse", &err), STATUS_OK);
	for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
		struct str loss = {0}, out = case_export(st, row[i].format, &loss);
		assert_has(&loss, row[i].told);
		str_done(&loss);
		str_done(&out);
	}
	study_close(&st);
}

void test_formats__aimet_counts_codes_from_zero(void **state)
{
	struct study *st = edited("esp32p4");
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
void test_formats__aimet_of_codes_without_a_sign(void **state)
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
void test_formats__aimet_of_casts(void **state)
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

// The names that nodes without one have here are not in the file, which the tool reads.
void test_formats__nodes_without_a_name(void **state)
{
	static const char *const by_name[] = {"esp-ppq-dispatch", "esp-ppq-setting", "onnxruntime", "quark", "nncf", "trtexec", "aimet", "hmct", "pulsar2"};
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
	st = edited("esp32p4"); // where unnamed constants are the only ones
	struct str loss = {0}, text = case_export(st, "esp-ppq-setting", &loss);
	assert_null(strstr(str_text(&loss), "no name in"));
	str_done(&loss);
	str_done(&text);
	study_close(&st);
}

// Per-channel weights of another target are one entry a channel.
void test_formats__aimet_weights_per_channel(void **state)
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
