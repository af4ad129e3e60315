// Axera Pulsar2's layer_configs, written and read.
#include "import_case.h"

#define LAYERS(entries) "{\"quant\": {\"layer_configs\": [" entries "]}}"

void test_pulsar2__what_is_exported_comes_back(void **state)
{
	assert_comes_back("pulsar2", true, true, false);
}

static const cJSON *layers_of(const cJSON *j, const char *data_type)
{
	const cJSON *item;
	cJSON_ArrayForEach(item, case_at(j, "quant|layer_configs"))
		if (strcmp(json_text(item, "data_type", ""), data_type) == 0)
			return case_at(item, "layer_names");
	return NULL;
}

void test_pulsar2__a_conv_has_no_float(void **state)
{
	struct study *st = case_open(MODEL, CALIB, "esp32p4");
	struct str loss = {0};
	case_set(st, SUB, PREC_FLOAT);
	case_set(st, STEM, PREC_FLOAT);
	case_set(st, "op:MaxPool", PREC_FLOAT);
	case_scale(st, CLASS_CONV, 0.0625);
	cJSON *j = case_export_json(st, "pulsar2", &loss);
	assert_true(case_has_text(layers_of(j, "FP32"), SUB));
	assert_false(case_has_text(layers_of(j, "FP32"), STEM));
	assert_null(layers_of(j, "U8"));
	assert_null(layers_of(j, "U16"));
	assert_string_equal(json_text(case_at(j, "quant"), "calibration_method", ""), "MinMax");
	assert_has(&loss, STEM ": Pulsar2 has no Conv in FP32, only its output: left out");
	assert_has(&loss, ": FP32 is not verified for MaxPool");
	assert_has(&loss, CLASS_CONV ": Pulsar2 has no way to say the scale 0.0625");
	assert_null(strstr(str_text(&loss), SUB));
	str_done(&loss);
	cJSON_Delete(j);
	study_close(&st);
}

// As Axera's documents write it: with comments of both kinds, one name or a list,
// layer before type before what lies between tensors.
void test_pulsar2__a_configuration_that_was_written_by_hand(void **state)
{
	struct study *st = bare();
	struct import_report r = take(st,
	    file("{ \"input\": \"m.onnx\", // the model\n \"quant\": { \"calibration_method\": \"KL\", \"layer_configs\": [ # all\n"
	         "{\"start_tensor_names\": [\"DEFAULT\"], \"end_tensor_names\": [\"DEFAULT\"], \"data_type\": \"U16\"},\n"
	         "{\"layer_name\": \"" STEM "\", \"data_type\": \"U8\"},\n"
	         "{\"op_types\": [\"Conv\", \"Sub\"], \"data_type\": \"S16\", \"weight_data_type\": \"S8\"},\n"
	         "{\"start_tensor_names\": \"images\", \"end_tensor_names\": [\"/model.0/act/Mul_output_0\"], \"data_type\": \"FP32\"} ] } }"));
	assert_string_equal(r.format, "Pulsar2 configuration");
	assert_true(r.method);
	assert_int_equal(precision(st, STEM), -1);         // U8, as it is
	assert_int_equal(precision(st, SWISH), PREC_FLOAT); // of the region, which is nearer than the whole model
	assert_int_equal(precision(st, SUB), PREC_INT16);
	assert_int_equal(precision(st, CLASS_CONV), PREC_INT16);
	import_report_done(&r);
	study_close(&st);
}

// A region is what comes after one tensor and leads to another:
// the other operands of a node in it do not pull their makers in.
void test_pulsar2__a_region_ends_at_its_tensors(void **state)
{
	struct study *st = bare();
	struct import_report r = take(st, file(LAYERS("{\"start_tensor_names\": [\"" SWISH "_output_0\"], "
	    "\"end_tensor_names\": [\"/model.1/act/Mul_output_0\"], \"data_type\": \"U16\"}")));
	assert_int_equal(precision(st, "/model.1/conv/Conv"), PREC_INT16);
	assert_int_equal(precision(st, "/model.1/act/Mul"), PREC_INT16);
	assert_int_equal(precision(st, SWISH), -1);
	assert_int_equal(precision(st, CLASS_CONV), -1);
	assert_int_equal(r.n_notes, 0);
	import_report_done(&r);
	study_close(&st);
}

void test_pulsar2__what_is_not_known_here_is_said(void **state)
{
	struct study *st = bare();
	struct import_report r = take(st,
	    file(LAYERS(
	        "{\"layer_name\": \"" STEM "\", \"data_type\": \"U4\"}, 7, {\"data_type\": \"U16\"}, "
	        "{\"start_tensor_names\": [\"images\"], \"data_type\": \"U16\"}, {\"start_tensor_names\": [3], "
	        "\"end_tensor_names\": [\"images\"], \"data_type\": \"U16\"}, "
	        "{\"start_tensor_names\": [\"images\"], \"end_tensor_names\": {\"a\": 1}, \"data_type\": \"U16\"}, {\"layer_names\": [3], "
	        "\"op_type\": \"No\"}, "
	        "{\"layer_name\": \"" CLASS_CONV "\", \"output_data_type\": \"FP32\", \"weight_data_type\": \"FP32\"}")));
	static const char *const note[] = {"layer_configs 0: its data_type is not known here: U4", "layer_configs 1: it is no object",
	    "layer_configs 2, layer_configs 3: it has no layer_names",
	    "a name that is no text: the model has no such tensor", "layer_names: only names are read",
	    "No: the model has no operator of this type", "layer_configs 7: output_data_type FP32 is not read",
	    "layer_configs 7: weight_data_type FP32 is not read"};
	for (size_t i = 0; i < sizeof note / sizeof *note; i++)
		assert_has(&r.notes, note[i]);
	assert_int_equal(r.n_notes, sizeof note / sizeof *note + 2); // two have no names, and two regions one that is no text
	assert_int_equal(r.precisions, 0);
	import_report_done(&r);
	study_close(&st);
}
