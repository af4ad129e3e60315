// What is in float between codes, from quantized files and from lists of names: also where the target has no width to tell it by.
#include "import_case.h"
#include "engine/onnx_case.h"
#include "qtui/engine/plan.h"

// x -> Conv -> Tanh -> Mul with a constant -> LeakyRelu -> GlobalAveragePool -> Flatten -> Gemm -> y; a Transpose of the product is
// joined, twice, and makes z.
static const char *chain(void)
{
	struct onnx_case c;
	float w[16], k[4] = {0.3f, 0.77f, -0.41f, 1};
	for (int i = 0; i < 16; i++)
		w[i] = (float)(i * 37 % 23 - 11) / 13;
	case_init(&c);
	case_input(&c, "x", FLOAT, DIMS(1, 4, 6, 6));
	case_floats(&c, "w", DIMS(4, 4, 1, 1), w);
	case_floats(&c, "k", DIMS(4, 1, 1), k);
	case_floats(&c, "fc", DIMS(4, 4), w);
	case_node(&c, "Conv", "conv", "x w", "conv_y");
	case_node(&c, "Tanh", "tanh", "conv_y", "tanh_y");
	case_node(&c, "Mul", "mul", "tanh_y k", "mul_y");
	case_node(&c, "LeakyRelu", "leaky", "mul_y", "leaky_y");
	case_node(&c, "GlobalAveragePool", "mean", "leaky_y", "mean_y");
	case_node(&c, "Flatten", "flatten", "mean_y", "flatten_y");
	case_node(&c, "Gemm", "gemm", "flatten_y fc", "y");
	case_attr_ints(&c, case_node(&c, "Transpose", "transpose", "mul_y", "transpose_y"), "perm", 4, (int64_t[]){0, 1, 3, 2});
	case_attr_int(&c, case_node(&c, "Concat", "concat", "transpose_y leaky_y", "concat_y"), "axis", 1);
	case_node(&c, "Sigmoid", "sigmoid", "concat_y", "z");
	case_output(&c, c.graph, "y");
	case_output(&c, c.graph, "z");
	const char *path = case_save(&c, "chain.onnx");
	case_done(&c);
	return path;
}

static void set_all(struct study *st, const char *names)
{
	char copy[100], *rest = NULL;
	snprintf(copy, sizeof copy, "%s", names);
	for (char *name = strtok_r(copy, " ", &rest); name; name = strtok_r(NULL, " ", &rest))
		case_set(st, name, PREC_FLOAT);
}

// The quantizers of the files that `format` makes of each choice of nodes in float.
static void assert_floats_come_back(const char *format, const char *target, const char *names)
{
	const char *model = chain();
	struct study *st = case_open(model, NULL, target), *again = case_open(model, NULL, target);
	set_all(st, names);
	struct str text = case_export(st, format, NULL);
	struct import_report r = take(again, strcmp(format, "qdq") == 0 ? saved(&text) : file(str_text(&text)));
	struct snapshot *want = study_snapshot(st), *got = ran(again);
	if (!r.precisions)
		fail_msg("%s, %s, %s: nothing is taken", format, target, names);
	assert_same_quantizers(want, got);
	snapshot_drop(&want);
	snapshot_drop(&got);
	import_report_done(&r);
	str_done(&text);
	study_close(&st);
	study_close(&again);
}

// Of a chain in float the last node has the pair of what reads it, as it has where it is the only one: what it reads itself tells.
void test_import_floats__the_end_of_a_chain(void **state)
{
	static const char *const target[] = {"onnxruntime", "a8w8", "esp32p4", "vint8"};
	(void)state;
	for (size_t i = 0; i < sizeof target / sizeof *target; i++) {
		assert_floats_come_back("qdq", target[i], "tanh mul");
		assert_floats_come_back("qdq", target[i], "mul leaky");
		assert_floats_come_back("qdq", target[i], "mean flatten"); // which only moves
		assert_floats_come_back("qdq", target[i], "mul transpose");
	}
}

// A factor that the file leaves as it is.
void test_import_floats__a_constant_in_float(void **state)
{
	(void)state;
	assert_floats_come_back("qdq", "onnxruntime", "mul");
	assert_floats_come_back("qdq", "xint8", "mul");
}

// One of its inputs comes in float, the other on codes; or there are pairs, which others read.
void test_import_floats__half_of_a_concat(void **state)
{
	(void)state;
	assert_floats_come_back("qdq", "onnxruntime", "mul transpose concat");
	assert_floats_come_back("qdq", "a8w8", "leaky concat");
}

// The target makes one operator of a Flatten and a Gemm: weights in float outweigh the codes that the Flatten moves.
void test_import_floats__a_product_behind_what_moves(void **state)
{
	(void)state;
	assert_floats_come_back("qdq", "xquant", "gemm");
}

// Casts have no other width than float, and esp32 leaves what some operators make in float and rounds what they read.
void test_import_floats__names_where_nothing_has_a_width(void **state)
{
	static const char *const format[] = {"nncf", "tpu-mlir-qtable", "hmct", "aimet", "quark"};
	(void)state;
	for (size_t i = 0; i < sizeof format / sizeof *format; i++) {
		assert_floats_come_back(format[i], "fp16", "tanh mul");
		assert_floats_come_back(format[i], "bf16", "conv");
	}
}

// A layer that AIMET excludes has an encoding where its readers round: that is no second width, of which one is taken.
void test_import_floats__an_excluded_layer_with_an_encoding(void **state)
{
	const char *model = chain();
	struct study *st = case_open(model, NULL, "esp32p4"), *again = case_open(model, NULL, "esp32p4");
	(void)state;
	case_set(st, "mul", PREC_FLOAT);
	struct str text = case_export(st, "aimet", NULL);
	struct import_report r = take(again, file(str_text(&text)));
	struct snapshot *want = study_snapshot(st), *got = ran(again);
	assert_int_equal(precision(again, "mul"), PREC_FLOAT);
	assert_true(scale(again, "mul") > 0);
	assert_string_equal(str_text(&r.notes), "");
	assert_same_quantizers(want, got);
	snapshot_drop(&want);
	snapshot_drop(&got);
	import_report_done(&r);
	str_done(&text);
	study_close(&st);
	study_close(&again);
}

// A target of casts has the floats of 16 bits that a file speaks of anyway; others are not rounded.
void test_import_floats__halves_on_a_target_of_casts(void **state)
{
	static const struct { const char *text; int precision; } row[] = {
	    {"mul_y_Mul F16\n", -1}, {"mul_y_Mul BF16\n", -1}, {"mul_y_Mul F32\n", PREC_FLOAT}, {"--layerPrecisions=mul:fp16\n", -1},
	    {"--layerPrecisions=mul:fp32\n", PREC_FLOAT},
	    {"{\"activation_encodings\": {\"mul_y\": [{\"bitwidth\": 16, \"dtype\": \"float\"}]}}", -1},
	    {"{\"activation_encodings\": {\"mul_y\": [{\"bitwidth\": 32, \"dtype\": \"float\"}]}}", PREC_FLOAT}};
	const char *model = chain();
	(void)state;
	for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
		struct study *st = case_open(model, NULL, "fp16");
		struct import_report r = take(st, file(row[i].text));
		if (precision(st, "mul") != row[i].precision || r.n_notes)
			fail_msg("%s: %d, %s", row[i].text, precision(st, "mul"), str_text(&r.notes));
		import_report_done(&r);
		study_close(&st);
	}
}

// What is made in float and read on the scale of other tensors only, as by this Concat, can have none: the edit would be refused each
// time that the session is opened.
void test_import_floats__a_scale_that_nothing_has_by_itself(void **state)
{
	const char *model = chain();
	struct study *st = case_open(model, NULL, "esp32p4"), *again = case_open(model, NULL, "esp32p4");
	(void)state;
	set_all(st, "leaky mean flatten gemm");
	struct str text = case_export(st, "qdq", NULL);
	struct import_report r = take(again, saved(&text));
	struct snapshot *want = study_snapshot(st), *got = ran(again);
	assert_int_equal(snapshot_plan(want)->n_refused, 0);
	assert_int_equal(snapshot_plan(got)->n_refused, 0);
	assert_true(scale(again, "leaky") == 0);
	assert_has(&r.notes, "leaky: it stays in float, and those who read it have scales of other tensors");
	snapshot_drop(&want);
	snapshot_drop(&got);
	import_report_done(&r);
	str_done(&text);
	study_close(&st);
	study_close(&again);
}

// xint8 runs a HardSigmoid for a Sigmoid and multiplies means: a file that has the model's own has them in float.
void test_import_floats__what_the_target_replaces(void **state)
{
	static const char *const floats[] = {"sigmoid", "mean"};
	struct onnx_case c;
	float w[16] = {0.5f, -0.25f, 0.75f};
	(void)state;
	case_init(&c);
	case_input(&c, "x", FLOAT, DIMS(1, 4, 6, 6));
	case_floats(&c, "w", DIMS(4, 4, 1, 1), w);
	case_node(&c, "Conv", "first", "x w", "first_y");
	case_node(&c, "Sigmoid", "sigmoid", "first_y", "sigmoid_y");
	case_attr_ints(&c, case_node(&c, "AveragePool", "mean", "sigmoid_y", "mean_y"), "kernel_shape", 2, (int64_t[]){3, 3});
	case_node(&c, "Conv", "last", "mean_y w", "y");
	case_output(&c, c.graph, "y");
	const char *model = case_save(&c, "replaced.onnx");
	case_done(&c);
	for (size_t i = 0; i < sizeof floats / sizeof *floats; i++) {
		struct study *st = case_open(model, NULL, "xint8"), *again = case_open(model, NULL, "xint8");
		case_set(st, floats[i], PREC_FLOAT);
		struct str text = case_export(st, "qdq", NULL);
		struct import_report r = take(again, saved(&text));
		for (size_t k = 0; k < sizeof floats / sizeof *floats; k++)
			assert_int_equal(precision(again, floats[k]), k == i ? PREC_FLOAT : -1);
		import_report_done(&r);
		str_done(&text);
		study_close(&st);
		study_close(&again);
	}
}
