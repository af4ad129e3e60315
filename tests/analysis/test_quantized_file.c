// Models that are quantized already: what is said when they are opened, and what a comparison makes of their pairs.
#include <stdio.h>
#include "../engine/onnx_case.h"
#include "studies.h"
#include "qtui/analysis/compare.h"
#include "qtui/base/json.h"
#include "qtui/base/log.h"

enum { UINT8 = ONNX__TENSOR_PROTO__DATA_TYPE__UINT8, C = 2, H = 3 };

static void begin(struct onnx_case *c)
{
	static const float w[C * C] = {1, -0.5f, -0.25f, 0.75f};
	case_init(c);
	case_input(c, "x", FLOAT, DIMS(1, C, H, H));
	case_floats(c, "w", DIMS(C, C, 1, 1), w);
}

static struct study *opened(const char *path)
{
	return open_for_test((struct study_options){.model = path, .method = -1, .threads = 1, .backend = BACKEND_REF,
	    .batch = true, .data = {.samples = 1, .random = 1}});
}

// The last warning; "" where there is none behind the first `from` lines.
static const char *warned(int from)
{
	static char text[LOG_WIDTH];
	int lines = support_log_count();
	while (lines-- > from)
		if (log_line(lines, text, sizeof text) == LOG_WARN)
			return text;
	return "";
}

// Once, when its figures are asked for: a file that is only opened, to be compared, is quantized by nobody.
void test_quantized_file__warns_when_it_is_quantized_again(void **state)
{
	struct onnx_case c;
	(void)state;
	begin(&c);
	case_pair(&c, "x", "x_dq", 0.02f, 128);
	case_node(&c, "Conv", "conv", "x_dq w", "y");
	case_output(&c, c.graph, "y");
	int lines = support_log_count();
	struct study *st = opened(case_finish(&c, "quantized.onnx"));
	assert_string_equal(warned(lines), "");
	wait_for_run(st);
	assert_non_null(strstr(warned(lines), "quantized already"));
	assert_non_null(strstr(warned(lines), "(--import THIS.onnx takes this file's scales")); // whole
	assert_non_null(strstr(warned(lines), "qtui dequantize THIS.onnx -o FLOAT.onnx"));
	assert_non_null(strstr(warned(lines), "qtui compare FLOAT.onnx THIS.onnx CALIB"));
	lines = support_log_count();
	wait_for_run(st);
	assert_string_equal(warned(lines), "");
	study_close(&st);
}

// ---- compared

static cJSON *compared(const char *a, const char *b)
{
	struct study *st = opened(a);
	struct graph *other = NULL;
	struct error err = {0};
	atomic_int samples = 0;
	atomic_bool cancelled = false;
	cJSON *j = NULL;
	if (study_load(&other, st, b, true, &err))
		fail_msg("%s", err.text);
	const struct compare_models m = {
	    .a = study_graph(st), .b = other, .d = study_dataset(st), .engine = {.backend = BACKEND_REF, .threads = 1}};
	if (compare_models(&j, &m, &samples, &cancelled, &err))
		fail_msg("%s", err.text);
	graph_free(&other);
	study_close(&st);
	return j;
}

// The rows of an array are of these tensors, in any order; " a b c ".
static void assert_rows(const cJSON *j, const char *array, const char *names)
{
	const cJSON *rows = cJSON_GetObjectItemCaseSensitive(j, array), *row;
	char name[80];
	int n = -1;
	for (const char *c = names; *c; c++)
		n += *c == ' ';
	cJSON_ArrayForEach(row, rows)
	{
		snprintf(name, sizeof name, " %s ", json_text(row, "tensor", ""));
		if (!strstr(names, name))
			fail_msg("%s: a row of%s", array, name);
	}
	assert_int_equal(cJSON_GetArraySize(rows), n);
}

// conv_y has a pair with two DequantizeLinear, and for one of their readers another pair behind it; the output a pair in front.
static const char *with_pairs(float scale)
{
	struct onnx_case c;
	char name[32];
	begin(&c);
	case_node(&c, "Conv", "conv", "x w", "conv_y");
	case_pair(&c, "conv_y", "conv_y_dq", scale, 100);
	case_node(&c, "DequantizeLinear", "", "conv_y_q conv_y_scale conv_y_zero", "conv_y_dq_1");
	case_node(&c, "Sigmoid", "sigmoid", "conv_y_dq", "sigmoid_y");
	case_node(&c, "Tanh", "tanh", "conv_y_dq_1", "tanh_y");
	case_pair(&c, "tanh_y", "tanh_y_dq", 0.01f, 128);
	case_pair(&c, "tanh_y_dq", "tanh_y_dq_1", 4 * scale, 128);
	case_node(&c, "Add", "add", "sigmoid_y tanh_y_dq_1", "y_QuantizeLinear_Input");
	case_pair(&c, "y_QuantizeLinear_Input", "y", 0.02f, 60);
	case_output(&c, c.graph, "y");
	snprintf(name, sizeof name, "pairs%g.onnx", (double)scale);
	return case_finish(&c, name);
}

// Every tensor once: in front of its pairs it is compared as behind them.
void test_quantized_file__pairs_are_rows_of_what_they_round(void **state)
{
	cJSON *j = compared(with_pairs(0.02f), with_pairs(0.05f));
	(void)state;
	assert_rows(j, "tensors", " conv_y sigmoid_y tanh_y y ");
	assert_rows(j, "outputs", " y ");
	cJSON_Delete(j);
}

// PPQ leaves the name to what is behind a pair.
void test_quantized_file__rows_go_by_the_models_names(void **state)
{
	struct onnx_case c;
	const char *path[2];
	(void)state;
	for (int i = 0; i < 2; i++) {
		begin(&c);
		case_node(&c, "Conv", "conv", "x w", "PPQ_Variable_1");
		case_pair(&c, "PPQ_Variable_1", "conv_y", i ? 0.05f : 0.02f, 100);
		case_node(&c, "Sigmoid", "sigmoid", "conv_y", "y");
		case_output(&c, c.graph, "y");
		path[i] = case_finish(&c, i ? "ppq_b.onnx" : "ppq_a.onnx");
	}
	cJSON *j = compared(path[0], path[1]);
	assert_rows(j, "tensors", " conv_y y ");
	cJSON_Delete(j);
}

// What is also read as a float, or behind a pair of its own on another grid, is another tensor.
void test_quantized_file__tensors_that_differ_are_rows_of_their_own(void **state)
{
	struct onnx_case c;
	const char *path[2];
	(void)state;
	for (int i = 0; i < 2; i++) {
		begin(&c);
		case_node(&c, "Conv", "conv", "x w", "conv_y");
		case_pair(&c, "conv_y", "conv_y_dq", i ? 0.05f : 0.02f, 100);
		case_pair(&c, "conv_y_dq", "conv_y_dq_1", 0.1f, 100);
		case_node(&c, "Sigmoid", "sigmoid", "conv_y", "s");
		case_node(&c, "Add", "add", "conv_y_dq s", "t");
		case_node(&c, "Add", "last", "t conv_y_dq_1", "y");
		case_output(&c, c.graph, "y");
		path[i] = case_finish(&c, i ? "own_b.onnx" : "own_a.onnx");
	}
	cJSON *j = compared(path[0], path[1]);
	assert_rows(j, "tensors", " conv_y conv_y_dq conv_y_dq_1 s t y ");
	cJSON_Delete(j);
}

// ---- where an activation is left out

enum { FLOATS, CODES };

// x -> Conv -> Relu -> Sigmoid -> y; of codes without the Relu, whose input or output has the name of what is quantized.
static const char *with_relu(int what, const char *tensor, const char *file)
{
	struct onnx_case c;
	begin(&c);
	if (what == CODES) {
		case_node(&c, "Conv", "conv", "x w", tensor);
		case_pair(&c, tensor, "dq", 0.01f, 0);
	} else {
		case_node(&c, "Conv", "conv", "x w", "conv_y");
		case_node(&c, "Relu", "relu", "conv_y", "relu_y");
	}
	case_node(&c, "Sigmoid", "sigmoid", what == CODES ? "dq" : "relu_y", "y");
	case_output(&c, c.graph, "y");
	return case_finish(&c, file);
}

// As qtui dequantize does it.
static const char *dequantized(const char *path)
{
	const char *out = support_temp("floats.onnx");
	struct graph *g = NULL;
	struct error err = {0};
	if (onnx_load(&g, path, &(struct onnx_options){.pairs = true, .floats = true}, &err) || onnx_save_tuned(out, g, NULL, &err))
		fail_msg("%s", err.text);
	graph_free(&g);
	return out;
}

static void assert_alike(const char *a, const char *b)
{
	cJSON *j = compared(a, b);
	const cJSON *rows = cJSON_GetObjectItemCaseSensitive(j, "tensors"), *row;
	assert_int_equal(cJSON_GetArraySize(rows), 2); // that of the activation and y
	cJSON_ArrayForEach(row, rows)
		if (!json_bool(row, "exact", false) && !(json_number(row, "snr_db", -99) > 25))
			fail_msg("%s against %s, %s: %g dB", b, a, json_text(row, "tensor", ""), json_number(row, "snr_db", -99));
	cJSON_Delete(j);
}

// Of all three files each beside each other.
void test_quantized_file__compared_behind_an_activation(void **state)
{
	static const char *const name[] = {"relu_y", "conv_y"};
	(void)state;
	for (int i = 0; i < 2; i++) {
		const char *path[] = {with_relu(FLOATS, NULL, "relu.onnx"), with_relu(CODES, name[i], "cut.onnx"), NULL};
		path[2] = dequantized(path[1]);
		for (int a = 0; a < 3; a++)
			for (int b = 0; b < 3; b++)
				if (a != b)
					assert_alike(path[a], path[b]);
	}
}
