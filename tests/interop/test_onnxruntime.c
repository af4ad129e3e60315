// Arguments of ONNX Runtime's quantize_static: what they say of widths, types and calibrators.
#include "study_case.h"

void test_onnxruntime__converts_between_widths(void **state)
{
	struct study *st = case_edited("esp32p4");
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
void test_onnxruntime__says_nothing_of_floats(void **state)
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
void test_onnxruntime__widens_constants(void **state)
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
void test_onnxruntime__converts_for_the_narrow_readers(void **state)
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
void test_onnxruntime__writes_its_own_target_as_it_is(void **state)
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
void test_onnxruntime__says_what_its_arguments_can(void **state)
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
void test_onnxruntime__is_told_the_targets_types(void **state)
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
void test_onnxruntime__has_no_kl(void **state)
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
