// Import: scales go with the width of their codes, and what ends on another width than its operator gets that width.
#include "import_case.h"
#include "engine/onnx_case.h"

static void conv(struct onnx_case *c, const char *name, const char *x, const char *y)
{
	char weight[32], words[64];
	float w[16];
	for (int i = 0; i < 16; i++)
		w[i] = (float)(i * 37 % 31 - 15) / 16;
	snprintf(weight, sizeof weight, "%s.w", name);
	snprintf(words, sizeof words, "%s %s", x, weight);
	case_floats(c, weight, DIMS(4, 4, 1, 1), w);
	case_node(c, "Conv", name, words, y);
}

// Conv, Relu, Conv: the first two run as one operator where they have one width.
static const char *two_convolutions(void)
{
	static const char *path;
	struct onnx_case c;
	if (path)
		return path;
	case_init(&c);
	case_input(&c, "x", FLOAT, DIMS(1, 4, 6, 6));
	conv(&c, "first", "x", "first_y");
	case_node(&c, "Relu", "relu", "first_y", "relu_y");
	conv(&c, "second", "relu_y", "y");
	case_output(&c, c.graph, "y");
	path = case_save(&c, "two.onnx");
	case_done(&c);
	return path;
}

// Conv, Relu, MaxPool, Conv.
static const char *pooled_convolutions(void)
{
	struct onnx_case c;
	case_init(&c);
	case_input(&c, "x", FLOAT, DIMS(1, 4, 6, 6));
	conv(&c, "first", "x", "first_y");
	case_node(&c, "Relu", "relu", "first_y", "relu_y");
	case_attr_ints(&c, case_node(&c, "MaxPool", "pool", "relu_y", "pool_y"), "kernel_shape", 2, (int64_t[]){2, 2});
	conv(&c, "second", "pool_y", "y");
	case_output(&c, c.graph, "y");
	return case_finish(&c, "pooled.onnx");
}

// The study's file comes back with the same widths, scales and zero points. Closes it.
static void assert_file_comes_back(struct study *st, const char *model, const char *target, int notes)
{
	struct study *again = case_open(model, NULL, target);
	struct str file = case_export(st, "qdq", NULL);
	struct import_report r = take(again, saved(&file));
	struct snapshot *want = study_snapshot(st), *got = ran(again);
	for (int i = 0; i < want->n_rows; i++)
		assert_int_equal(got->row[i].precision, want->row[i].precision);
	assert_same_quantizers(want, got);
	if (r.n_notes != notes)
		fail_msg("%s", str_text(&r.notes));
	snapshot_drop(&want);
	snapshot_drop(&got);
	import_report_done(&r);
	str_done(&file);
	study_close(&again);
	study_close(&st);
}

// What only passes a tensor on shares its scale while that is quantized. Where it comes in float, the pool's reader has a
// scale of its own.
void test_import_widths__a_scale_behind_what_passes_floats_on(void **state)
{
	struct study *st = case_open(pooled_convolutions(), NULL, "onnxruntime");
	struct scale_edit e = {graph_find_value(study_graph(st), "pool_y"), 0.25, ZERO_FOLLOWS};
	struct error err = {0};
	(void)state;
	assert_int_equal(study_check_scale(st, &e, &err), STATUS_REFUSED);
	case_set(st, "first", PREC_FLOAT);
	case_scale(st, "pool", 0.25);
	assert_file_comes_back(st, pooled_convolutions(), "onnxruntime", 0);
}

// A Conv in float, whose Relu reads it on codes: both have a scale, where the Relu of a Conv on codes has the only one.
void test_import_widths__scales_of_parts_that_the_widths_take_apart(void **state)
{
	static const char *const format[] = {"aimet", "onnxruntime"};
	(void)state;
	for (size_t i = 0; i < sizeof format / sizeof *format; i++) {
		struct study *st = case_open(two_convolutions(), NULL, "esp32p4"), *again = case_open(two_convolutions(), NULL, "esp32p4");
		case_set(st, "first", PREC_FLOAT);
		case_scale(st, "first", 0.5);
		case_scale(st, "relu", 0.0625);
		struct str text = case_export(st, format[i], NULL);
		struct import_report r = take(again, file(str_text(&text)));
		assert_true(scale(again, "first") == 0.5 && scale(again, "relu") == 0.0625);
		struct snapshot *want = study_snapshot(st), *got = ran(again);
		assert_same_quantizers(want, got);
		snapshot_drop(&want);
		snapshot_drop(&got);
		import_report_done(&r);
		str_done(&text);
		study_close(&again);
		study_close(&st);
	}
}

// The same through pairs: a Relu that reads codes is on codes, though all that read it have the width of its pair.
void test_import_widths__pairs_of_parts_that_the_widths_take_apart(void **state)
{
	struct study *st = case_open(two_convolutions(), NULL, "esp32p4");
	(void)state;
	case_set(st, "first", PREC_FLOAT);
	case_scale(st, "first", 0.5);
	case_scale(st, "relu", 0.0625);
	assert_file_comes_back(st, two_convolutions(), "esp32p4", 0);
}

// A Relu in float behind a Conv on codes has a pair before it, and behind it that of the reader. Where another target has
// such a Relu on codes, the note names it.
void test_import_widths__an_activation_in_float_between_two_pairs(void **state)
{
	static const struct {
		const char *(*model)(void), *target;
	} row[] = {{two_convolutions, "onnxruntime"}, {pooled_convolutions, "onnxruntime"}, {two_convolutions, "tensorrt"},
	    {two_convolutions, "esp32p4"}};
	(void)state;
	for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
		struct study *st = case_open(row[i].model(), NULL, row[i].target);
		case_set(st, "relu", PREC_FLOAT);
		case_scale(st, "first", 0.125);
		assert_file_comes_back(st, row[i].model(), row[i].target, 0);
	}
	struct study *st = case_open(two_convolutions(), NULL, "onnxruntime,activation.symmetric=true"),
	             *again = case_open(two_convolutions(), NULL, "onnxruntime");
	struct str file = case_export(st, "qdq", NULL);
	struct import_report r = take(again, saved(&file));
	assert_int_equal(precision(again, "relu"), PREC_FLOAT);
	assert_true(scale(again, "first") > 0 && scale(again, "relu") > 0 && scale(again, "relu") != scale(again, "first"));
	assert_int_equal(r.n_notes, 1);
	assert_has(&r.notes, "--target NAME,activation.symmetric=true");
	import_report_done(&r);
	str_done(&file);
	study_close(&again);
	study_close(&st);
}

// What a target writes of parts at widths of their own comes back: a scale of 16 bits on a tensor of 8 would cut all off.
void test_import_widths__parts_of_an_operator_come_back(void **state)
{
	static const struct {
		const char *target;
		enum precision first, relu, second;
	} row[] = {
	    {"a8w8", PREC_INT16, PREC_INT8, PREC_INT16},
	    {"a8w8", PREC_FLOAT, PREC_INT16, PREC_INT8},
	    {"onnxruntime", PREC_FLOAT, PREC_INT16, PREC_INT8},
	    {"onnxruntime", PREC_FLOAT, PREC_FLOAT, PREC_INT16},
	    {"onnxruntime", PREC_FLOAT, PREC_FLOAT, PREC_INT8},
	    {"onnxruntime", PREC_FLOAT, PREC_INT8, PREC_INT8},
	    {"esp32p4", PREC_FLOAT, PREC_INT16, PREC_INT8},
	};
	(void)state;
	for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
		struct study *st = case_open(two_convolutions(), NULL, row[i].target), *again = case_open(two_convolutions(), NULL, row[i].target);
		const char *const name[] = {"first", "relu", "second"};
		const enum precision want[] = {row[i].first, row[i].relu, row[i].second};
		for (int k = 0; k < 3; k++)
			if (want[k] != PREC_INT8)
				case_set(st, name[k], want[k]);
		struct str model = case_export(st, "qdq", NULL);
		struct import_report r = take(again, saved(&model));
		struct snapshot *was = study_snapshot(st), *got = ran(again);
		assert_same_quantizers(was, got);
		assert_null(strstr(str_text(&r.notes), "not taken"));
		snapshot_drop(&was);
		snapshot_drop(&got);
		import_report_done(&r);
		str_done(&model);
		study_close(&again);
		study_close(&st);
	}
}

// Where the width is refused, the scale is too; one of fewer codes than the tensor has is part of its grid.
void test_import_widths__a_scale_of_more_codes_is_not_taken(void **state)
{
	static const char encoding[] = "{\"version\": \"1.0.0\", \"activation_encodings\": [{\"name\": \"" CLASS_CONV "_output_0\", \"bw\": 16, "
	    "\"dtype\": \"INT\", \"is_sym\": true, \"scale\": [0.0002], \"offset\": [-32768]}, {\"name\": \"images\", \"bw\": 8, \"dtype\": \"INT\", "
	    "\"is_sym\": true, \"scale\": [0.0625], \"offset\": [-128]}]}";
	static const char *const target[] = {"tensorrt", "qnn", "pytorch"};
	(void)state;
	for (size_t i = 0; i < sizeof target / sizeof *target; i++) {
		struct study *st = case_open(MODEL, NULL, target[i]);
		struct import_report r = take(st, file(encoding));
		assert_has(&r.notes, CLASS_CONV ": a scale of 16 bits, but it has ");
		assert_int_equal(r.scales, 1); // that of the images
		assert_true(scale(st, CLASS_CONV) == 0);
		import_report_done(&r);
		study_close(&st);
	}
	struct study *st = case_open(MODEL, NULL, "onnxruntime");
	case_set(st, STEM, PREC_INT16); // which reads the images
	struct import_report r = take(st, file(encoding));
	assert_int_equal(r.scales, 2);
	assert_int_equal(r.n_notes, 0);
	import_report_done(&r);
	study_close(&st);
}

// A scale that the study refuses, which a plan would take, or one of another width leaves those of the other tensors.
void test_import_widths__one_refused_scale_leaves_the_others(void **state)
{
	struct study *st = case_open(MODEL, NULL, "tensorrt");
	(void)state;
	struct import_report r = take(st, file("{\"act_quant_info\": {\"images\": 1e-20, \"" CLASS_CONV "_output_0\": 12.7}}"));
	assert_int_equal(r.scales, 1);
	assert_true(scale(st, CLASS_CONV) == (double)(float)(12.7 / 127));
	assert_has(&r.notes, "images: a scale is a number from 2^-60 to 2^60");
	import_report_done(&r);
	study_close(&st);
	st = case_open(MODEL, NULL, "onnxruntime");
	r = take(st, file("{\"version\": \"1.0.0\", \"excluded_layers\": [\"" CLASS_CONV "\"], \"activation_encodings\": ["
	    "{\"name\": \"" CLASS_CONV "_output_0\", \"bw\": 16, \"dtype\": \"INT\", \"scale\": [0.0002], \"offset\": [-32000]}, "
	    "{\"name\": \"images\", \"bw\": 8, \"dtype\": \"INT\", \"scale\": [0.0625], \"offset\": [-3]}]}"));
	assert_int_equal(r.scales, 1);
	assert_int_equal(precision(st, CLASS_CONV), PREC_FLOAT);
	assert_has(&r.notes, CLASS_CONV ": a scale of 16 bits, but it has 8 here");
	import_report_done(&r);
	study_close(&st);
}
