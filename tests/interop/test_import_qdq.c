// Import of a QDQ model that was made of the network here, or by ONNX Runtime of a real one: what comes back of it.
#include <math.h>
#include "import_case.h"
#include "engine/onnx_case.h"
#include "qtui/analysis/compare.h"

static const atomic_bool go_on; // nobody cancels

// A target's own file gives its quantizers back, zero points included, though another calibrator is in force.
void test_import_qdq__own_file_comes_back(void **state)
{
	static const char *const targets[] = {"esp32p4", "esp32s3", "onnxruntime", "a8w8", "a16w8", "xquant"};
	(void)state;
	for (size_t i = 0; i < sizeof targets / sizeof *targets; i++) {
		struct error err = {0};
		struct study *st = case_open(MODEL, CALIB, targets[i]), *again = case_open(MODEL, CALIB, targets[i]);
		assert_int_equal(study_set_method(st, CALIB_PERCENTILE, &err), STATUS_OK);
		if (i < 2) // what its readers read at 8 bits has a scale of their own
			case_set(st, STEM ".." SWISH, PREC_INT16);
		struct str model = case_export(st, "qdq", NULL);
		struct import_report r = take(again, saved(&model));
		assert_string_equal(r.format, "QDQ model");
		assert_true(r.scales > 30);
		struct snapshot *want = study_snapshot(st), *got = ran(again);
		assert_same_quantizers(want, got);
		snapshot_drop(&want);
		snapshot_drop(&got);
		import_report_done(&r);
		str_done(&model);
		study_close(&st);
		study_close(&again);
	}
}

// The float weights of a node show that it stays in float, though its reader rounds what it makes.
void test_import_qdq__nodes_in_float(void **state)
{
	struct study *st = case_open(MODEL, CALIB, "esp32p4"), *again = case_open(MODEL, CALIB, "esp32p4");
	(void)state;
	case_set(st, STEM, PREC_FLOAT);
	case_set(st, CLASS_CONV, PREC_FLOAT);
	struct str model = case_export(st, "qdq", NULL);
	struct import_report r = take(again, saved(&model));
	assert_int_equal(precision(again, STEM), PREC_FLOAT);
	assert_int_equal(precision(again, CLASS_CONV), PREC_FLOAT);
	assert_int_equal(r.precisions, 2);
	struct snapshot *want = study_snapshot(st), *got = ran(again);
	assert_same_quantizers(want, got);
	snapshot_drop(&want);
	snapshot_drop(&got);
	import_report_done(&r);
	str_done(&model);
	study_close(&st);
	study_close(&again);
}

// Operands that share the range of all have the file's scale, and not one that is made of it anew.
void test_import_qdq__operands_of_one_range(void **state)
{
	static const char *const target[] = {"tensorrt", "fpga", "qnn"};
	(void)state;
	for (size_t i = 0; i < sizeof target / sizeof *target; i++) {
		struct study *st = case_open(MODEL, CALIB, target[i]), *again = case_open(MODEL, CALIB, target[i]);
		struct str model = case_export(st, "qdq", NULL);
		struct import_report r = take(again, saved(&model));
		struct snapshot *want = ran(st), *got = ran(again);
		assert_true(r.scales > 10);
		assert_same_quantizers(want, got);
		snapshot_drop(&want);
		snapshot_drop(&got);
		import_report_done(&r);
		str_done(&model);
		study_close(&again);
		study_close(&st);
	}
}

// Where that is most of them, the file is for another target.
void test_import_qdq__names_targets_that_fit(void **state)
{
	static const char *const target
	    [] = {"onnxruntime", "a8w8", "esp32p4"},
      *const advice[] = {" scales are lost: target esp32p4 has no zero points, but these could have them: onnxruntime, pytorch, qnn, "
      "tflite, xquant",
	  " scales are lost: target esp32p4 has powers of two only, but these could have them: a16w8, a8w8, onnxruntime, ppl_cuda, pytorch, qnn, "
	  "tensorrt, tflite, xquant",
	  NULL};
	(void)state;
	for (size_t i = 0; i < sizeof target / sizeof *target; i++) {
		struct study *st = case_open(MODEL, CALIB, target[i]), *again = case_open(MODEL, CALIB, "esp32p4");
		struct str model = case_export(st, "qdq", NULL);
		struct import_report r = take(again, saved(&model));
		if (advice[i])
			assert_has(&r.advice, advice[i]);
		else
			assert_int_equal(r.advice.len, 0);
		import_report_done(&r);
		str_done(&model);
		study_close(&again);
		study_close(&st);
	}
}

// esp-ppq asks the last node of ConvTranspose and Relu for their width: who sets or imports one sets both.
void test_import_qdq__an_operator_whose_last_node_decides(void **state)
{
	struct onnx_case c;
	float w[16] = {0.5f, -0.25f, 1};
	(void)state;
	case_init(&c);
	case_input(&c, "x", FLOAT, DIMS(1, 4, 6, 6));
	case_floats(&c, "w", DIMS(4, 4, 1, 1), w);
	case_node(&c, "ConvTranspose", "up", "x w", "up_y");
	case_node(&c, "Relu", "relu", "up_y", "relu_y");
	case_node(&c, "Sigmoid", "sigmoid", "relu_y", "y");
	case_output(&c, c.graph, "y");
	struct study *st = case_open(case_save(&c, "up.onnx"), NULL, "esp32p4"), *again = case_open(case_save(&c, "up.onnx"), NULL, "esp32p4");
	int up = node(st, "up");
	struct error err = {0};
	case_set(st, "up", PREC_INT16);
	assert_int_equal(precision(st, "relu"), PREC_INT16);
	assert_int_equal(study_set(st, &up, 1, -1, NULL, &err), STATUS_OK);
	assert_int_equal(precision(st, "relu"), -1);
	assert_string_equal(study_step(st, 1), "set up relu auto");
	assert_true(undoes(st));
	assert_int_equal(study_command(st, "set up auto", &err), STATUS_OK); // a command names all that it means
	assert_int_equal(precision(st, "relu"), PREC_INT16);
	assert_true(undoes(st));
	case_set(st, "up", PREC_FLOAT); // the Relu would be left at 16 bits, which nobody asked of it
	assert_string_equal(study_step(st, 1), "set up relu float");
	assert_true(undoes(st));
	struct str model = case_export(st, "qdq", NULL);
	struct import_report r = take(again, saved(&model));
	assert_int_equal(precision(again, "relu"), PREC_INT16);
	struct snapshot *want = study_snapshot(st), *got = ran(again);
	assert_int_equal(got->row[node(again, "up")].precision, PREC_INT16);
	assert_same_quantizers(want, got);
	snapshot_drop(&want);
	snapshot_drop(&got);
	import_report_done(&r);
	str_done(&model);
	study_close(&again);
	study_close(&st);
	case_done(&c);
}

// What a file of ONNX Runtime's own quantizer does to the network: as the file computes, and as its scales do here.
void test_import_qdq__a_file_of_onnx_runtime(void **state)
{
	const char *model = support_data("models/mobilenetv2.onnx"), *quantized = support_data("models/mobilenetv2_qdq_miscalibrated.onnx");
	const char *images = support_data("imagenet");
	struct error err = {0};
	struct study *st = NULL;
	struct graph *file = NULL;
	atomic_int samples = 0;
	cJSON *j = NULL;
	(void)state;
	if (!model || !quantized || !images)
		skip();
	struct study_options o = {.model = model, .calib = images, .target = "onnxruntime", .method = CALIB_MINMAX, .threads = 1,
	    .backend = BACKEND_ONEDNN, .data = {.samples = 4}};
	assert_int_equal(study_open(&st, &o, &err), STATUS_OK);
	struct import_report r = take(st, quantized);
	struct snapshot *s = ran(st);
	assert_int_equal(study_load(&file, st, quantized, true, &err), STATUS_OK);
	struct compare_models m = {.a = study_graph(st), .b = file, .d = study_dataset(st), .engine = {.backend = BACKEND_ONEDNN, .threads = 1}};
	assert_int_equal(compare_models(&j, &m, &samples, &go_on, &err), STATUS_OK);
	const cJSON *output = cJSON_GetArrayItem(cJSON_GetObjectItemCaseSensitive(j, "outputs"), 0);
	double here = -10 * log10(s->output[0].pooled.nsr), there = json_number(output, "snr_db", NAN);
	if (!(fabs(here - there) < 0.2))
		fail_msg("%g dB here, %g dB of the file", here, there);
	cJSON_Delete(j);
	graph_free(&file);
	snapshot_drop(&s);
	import_report_done(&r);
	study_close(&st);
}
