// Tensors that more bits do not mend go to float with what makes and reads them; those that bits mend are left to bits.
#include <math.h>
#include "../../src/analysis/repair/repair_impl.h"
#include "../engine/onnx_case.h"
#include "studies.h"

static const float weights[64] = {1, -2, 3, 0.5f, -1, 2, 0.25f, 1, -3, 1, 0.125f, 2, 1, 1, -1, 0.5f, 2, -1};

// What is behind each of both has weights: neither is post-processing.
static void begin(struct onnx_case *c)
{
	case_init(c);
	case_input(c, "x", FLOAT, DIMS(8, 8));
	case_floats(c, "w", DIMS(8, 8), weights);
	case_floats(c, "v", DIMS(8, 8), weights);
	case_node(c, "MatMul", "before", "x w", "a");
}

static void end(struct onnx_case *c)
{
	case_node(c, "MatMul", "behind", "b v", "y");
	case_output(c, c->graph, "y");
}

// A mask of -1e9 leaves the logits no code on any step that reaches it.
static const char *masked(void)
{
	static const float mask[8] = {0, 0, 0, 0, 0, 0, 0, -1e9f};
	static struct onnx_case c;
	begin(&c);
	case_floats(&c, "hidden", DIMS(8), mask);
	case_node(&c, "Add", "mask", "a hidden", "logits");
	case_attr_int(&c, case_node(&c, "Softmax", "sm", "logits", "b"), "axis", -1);
	end(&c);
	return case_finish(&c, "masked_attention.onnx");
}

// One channel that is 300 times as loud takes the codes of the others at 8 bit, and leaves them 7 bit of 16.
static const char *loud(void)
{
	static const float up[8] = {1, 1, 1, 1, 1, 1, 1, 300}, down[8] = {1, 1, 1, 1, 1, 1, 1, 1 / 300.f};
	static struct onnx_case c;
	begin(&c);
	case_floats(&c, "up.gain", DIMS(8), up);
	case_floats(&c, "down.gain", DIMS(8), down);
	case_node(&c, "Mul", "up", "a up.gain", "loud");
	case_node(&c, "Mul", "down", "loud down.gain", "b");
	end(&c);
	return case_finish(&c, "loud_channel.onnx");
}

static struct repair *open_case(struct study **st, const char *model, const char *target, const char *edit)
{
	struct error err = {0};
	struct repair *r = NULL;
	*st = open_for_test((struct study_options){.model = model, .target = target, .method = CALIB_MINMAX, .data = {.random = 8},
	    .threads = 1, .calibrate_only = true});
	wait_for_run(*st);
	if (edit) {
		assert_int_equal(study_command(*st, edit, &err), STATUS_OK);
		wait_for_run(*st);
	}
	if (repair_open(&r, *st, &(struct repair_options){.goal = repair_goal_default}, &err) != STATUS_OK || repair_prepare(r, &err) != STATUS_OK)
		fail_msg("%s", err.text);
	return r;
}

static int precision_of(const struct repair *r, const char *node)
{
	return r->now.edits->precision[graph_find_node(r->g, node)];
}

void test_remedy_float__a_mask_that_no_step_holds(void **state)
{
	static const char *const target[] = {"esp32p4", "esp32s3", "onnxruntime"}, *const edit[] = {NULL, "set mask int16"};
	for (int i = 0; i < 3 * 2; i++) {
		struct error err = {0};
		struct study *st;
		struct repair *r = open_case(&st, masked(), target[i / 2], edit[i % 2]);
		double before = r->figures.damage;
		assert_int_equal(repair_fix(r, NULL, NULL, &err), STATUS_OK);
		assert_int_equal(precision_of(r, "mask"), PREC_FLOAT);
		assert_int_equal(precision_of(r, "sm"), PREC_FLOAT);
		assert_int_equal(precision_of(r, "before"), -1);
		assert_int_equal(precision_of(r, "behind"), -1);
		if (!(r->figures.damage < before / 8))
			fail_msg("%s: damage falls from %g to %g", target[i / 2], before, r->figures.damage);
		repair_free(&r);
		study_close(&st);
	}
}

void test_remedy_float__what_bits_mend_is_left_to_them(void **state)
{
	struct error err = {0};
	struct study *st;
	struct repair *r = open_case(&st, loud(), "onnxruntime", NULL);
	struct fixing f = {.r = r};
	assert_true(r->figures.damage > 0.02);
	assert_int_equal(remedy_float(&f, &err), STATUS_OK);
	assert_int_equal(r->kept, 0);
	assert_int_equal(precision_of(r, "up"), -1);
	assert_true(f.ranked.n > 0); // the state is the same: the next remedy need not rank again
	assert_int_equal(remedy_scales(&f, &err), STATUS_OK);
	assert_null(f.ranked.at);
	repair_free(&r);
	study_close(&st);
}
