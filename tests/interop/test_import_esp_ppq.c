// What esp-ppq is told to do: its settings, and the choices of its AutoQuant.
#include <string.h>
#include "import_case.h"

// Passes of a setting that change weights are no edits: named, with what does it here.
void test_import_esp_ppq__passes_that_change_weights_are_said(void **state)
{
	struct study *st = bare();
	struct import_report r =
	    take(st, file("{\"equalization\": true, \"equalization_setting\": {\"opt_level\": 2, \"iterations\": 5, \"value_threshold\": 0, "
	    "\"including_bias\": true}, \"tqt_optimization\": true, "
	                  "\"bias_correct\": false, \"dispatching_table\": {\"dispatchings\": {}}}"));
	assert_int_equal(r.precisions + r.scales, 0);
	assert_int_equal(r.n_notes, 2);
	assert_non_null(strstr(str_text(&r.notes), "equalization: "));
	assert_non_null(strstr(str_text(&r.notes), "open what qtui equalize --sums --rounds 5 --threshold 0 --bias 0.5 writes"));
	assert_non_null(strstr(str_text(&r.notes), "tqt_optimization: "));
	import_report_done(&r);
	study_close(&st);
}

static void assert_note(const struct import_report *r, const char *text)
{
	if (!strstr(str_text(&r->notes), text))
		fail_msg("no \"%s\" in\n%s", text, str_text(&r->notes));
}

// esp32p4 has Add on the scale of its output. The model has no AveragePool: what is said of one is no matter.
void test_import_esp_ppq__alignments_that_the_target_has_not(void **state)
{
	struct study *st = bare();
	struct import_report r = take(st, file("{\"quantize_activation_setting\": {}, "
	    "\"fusion_setting\": {\"align_elementwise_to\": \"Align to Large\", "
	    "\"align_concat_to\": \"Align to Output\", \"align_avgpooling_to\": \"Align to Input\", \"force_alignment_overlap\": true}}"));
	assert_int_equal(r.n_notes, 2);
	assert_note(&r, "align_elementwise_to: Align to Large; target esp32p4 has alignment.to_output for Add");
	assert_note(&r, "force_alignment_overlap: true; target esp32p4 does not pull");
	import_report_done(&r);
	r = take(st, file("{\"quantize_activation_setting\": {}, \"fusion_setting\": {\"align_quantization\": false}}"));
	assert_note(&r, "align_concat_to: None; target esp32p4 has alignment.to_output for Concat");
	import_report_done(&r);
	r = take(st, file("{\"quantize_activation_setting\": {}, \"dispatcher\": \"allin\"}"));
	assert_int_equal(r.n_notes, 0);
	import_report_done(&r);
	study_close(&st);
	st = case_open(MODEL, NULL, "tensorrt"); // PPQ's own defaults are its rules
	r = take(st, file("{\"quantize_activation_setting\": {}, \"fusion_setting\": {\"align_elementwise_to\": \"Align to Large\", "
	    "\"align_concat_to\": \"Align to Output\", \"align_resize_to\": \"Align to Output\", \"force_alignment_overlap\": true}}"));
	assert_int_equal(r.n_notes, 0);
	import_report_done(&r);
	r = take(st, file("{\"quantize_activation_setting\": {}, \"fusion_setting\": {\"align_elementwise_to\": \"Align to Output\"}}"));
	assert_note(&r, "align_elementwise_to: Align to Output; target tensorrt has alignment.to_large for Add");
	import_report_done(&r);
	study_close(&st);
	st = case_open(MODEL, NULL, "onnxruntime"); // whose rules are not compared with esp-ppq's
	r = take(st, file("{\"quantize_activation_setting\": {}, \"fusion_setting\": {\"align_quantization\": false}}"));
	assert_int_equal(r.n_notes, 0);
	import_report_done(&r);
	study_close(&st);
}

void test_import_esp_ppq__steps_that_a_setting_leaves_out(void **state)
{
	static const struct {
		const char *target, *text, *note; // "": nothing is said
	} row[] = {
	    {"esp32p4", "\"quantize_activation\": true, \"fusion\": true, \"fusion_setting\": {\"fuse_activation\": true},"
	                " \"quantize_parameter_setting\": {\"calib_algorithm\": null, \"quantize_passive_parameter\": true}", ""},
	    {"esp32p4", "\"quantize_activation\": false", "quantize_activation: false is not read: set nodes to float"},
	    {"esp32p4", "\"fusion_setting\": {\"fuse_passive_op\": false}", "fuse_passive_op: false is not read: choose --target"},
	    {"esp32p4", "\"graph_format_setting\": {\"fuse_swish\": false}", "fuse_swish: false is not read: choose --target NAME,fusion.swish"},
	    {"esp32p4", "\"quantize_parameter_setting\": {\"calib_algorithm\": \"kl\"}", "quantize_parameter_setting: kl is not read"},
	    {"esp32p4", "\"dispatcher\": \"conservative\"", "dispatcher: conservative is not read: the target takes what allin does"},
	    {"esp32p4", "\"dispatcher\": \"AllIn\"", ""},
	    {"tensorrt", "\"dispatcher\": \"allin\"", "dispatcher: allin is not read: the target takes what conservative does"},
	    {"onnxruntime", "\"dispatcher\": \"allin\", \"quantize_activation\": false", ""}, // whose rules are its own
	};
	(void)state;
	for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
		char text[512];
		snprintf(text, sizeof text, "{\"quantize_activation_setting\": {}, %s}", row[i].text);
		struct study *st = take_noted(row[i].target, text, row[i].note);
		study_close(&st);
	}
}

// PPQ reads the names of calibrators without regard to case, and its documents write them both ways.
void test_import_esp_ppq__calibrators_in_large_letters(void **state)
{
	static const struct {
		const char *name;
		enum calib_method method;
	} row[] = {{"MSE", CALIB_MSE}, {"KL", CALIB_KL}, {"kl", CALIB_KL}, {"MinMax", CALIB_MINMAX}, {"Percentile", CALIB_PERCENTILE}};
	(void)state;
	for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
		char text[128];
		snprintf(text, sizeof text, "{\"quantize_activation_setting\": {\"calib_algorithm\": \"%s\"}}", row[i].name);
		struct study *st = case_open(MODEL, NULL, "tensorrt");
		struct import_report r = take(st, file(text));
		assert_int_equal(r.n_notes, 0);
		assert_int_equal(study_method(st), row[i].method);
		import_report_done(&r);
		study_close(&st);
	}
}

// The lines that a table has in the tools' own sources are nobody's decisions; other names that the model has not are told.
void test_import_esp_ppq__examples_in_a_dispatching_table(void **state)
{
	struct study *st = bare();
	struct import_report r = take(st, file("{\"dispatching_table\": {\"dispatchings\": {\"YOUR OEPRATION NAME\": \"TARGET PLATFORM(INT)\", "
	    "\"FP32 OPERATION NAME\": 0, \"SOI OPERATION NAME\": -1, \"PPL INT8 OPERATION NAME\": 201, \"" SUB "\": 0, \"none\": 0}}}"));
	(void)state;
	assert_int_equal(precision(st, SUB), PREC_FLOAT);
	assert_int_equal(r.n_notes, 1);
	assert_note(&r, "none: the model has no such operator");
	import_report_done(&r);
	study_close(&st);
}

// Espressif's own search for a setting: widths in a list, steps as objects.
void test_import_esp_ppq__an_iteration_of_espdl_quantize(void **state)
{
	struct study *st = bare();
	(void)state;
	struct import_report r = take(st, file("{\"iteration_id\": 5, \"rationale\": \"..\", \"calib_algorithm\": \"Percentile\", \"equalization\": "
	    "{\"enabled\": true, \"iterations\": 6, \"opt_level\": 2}, \"bias_correct\": {\"enabled\": false}, \"tqt_optimization\": "
	    "{\"enabled\": true, \"lr\": 1e-5}, \"fusion_alignment\": {\"align_elementwise_to\": \"Align to Large\"}, "
	    "\"dispatching_table\": [{\"op\": \"" STEM
	    "\", \"bits\": 16}, {\"op_name\": \"" SUB "\", \"bits\": 16}, {\"op\": \"none\", \"bits\": 16}, {\"op\": \"" SPLIT "\"}], "
	    "\"extra\": {\"ssd_equalization\": true, \"signature\": 1}}"));
	assert_string_equal(r.format, "espdl-quantize's setting");
	assert_int_equal(study_method(st), CALIB_PERCENTILE);
	assert_int_equal(precision(st, STEM), PREC_INT16);
	assert_int_equal(precision(st, SUB), PREC_INT16);
	assert_note(&r, "equalization: changes weights, which no edit says; for the same, open what qtui equalize --sums --rounds 6 writes");
	assert_note(&r, "tqt_optimization: changes weights");
	assert_note(&r, "align_elementwise_to: Align to Large; target esp32p4 has alignment.to_output for Add");
	assert_note(&r, "none: the model has no such operator");
	assert_note(&r, "dispatching_table: " SPLIT ": not {");
	assert_note(&r, "ssd_equalization: changes weights");
	assert_note(&r, "extra: signature is not read");
	assert_int_equal(r.n_notes, 7);
	import_report_done(&r);
	study_close(&st);
}

// The platforms that compute in float64 have the codes of the others.
void test_import_esp_ppq__high_precision_is_16_bit(void **state)
{
	struct study *st = bare();
	struct import_report r = take(st, file("{\"dispatchings\": {\"" STEM "\": 555, \"" SUB "\": \"ESPDL_C_H_PRE_INT16\"}}"));
	assert_int_equal(r.n_notes, 0);
	assert_int_equal(precision(st, STEM), PREC_INT16);
	assert_int_equal(precision(st, SUB), PREC_INT16);
	import_report_done(&r);
	study_close(&st);
}

#define STRATEGY "\"strategy\": {\"num_of_bits\": true, \"calib_algorithm\": true, \"weight_equalization\": true, \"bias_correction\": false, " \
	"\"mixed_precision\": false, \"tqt\": true, \"fusion_alignment\": true, \"horizontal_layer_split\": true}"
#define PARAMS(bits) "\"params\": {\"num_of_bits\": {\"value\": " bits "}, \"calib_algorithm\": {\"method\": \"mse\"}, " \
	"\"weight_equalization\": {\"iterations\": 50, \"value_threshold\": 0.1, \"opt_level\": 2}, \"bias_correction\": null, \"fusion_alignment\": " \
	"{\"elementwise_to\": \"Align to Output\", \"concat_to\": \"Align to Large\", \"avgpooling_to\": \"Align to Input\", " \
	"\"resize_to\": \"Align to Output\", \"force_overlap\": false}}"

void test_import_esp_ppq__a_run_of_autoquant(void **state)
{
	struct study *st = bare();
	struct import_report r = take(st, file("{" STRATEGY ", " PARAMS("8") ", \"runtime\": {\"target\": \"esp32s3\", \"calib_steps\": 32}}"));
	assert_string_equal(r.format, "esp-ppq AutoQuant run");
	assert_true(r.method);
	assert_int_equal(r.precisions + r.scales, 0);
	assert_int_equal(r.n_notes, 5);
	assert_note(&r, "weight_equalization: changes weights, which no edit says; for the same, open what qtui equalize --sums --rounds 50 "
	    "--threshold 0.1 writes");
	assert_note(&r, "horizontal_layer_split: ");
	assert_note(&r, "tqt: ");
	assert_note(&r, "concat_to: Align to Large; target esp32p4 has alignment.to_output for Concat");
	assert_note(&r, "open with --target esp32s3");
	import_report_done(&r);
	study_close(&st);
}

void test_import_esp_ppq__autoquant_with_16_bits(void **state)
{
	struct study *st = bare();
	struct import_report r = take(st, file("{" STRATEGY ", " PARAMS("16") ", \"runtime\": {\"target\": \"esp32s31\"}}"));
	assert_true(r.precisions > 0);
	assert_int_equal(precision(st, STEM), PREC_INT16);
	assert_null(strstr(str_text(&r.notes), "--target")); // as the ESP32-P4
	import_report_done(&r);
	study_close(&st);
}

void test_import_esp_ppq__autoquant_candidates(void **state)
{
	struct study *st = bare();
	struct import_report r = take(st, file("[{\"index\": 7, \"folder\": \"run/0007\", " STRATEGY ", " PARAMS("8") ", \"score\": 0.75}, "
	    "{\"index\": 3, \"folder\": \"run/0003\", " STRATEGY ", " PARAMS("16") ", \"score\": 0.5}]"));
	assert_string_equal(r.format, "esp-ppq AutoQuant candidates");
	assert_true(r.method);
	assert_note(&r, "the first of 2 candidates: run/0007, score 0.75");
	assert_int_equal(r.precisions, 0);
	import_report_done(&r);
	study_close(&st);
	st = bare();
	r = take(st, file("[{\"hash\": \"0a\", \"index\": 0, " STRATEGY ", " PARAMS("8") "}]")); // summary.json says not which is best
	assert_false(r.method);
	assert_note(&r, "candidates.json has the best first");
	import_report_done(&r);
	study_close(&st);
	assert_refused("[{\"strategy\": 1}]", "not a file of");
	assert_refused("[]", "not a file of");
}

// PPQ's asymmetric quantizers: the zero point is a code of the file's type, which the target may have shifted.
void test_import_esp_ppq__zero_points_of_an_exported_configuration(void **state)
{
	static const struct {
		const char *target, *range, *value, *note;
		double scale;
		int zero;
	} row[] = {
	    {"qnn", "\"quant_min\": 0, \"quant_max\": 255", "\"scale\": 0.5, \"zero_point\": 3", "", 0.5, 3},
	    {"qnn", "\"quant_min\": -128, \"quant_max\": 127", "\"scale\": 0.5, \"zero_point\": -125", "", 0.5, 3},
	    {"qnn", "\"quant_min\": 0, \"quant_max\": 255", "\"scale\": 0.5, \"zero_point\": 0", "", 0.5, 0},
	    {"qnn", "\"quant_min\": -127, \"quant_max\": 127", "\"scale\": [0.5], \"zero_point\": [0]", "", 0.5, 128},
	    {"tensorrt", "\"quant_min\": -127, \"quant_max\": 127", "\"scale\": 0.5, \"zero_point\": 0", "", 0.5, ZERO_FOLLOWS},
	    {"tensorrt", "\"quant_min\": 0, \"quant_max\": 255", "\"scale\": 0.5, \"zero_point\": 128", "", 0.5, ZERO_FOLLOWS},
	    {"tensorrt", "\"quant_min\": 0, \"quant_max\": 255", "\"scale\": 0.5, \"zero_point\": 3", "a scale with a zero point", 0, ZERO_FOLLOWS},
	    {"qnn", "\"quant_min\": 0", "\"scale\": [0.5, 0.25], \"zero_point\": [0, 0]", "its scale in values is not one number", 0, ZERO_FOLLOWS},
	};
	(void)state;
	for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
		char text[400];
		bool words = i % 2; // hashes as texts
		snprintf(text, sizeof text, "{\"configs\": {\"op\": {\"" CLASS_CONV "_output_0\": {\"bit_width\": 8, \"state\": \"ACTIVATED\", %s, "
		    "\"hash\": %s, \"dominator\": %s}}}, \"values\": {\"5\": {%s}}}", row[i].range, words ? "\"5\"" : "5", words ? "\"5\"" : "5",
		    row[i].value);
		struct study *st = case_open(MODEL, NULL, row[i].target);
		struct import_report r = take(st, file(text));
		assert_true(scale(st, CLASS_CONV) == row[i].scale);
		assert_int_equal(zero_point(st, CLASS_CONV), row[i].zero);
		assert_int_equal(r.n_notes, *row[i].note != '\0');
		assert_note(&r, row[i].note);
		import_report_done(&r);
		study_close(&st);
	}
}
