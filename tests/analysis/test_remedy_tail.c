// Behind the last weights, in float: a Softmax that gives floats already reads codes of a mask's range.
#include <math.h>
#include "../../src/analysis/repair/repair_impl.h"
#include "../engine/onnx_case.h"
#include "studies.h"

static const float weights[64] = {1, -2, 3, 0.5f, -1, 2, 0.25f, 1, -3, 1, 0.125f, 2}, mask[8] = {0, 0, 0, 0, 0, 0, 0, -10000};

static const char *masked(void)
{
	static struct onnx_case c;
	case_init(&c);
	case_input(&c, "x", FLOAT, DIMS(4, 8));
	case_floats(&c, "w", DIMS(8, 8), weights);
	case_floats(&c, "hidden", DIMS(8), mask);
	case_node(&c, "MatMul", "matmul", "x w", "logits");
	case_node(&c, "Add", "mask", "logits hidden", "masked");
	case_attr_int(&c, case_node(&c, "Softmax", "sm", "masked", "y"), "axis", -1);
	case_output(&c, c.graph, "y");
	return case_finish(&c, "masked.onnx");
}

void test_remedy_tail__a_softmax_that_reads_codes_is_none_in_float(void **state)
{
	struct error err = {0};
	struct repair *r = NULL;
	struct study *st = open_for_test(
	    (struct study_options){.model = masked(), .target = "esp32p4", .data = {.random = 8}, .threads = 1, .calibrate_only = true});
	wait_for_run(st);
	struct repair_options o = {.goal = repair_goal_default};
	if (repair_open(&r, st, &o, &err) != STATUS_OK || repair_prepare(r, &err) != STATUS_OK)
		fail_msg("%s", err.text);
	struct fixing f = {.r = r};
	double before = r->figures.damage;
	assert_int_equal(remedy_tail(&f, &err), STATUS_OK);
	assert_int_equal(r->kept, 1);
	assert_int_equal(r->now.edits->precision[graph_find_node(r->g, "mask")], PREC_FLOAT);
	assert_int_equal(r->now.edits->precision[graph_find_node(r->g, "sm")], PREC_FLOAT);
	assert_true(r->figures.damage < before / 4);
	repair_free(&r);
	study_close(&st);
}
