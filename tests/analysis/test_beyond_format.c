// Casts to floats of 16 bits make infinity of large numbers: what is said of it, and that the edit mends it.
#include <math.h>
#include <string.h>
#include "../../src/analysis/study/study_impl.h"
#include "../engine/onnx_case.h"
#include "qtui/analysis/findings.h"
#include "qtui/base/log.h"
#include "studies.h"

static const float weights[64] = {1, -2, 3, 0.5f, -1, 2, 0.25f, 1, -3, 1, 0.125f, 2};

// Attention as transformers write it: what is not to be seen gets (1 - mask) * the lowest float.
static void build_masked(struct onnx_case *c)
{
	case_init(c);
	case_input(c, "x", FLOAT, DIMS(4, 8));
	case_floats(c, "limit", DIMS(1), (const float[]){0.2f});
	case_floats(c, "one", DIMS(1), (const float[]){1});
	case_floats(c, "lowest", DIMS(1), (const float[]){-3.4028235e38f});
	case_floats(c, "w", DIMS(8, 8), weights);
	case_node(c, "Greater", "greater", "x limit", "seen");
	case_attr_int(c, case_node(c, "Cast", "cast", "seen", "mask"), "to", FLOAT);
	case_node(c, "Sub", "invert", "one mask", "unseen");
	case_node(c, "Mul", "mask", "unseen lowest", "added");
	case_node(c, "Add", "add", "x added", "logits");
	case_attr_int(c, case_node(c, "Softmax", "softmax", "logits", "shares"), "axis", -1);
	case_node(c, "MatMul", "matmul", "shares w", "y");
	case_output(c, c->graph, "y");
}

// No constant is too large, but the product is.
static void build_product(struct onnx_case *c)
{
	case_init(c);
	case_input(c, "x", FLOAT, DIMS(4, 8));
	case_floats(c, "thousand", DIMS(1), (const float[]){1000});
	case_floats(c, "small", DIMS(1), (const float[]){0.001f});
	case_node(c, "Mul", "up", "x thousand", "a");
	case_node(c, "Mul", "higher", "a thousand", "b");
	case_node(c, "Mul", "down", "b small", "d");
	case_node(c, "Mul", "lower", "d small", "y");
	case_output(c, c->graph, "y");
}

static const struct finding *beyond(const struct snapshot *s)
{
	for (int i = 0; i < s->findings->n; i++)
		if (s->findings->at[i].rule == FINDING_beyond_format)
			return &s->findings->at[i];
	return NULL;
}

static void check_mended(struct onnx_case *c, const char *target, const char *edit, const char *text, const char *said)
{
	struct error err = {0};
	char line[400];
	struct study *st = open_for_test(
	    (struct study_options){.model = case_save(c, "beyond.onnx"), .target = target, .data = {.random = 8}, .threads = 1});
	struct snapshot *s = run_study(st);
	assert_true(isnan(figures_snr(&s->output[0])));
	const struct finding *f = beyond(s);
	assert_non_null(f);
	assert_string_equal(f->edit, edit);
	if (!strstr(f->text, text))
		fail_msg("%s", f->text);
	assert_true(log_line(support_log_count() - 1, line, sizeof line) == LOG_WARN);
	if (!strstr(line, said))
		fail_msg("%s", line);
	assert_int_equal(study_command(st, edit, &err), STATUS_OK);
	snapshot_drop(&s);
	s = run_study(st);
	assert_null(beyond(s));
	assert_true(figures_snr(&s->output[0]) > 30);
	snapshot_drop(&s);
	study_close(&st);
	case_done(c);
}

void test_beyond_format__a_mask_in_float_is_finite(void **state)
{
	static const char *const targets[] = {"fp16", "bf16"}, *const formats[] = {"infinity in float16", "infinity in bfloat16"};
	for (int i = 0; i < 2; i++) {
		struct onnx_case c;
		build_masked(&c);
		check_mended(&c, targets[i], "set mask float", formats[i],
		    "tensor added is the first with NaN, in sample random#0: node mask (Mul) reads or makes numbers larger");
	}
}

void test_beyond_format__what_is_computed_and_who_reads_it(void **state)
{
	struct onnx_case c;
	build_product(&c);
	check_mended(&c, "fp16", "set higher down float", "b reaches", "tensor b is the first with infinite numbers");
}

// What a mask hides may be infinite: the softmax takes that, and no output shows it.
void test_beyond_format__infinity_that_does_no_harm_is_not_said(void **state)
{
	struct onnx_case c;
	case_init(&c);
	case_input(&c, "x", FLOAT, DIMS(4, 8));
	case_floats(&c, "limit", DIMS(1), (const float[]){0.2f});
	case_floats(&c, "lowest", DIMS(1), (const float[]){-3.4028235e38f});
	case_node(&c, "Greater", "greater", "x limit", "seen");
	case_node(&c, "Where", "where", "seen x lowest", "logits");
	case_attr_int(&c, case_node(&c, "Softmax", "softmax", "logits", "y"), "axis", -1);
	case_output(&c, c.graph, "y");
	struct study *st = open_for_test(
	    (struct study_options){.model = case_save(&c, "where.onnx"), .target = "fp16", .data = {.random = 8}, .threads = 1});
	struct snapshot *s = run_study(st);
	assert_null(beyond(s));
	assert_true(figures_snr(&s->output[0]) > 30);
	snapshot_drop(&s);
	study_close(&st);
	case_done(&c);
}

// Casts have no ranges that more samples would change.
void test_beyond_format__casts_ask_for_no_more_samples(void **state)
{
	static const char *const targets[] = {"fp16", "esp32p4"};
	for (int i = 0; i < 2; i++) {
		struct study *st = open_for_test((struct study_options){.model = "examples/digits.onnx", .calib = "examples/calib",
		    .target = targets[i], .method = -1, .data = {.samples = 2}, .threads = 2});
		struct snapshot *s = run_study(st);
		bool few = false;
		for (int k = 0; k < s->findings->n; k++)
			few |= s->findings->at[k].rule == FINDING_few_samples;
		assert_int_equal(few, i == 1);
		snapshot_drop(&s);
		study_close(&st);
	}
}
