// Models that are quantized already: what is said when they are opened, and what a comparison makes of their pairs.
#include <stdio.h>
#include "../engine/onnx_case.h"
#include "studies.h"
#include "qtui/base/log.h"

enum { UINT8 = ONNX__TENSOR_PROTO__DATA_TYPE__UINT8, C = 2, H = 3 };

// FROM -> FROM_q -> `to`, on 0 .. 255 steps.
static void add_pair(struct onnx_case *c, const char *from, const char *to, float scale, uint8_t zero)
{
	char name[3][64], line[200];
	static const char *const suffix[] = {"scale", "zero", "q"};
	for (int i = 0; i < 3; i++)
		snprintf(name[i], sizeof name[i], "%s_%s", to, suffix[i]);
	case_floats(c, name[0], 0, NULL, &scale);
	Onnx__TensorProto *t = case_tensor(c, name[1], UINT8, 0, NULL);
	case_raw(c, t, &zero, 1);
	c->graph->initializer[c->graph->n_initializer++] = t;
	snprintf(line, sizeof line, "%s %s %s", from, name[0], name[1]);
	case_node(c, "QuantizeLinear", "", line, name[2]);
	snprintf(line, sizeof line, "%s %s %s", name[2], name[0], name[1]);
	case_node(c, "DequantizeLinear", "", line, to);
}

static void begin(struct onnx_case *c)
{
	static const float w[C * C] = {1, -0.5f, -0.25f, 0.75f};
	case_init(c);
	case_input(c, "x", FLOAT, DIMS(1, C, H, H));
	case_floats(c, "w", DIMS(C, C, 1, 1), w);
}

static const char *saved(struct onnx_case *c, const char *name)
{
	const char *path = case_save(c, name);
	case_done(c);
	return path;
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
	add_pair(&c, "x", "x_dq", 0.02f, 128);
	case_node(&c, "Conv", "conv", "x_dq w", "y");
	case_output(&c, c.graph, "y");
	int lines = support_log_count();
	struct study *st = opened(saved(&c, "quantized.onnx"));
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
