// Tables of scales and ranges of other tools as edits: encodings, caches, calibration tables.
#include <math.h>
#include "import_case.h"
#include "engine/onnx_case.h"

// Tables that hold a scale for every tensor: all that were calculated by one calibrator hold under another.
static void assert_scales_hold(const char *format)
{
	struct study *st = case_open(MODEL, CALIB, "esp32p4"), *again = case_open(MODEL, CALIB, "esp32p4");
	struct error err = {0};
	assert_int_equal(study_set_method(again, CALIB_PERCENTILE, &err), STATUS_OK);
	struct str text = case_export(st, format, NULL);
	struct import_report r = take(again, support_temp_file("table", str_text(&text), text.len));
	assert_true(r.scales > 20);
	assert_int_equal(r.weights, 0); // the target's own
	assert_null(strstr(str_text(&r.notes), "32 bits")); // biases have the scales of input times weight
	struct str second = case_export(again, format, NULL);
	// The first line of a cache names the calibrator.
	assert_string_equal(strchr(str_text(&text), '\n'), strchr(str_text(&second), '\n'));
	import_report_done(&r);
	str_done(&text);
	str_done(&second);
	study_close(&again);
	study_close(&st);
}

void test_import_encodings__a_table_of_scales_holds_under_another_calibrator(void **state)
{
	assert_scales_hold("aimet");
	assert_scales_hold("tensorrt-cache");
}

// The scale of a tensor behind a fused operator stands at the operator's owner.
void test_import_encodings__a_table_gives_the_scale_behind_a_relu_once(void **state)
{
	const char *model = support_data("misc/face_detection_front_128x128_barracuda.onnx");
	if (!model)
		skip();
	struct study *st = case_open(model, NULL, "xquant"), *again = case_open(model, NULL, "xquant");
	(void)state;
	struct str text = case_export(st, "aimet", NULL);
	struct import_report r = take(again, support_temp_file("encodings", str_text(&text), text.len));
	assert_true(r.scales > 20);
	assert_null(strstr(str_text(&r.notes), "shares the scale of tensor"));
	import_report_done(&r);
	str_done(&text);
	study_close(&again);
	study_close(&st);
}

// Of tensors that share a scale only the one that rules it can be given one:
// the others are named where they would have another.
void test_import_encodings__a_table_gives_a_shared_scale_once(void **state)
{
	for (int other = 0; other < 2; other++) {
		char text[256];
		snprintf(text, sizeof text,
		    "{\"act_quant_info\": {\"/model.7/cv1/act/Mul_output_0\": 7.9375, \"/model.7/m/MaxPool_output_0\": %s}}",
		    other ? "15.875" : "7.9375");
		struct study *st = bare();
		struct import_report r = take(st, file(text));
		assert_int_equal(r.scales, 1);
		assert_true(scale(st, "/model.7/cv1/act/Mul") == 0.0625);
		assert_int_equal(r.n_notes, other);
		assert_has(&r.notes, other ? "/model.7/m/MaxPool: its output shares the scale of tensor /model.7/cv1/act/Mul_output_0" : "");
		import_report_done(&r);
		study_close(&st);
	}
}

void test_import_encodings__encodings_of_each_version(void **state)
{
	static const char *const text[] = {
	    "{\"version\": \"0.6.1\", \"activation_encodings\": {\"" STEM_OUT "\": [{\"bitwidth\": 16, \"dtype\": \"int\", "
	    "\"is_symmetric\": \"True\", \"scale\": 0.5}]}}",
	    "{\"version\": \"1.0.0\", \"activation_encodings\": [{\"name\": \"" STEM_OUT "\", \"bw\": 16, \"dtype\": \"INT\", \"is_sym\": true, "
	    "\"scale\": [0.5]}]}",
	    "{\"version\": \"2.0.0\", \"encodings\": [{\"name\": \"" STEM_OUT "\", \"output_dtype\": \"int16\", \"y_scale\": 0.5}]}",
	};
	for (size_t i = 0; i < sizeof text / sizeof *text; i++) {
		struct study *st = bare();
		struct import_report r = take(st, file(text[i]));
		assert_int_equal(precision(st, STEM), PREC_INT16);
		assert_true(scale(st, STEM) == 0.5);
		assert_int_equal(r.n_notes, 0);
		import_report_done(&r);
		study_close(&st);
	}
}

// AIMET exports symmetric activations without a sign, and calls symmetric what has no negative values too.
void test_import_encodings__encodings_are_symmetric_about_the_middle_code(void **state)
{
	static const struct {
		const char *text;
		bool taken;
	} row[] = {
	    {"{\"encodings\": [{\"name\": \"" STEM_OUT "\", \"output_dtype\": \"uint8\", \"y_scale\": 0.5, \"y_zero_point\": 128}]}", true},
	    {"{\"encodings\": [{\"name\": \"" STEM_OUT "\", \"output_dtype\": \"uint8\", \"y_scale\": 0.5, \"y_zero_point\": 3}]}", false},
	    {"{\"encodings\": [{\"name\": \"" STEM_OUT "\", \"output_dtype\": \"uint8\", \"y_scale\": 0.5}]}", false},
	    {"{\"activation_encodings\": [{\"name\": \"" STEM_OUT "\", \"bw\": 8, \"is_sym\": true, \"offset\": [0], \"scale\": [0.5]}]}",
	        false},
	    {"{\"activation_encodings\": [{\"name\": \"" STEM_OUT "\", \"bw\": 8, \"is_sym\": false, \"offset\": [-128], \"scale\": [0.5]}]}",
	        true},
	    {"{\"activation_encodings\": {\"" STEM_OUT "\": [{\"bitwidth\": 8, \"is_symmetric\": \"True\", \"offset\": -127, \"scale\": 0.5}]}}",
	        true},
	    {"{\"activation_encodings\": {\"" STEM_OUT "\": [{\"bitwidth\": 8, \"is_symmetric\": \"True\", \"offset\": 0, \"scale\": 0.5}]}}",
	        false},
	};
	for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
		struct study *st = bare();
		struct import_report r = take(st, file(row[i].text));
		assert_true(scale(st, STEM) == (row[i].taken ? 0.5 : 0));
		assert_int_equal(r.n_notes, !row[i].taken);
		import_report_done(&r);
		study_close(&st);
	}
}

static double scale_of_tensor(const struct study *st, const char *tensor)
{
	return study_edits(st)->scale[graph_find_value(study_graph(st), tensor)];
}

// What PPQ writes for PPL has codes for zero points, of signed and of unsigned grids.
void test_import_encodings__quantizers_for_ppl(void **state)
{
	static const struct {
		const char *target, *text;
		float scale;
		int zero, notes;
	} row[] = {
	    {"esp32p4", "{\"bit_width\": 8, \"scale\": 0.5, \"zero_point\": 0, \"q_min\": -128, \"q_max\": 127}", 0.5f, ZERO_FOLLOWS, 0},
	    {"esp32p4", "{\"bit_width\": 8, \"scale\": 0.5, \"zero_point\": 128, \"q_min\": 0, \"q_max\": 255}", 0.5f, ZERO_FOLLOWS, 0},
	    {"esp32p4", "{\"bit_width\": 8, \"scale\": 0.5, \"zero_point\": 3, \"q_min\": 0, \"q_max\": 255}", 0, ZERO_FOLLOWS, 1},
	    {"onnxruntime", "{\"bit_width\": 8, \"scale\": 0.5, \"zero_point\": -125, \"q_min\": -128, \"q_max\": 127}", 0.5f, 3, 0},
	    {"onnxruntime", "{\"bit_width\": 8, \"scale\": [0.5, 0.25], \"zero_point\": [0, 0], \"q_min\": -128}", 0, ZERO_FOLLOWS, 1},
	    {"onnxruntime", "7", 0, ZERO_FOLLOWS, 1},
	};
	for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
		char text[256];
		snprintf(text, sizeof text, "{\"quant_info\": {\"" STEM_OUT "\": %s}, \"op_info\": {}}", row[i].text);
		struct study *st = case_open(MODEL, NULL, row[i].target);
		struct import_report r = take(st, file(text));
		int v = graph_find_value(study_graph(st), STEM_OUT);
		assert_string_equal(r.format, "PPQ's quantizers for PPL");
		assert_true(scale(st, STEM) == (double)row[i].scale);
		assert_int_equal(study_edits(st)->zero[v], row[i].scale > 0 ? row[i].zero : study_edits(st)->zero[v]);
		assert_int_equal(r.n_notes, row[i].notes);
		import_report_done(&r);
		study_close(&st);
	}
}

// Where files name tensors, the scale of a second output is taken over and written again.
void test_import_encodings__the_scale_of_a_second_output_comes_back(void **state)
{
	static const char *const format[] = {"onnxruntime", "aimet", "tensorrt-cache", "tpu-mlir-cali-table"};
	for (size_t i = 0; i < sizeof format / sizeof *format; i++) {
		struct study *st = case_open(MODEL, CALIB, "xint8"), *again = case_open(MODEL, NULL, "xint8");
		case_scale(st, SECOND, 0x1p-5);
		struct str text = case_export(st, format[i], NULL);
		struct import_report r = take(again, support_temp_file("import", str_text(&text), text.len));
		assert_true(scale_of_tensor(again, SECOND) == 0x1p-5);
		assert_true(scale(again, SPLIT) != 0x1p-5);
		assert_null(strstr(str_text(&r.notes), SECOND));
		import_report_done(&r);
		str_done(&text);
		study_close(&again);
		study_close(&st);
	}
}

// A target that gives it the scale of another tensor says whose; a node has the width of its first output.
void test_import_encodings__what_a_second_output_cannot_have_is_said(void **state)
{
	struct study *st = bare(), *wide = case_open(MODEL, NULL, "xint8");
	struct import_report r = take(st, file("{\"act_quant_info\": {\"" SECOND "\": 127}}"));
	assert_int_equal(r.scales, 0);
	assert_non_null(strstr(str_text(&r.notes), SPLIT ": its output " SECOND " shares the scale of tensor "));
	import_report_done(&r);
	r = take(wide, file("{\"version\": \"1.0.0\", \"activation_encodings\": [{\"name\": \"" SECOND "\", \"bw\": 16, "
	    "\"dtype\": \"INT\", \"is_sym\": true, \"scale\": [0.25]}]}"));
	assert_int_equal(precision(wide, SPLIT), -1);
	assert_true(scale_of_tensor(wide, SECOND) == 0); // a scale of 16 bits
	const char *said = SECOND ": int16, but a node has one width, and that of " SPLIT " is int8";
	assert_non_null(strstr(str_text(&r.notes), said));
	import_report_done(&r);
	study_close(&wide);
	study_close(&st);
}

// A scale with a zero point, or of which nobody says that it has none, cannot be fixed here.
void test_import_encodings__encodings_that_are_not_symmetric(void **state)
{
	static const char *const text[] = {
	    "{\"encodings\": [{\"name\": \"" STEM_OUT "\", \"output_dtype\": \"int16\", \"y_scale\": 0.5, \"y_zero_point\": 3}]}",
	    "{\"encodings\": [{\"name\": \"" STEM_OUT "\", \"output_dtype\": \"uint16\", \"y_scale\": 0.5}]}",
	    "{\"activation_encodings\": [{\"name\": \"" STEM_OUT "\", \"bw\": 16, \"dtype\": \"INT\", \"scale\": [0.5]}]}",
	    "{\"activation_encodings\": {\"" STEM_OUT
	    "\": [{\"bitwidth\": 16, \"dtype\": \"int\", \"is_symmetric\": \"False\", \"scale\": 0.5}]}}",
	};
	for (size_t i = 0; i < sizeof text / sizeof *text; i++) {
		struct study *st = bare();
		struct import_report r = take(st, file(text[i]));
		assert_int_equal(precision(st, STEM), PREC_INT16);
		assert_true(scale(st, STEM) == 0);
		assert_has(&r.notes, STEM_OUT ": a scale with a zero point cannot be fixed here: target esp32p4 has none");
		import_report_done(&r);
		study_close(&st);
	}
}

// A target with zero points can take its scale, as from other tools' files.
void test_import_encodings__encodings_with_zero_points(void **state)
{
	struct study *st = case_open(MODEL, CALIB, "onnxruntime"), *again = case_open(MODEL, CALIB, "onnxruntime");
	(void)state;
	case_scale(st, CLASS_CONV, 0.0625);
	struct str text = case_export(st, "aimet", NULL);
	struct import_report r = take(again, support_temp_file("encodings", str_text(&text), text.len));
	assert_true(scale(again, CLASS_CONV) == 0.0625);
	struct snapshot *s = study_snapshot(st);
	const struct node_row *row = &s->row[node(st, CLASS_CONV)];
	for (int i = row->first_site; i < row->first_site + row->n_sites; i++)
		if (s->site[i].kind == SITE_OUTPUT)
			assert_int_equal(zero_point(again, CLASS_CONV), s->site[i].zero[0]);
	snapshot_drop(&s);
	assert_null(strstr(str_text(&r.notes), "zero point"));
	import_report_done(&r);
	str_done(&text);
	study_close(&again);
	study_close(&st);
}

void test_import_encodings__encodings_in_float(void **state)
{
	static const char *const text[] = {
	    "{\"encodings\": [{\"name\": \"" STEM_OUT "\", \"output_dtype\": \"float16\"}]}",
	    "{\"activation_encodings\": [{\"name\": \"" STEM_OUT "\", \"dtype\": \"FLOAT\", \"bw\": 16}]}",
	    "{\"activation_encodings\": {}, \"excluded_layers\": [\"" STEM "\"]}",
	};
	for (size_t i = 0; i < sizeof text / sizeof *text; i++) {
		struct study *st = bare();
		struct import_report r = take(st, file(text[i]));
		assert_int_equal(precision(st, STEM), PREC_FLOAT);
		assert_int_equal(r.n_notes, 0);
		import_report_done(&r);
		study_close(&st);
	}
}

// A line of a cache with more than its eight digits is another tool's mistake: no half of it is taken.
void test_import_encodings__a_cache_s_broken_lines(void **state)
{
	struct study *st = bare();
	struct import_report r =
	    take(st, file("TRT-8601-EntropyCalibration2\n" STEM_OUT ": 3d800000 3d000000\n" CLASS_CONV "_output_0: 3d800000 \r\n"));
	assert_true(scale(st, STEM) == 0 && scale(st, CLASS_CONV) == 0.0625);
	assert_int_equal(r.n_notes, 1);
	import_report_done(&r);
	study_close(&st);
}

// What ONNX Runtime writes for its TensorRT provider: the largest magnitude of each tensor.
void test_import_encodings__a_cache_of_ranges(void **state)
{
	static const char text[] = STEM_OUT " 7.9375\r\n" CLASS_CONV "_output_0 25.4\nnothing 1e3\n\n";
	static const char *const target[] = {"esp32p4", "tensorrt", "onnxruntime"};
	for (size_t i = 0; i < sizeof target / sizeof *target; i++) {
		struct study *st = case_open(MODEL, NULL, target[i]);
		struct import_report r = take(st, support_temp_file("calibration.cache", text, strlen(text)));
		assert_string_equal(r.format, "ONNX Runtime calibration cache");
		assert_true(scale(st, STEM) == (i == 0 ? 0.0625 : 0)); // fused with its Swish on the second
		assert_true(scale(st, CLASS_CONV) == (i == 1 ? (float)(25.4 / 127) : 0)); // no power of two
		assert_has(&r.notes, "nothing: the model has no tensor of this name");
		assert_int_equal(r.n_notes, i < 2 ? 2 : 3);
		import_report_done(&r);
		study_close(&st);
	}
	assert_refused("version: 1\nname: 2\n", "not a file of esp-ppq");
	assert_refused("a 1\nb\n", "import.json");
}

// The ranges of ONNX Runtime's calibrators, as the tool wrote them first and as it does now.
void test_import_encodings__ranges_of_calibrators(void **state)
{
#define ARRAY(...) "{\"data\": " #__VA_ARGS__ ", \"dtype\": \"float32\", \"CLS\": \"numpy.array\"}"
	static const char *const text[] = {
	    "{\"" STEM_OUT "\": [-2.55, 5.1], \"" CLASS_CONV "_output_0\": [-25.5, 0.0], \"nothing\": [0, 1]}",
	    "{\"CLS\": \"TensorsData\", \"calibration_method\": {\"CLS\": \"CalibrationMethod\", \"value\": \"CalibrationMethod.MinMax\"},"
	    " \"data\": {\"" STEM_OUT "\": {\"CLS\": \"TensorData\", \"lowest\": " ARRAY(-2.55) ", \"highest\": " ARRAY([5.1]) "},"
	    " \"" CLASS_CONV "_output_0\": {\"CLS\": \"TensorData\", \"lowest\": " ARRAY([[-25.5]]) ", \"highest\": " ARRAY(0) "},"
	    " \"nothing\": {\"CLS\": \"TensorData\", \"lowest\": " ARRAY(0) ", \"highest\": " ARRAY(1) "}}}",
	};
	for (size_t i = 0; i < sizeof text / sizeof *text; i++) {
		struct study *st = case_open(MODEL, NULL, "onnxruntime");
		struct import_report r = take(st, file(text[i]));
		assert_string_equal(r.format, "ONNX Runtime calibration.json");
		assert_true(fabs(scale(st, STEM) - 7.65 / 255) < 1e-8 && fabs(scale(st, CLASS_CONV) - 25.5 / 255) < 1e-8);
		assert_int_equal(study_edits(st)->zero[graph_output(study_graph(st), graph_find_node(study_graph(st), CLASS_CONV))], 255);
		assert_has(&r.notes, "nothing: the model has no tensor of this name");
		assert_int_equal(r.n_notes, 1);
		import_report_done(&r);
		study_close(&st);
	}
	struct study *st = case_open(MODEL, NULL, "esp32p4");
	struct import_report r = take(st, file(text[0]));
	assert_true(scale(st, CLASS_CONV) == 0.25); // of 25.5 / 127, as min-max calibration rounds it
	import_report_done(&r);
	study_close(&st);
	st = case_open(MODEL, NULL, "onnxruntime");
	r = take(st, file("{\"" STEM_OUT "\": {\"CLS\": \"TensorData\", \"lowest\": " ARRAY([1, 2]) ", \"highest\": 3},"
	    " \"" CLASS_CONV "_output_0\": [3, 2]}"));
	assert_has(&r.notes, STEM_OUT ": nan to 3 is no range");
	assert_has(&r.notes, CLASS_CONV "_output_0: 3 to 2 is no range");
	assert_int_equal(r.n_notes, 2);
	import_report_done(&r);
	study_close(&st);
	assert_refused("{\"a\": [1, 2], \"b\": [1]}", "not a file of esp-ppq");
	assert_refused("{\"a\": [\"x\", \"y\"]}", "not a file of esp-ppq");
	assert_refused("{}", "not a file of esp-ppq");
#undef ARRAY
}

// On a target with zero points, that of a weight may be the code below the middle, which AIMET has as the middle of symmetric ones.
void test_import_encodings__a_weight_with_zero_one_below_the_middle(void **state)
{
	static const float w[16] = {-1, 1.0079f, 0.5f, -0.25f};
	struct onnx_case c;
	(void)state;
	case_init(&c);
	case_input(&c, "x", FLOAT, DIMS(1, 4, 6, 6));
	case_floats(&c, "w", DIMS(4, 4, 1, 1), w);
	case_node(&c, "Conv", "conv", "x w", "middle");
	case_node(&c, "Conv", "end", "middle w", "y");
	case_output(&c, c.graph, "y");
	const char *path = case_save(&c, "asymmetric.onnx");
	case_done(&c);
	struct study *st = case_open(path, NULL, "qnn");
	cJSON *j = case_export_json(st, "aimet", NULL);
	const cJSON *e = encoding_of(case_at(j, "param_encodings"), "w");
	assert_true(cJSON_GetArrayItem(case_at(e, "offset"), 0)->valuedouble == -127);
	char *text = cJSON_PrintUnformatted(j);
	struct import_report r = take(st, file(text));
	assert_int_equal(r.weights, 0); // the model's own, to the code
	import_report_done(&r);
	cJSON_free(text);
	cJSON_Delete(j);
	study_close(&st);
}
