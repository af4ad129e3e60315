// A small term on the step of a sum: it is lost, and the sum hardly loses by it.
#include <string.h>
#include "../engine/onnx_case.h"
#include "qtui/analysis/findings.h"
#include "studies.h"

static const float weights[64] = {1, -2, 3, 0.5f, -1, 2, 0.25f, 1, -3, 1, 0.125f, 2, [20] = 1, [30] = -2, [40] = 1, [50] = 2, [60] = 1};

// 300 (x w) + Sigmoid(x w), which esp-ppq's alignment puts on one scale.
static struct study *open_sum(struct onnx_case *c)
{
	case_init(c);
	case_input(c, "x", FLOAT, DIMS(64, 8));
	case_floats(c, "w", DIMS(8, 8), weights);
	case_floats(c, "many", DIMS(1), (const float[]){300});
	case_node(c, "MatMul", "matmul", "x w", "h");
	case_node(c, "Mul", "large", "h many", "a");
	case_node(c, "Sigmoid", "small", "h", "b");
	case_node(c, "Add", "sum", "a b", "y");
	case_output(c, c->graph, "y");
	return open_for_test((struct study_options){
	    .model = case_save(c, "sum.onnx"), .target = "esp32p4", .method = CALIB_MINMAX, .data = {.random = 8}, .threads = 1});
}

void test_joined_sum__takes_away_no_more_than_the_sum_loses(void **state)
{
	struct onnx_case c;
	struct study *st = open_sum(&c);
	struct snapshot *s = run_study(st);
	const struct finding *f = NULL;
	for (int i = 0; i < s->findings->n; i++)
		if (s->findings->at[i].rule == FINDING_joined_ranges)
			f = &s->findings->at[i];
	assert_non_null(f);
	assert_string_equal(s->g->node[f->node[0]].name, "sum");
	double damage = f->damage, reach = f->reach, noise = s->output[0].pooled.nsr;
	struct error err = {0};
	assert_int_equal(study_command(st, "set sum float", &err), STATUS_OK);
	snapshot_drop(&s);
	s = run_study(st);
	double taken = 1 - s->output[0].pooled.nsr / noise;
	if (!(damage < 0.01 && reach < taken + 0.1))
		fail_msg("damage %g, reach %g, and the edit takes %g away", damage, reach, taken);
	snapshot_drop(&s);
	study_close(&st);
	case_done(&c);
}
