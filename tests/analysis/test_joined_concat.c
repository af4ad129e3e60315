// Two tensors that a Concat puts on one step, with weights behind it: the edit that is offered mends it, also where the
// target has no 16 bit, and takes about as much as is said.
#include <math.h>
#include "../engine/onnx_case.h"
#include "qtui/analysis/findings.h"
#include "studies.h"

enum { N = 8 };

// [x u, x v] and what reads them: the first part is 200 times as far, and the weights behind it as much smaller.
static const char *joined(void)
{
	static struct onnx_case c;
	static float u[N * N], v[N * N], w[2 * N * N];
	for (int i = 0; i < N * N; i++) {
		u[i] = 200 * sinf((float)(7 * i + 1));
		v[i] = cosf((float)(5 * i + 2));
	}
	for (int i = 0; i < 2 * N * N; i++)
		w[i] = sinf((float)(3 * i + 1)) * (i < N * N ? 1.0f / 200 : 1);
	case_init(&c);
	case_input(&c, "x", FLOAT, DIMS(16, N));
	case_floats(&c, "u", DIMS(N, N), u);
	case_floats(&c, "v", DIMS(N, N), v);
	case_floats(&c, "w", DIMS(2 * N, N), w);
	case_node(&c, "MatMul", "far", "x u", "a");
	case_node(&c, "MatMul", "near", "x v", "b");
	case_attr_int(&c, case_node(&c, "Concat", "join", "a b", "ab"), "axis", -1);
	case_node(&c, "MatMul", "behind", "ab w", "y");
	case_output(&c, c.graph, "y");
	return case_finish(&c, "joined.onnx");
}

static void expect_mended(const char *target, const char *edit)
{
	struct error err = {0};
	struct study *st = open_for_test((struct study_options){
	    .model = joined(), .target = target, .method = CALIB_MINMAX, .data = {.random = 8}, .threads = 1});
	struct snapshot *before = run_study(st);
	const struct finding *f = NULL;
	for (int i = 0; i < before->findings->n && !f; i++)
		if (before->findings->at[i].rule == FINDING_joined_ranges)
			f = &before->findings->at[i];
	assert_non_null(f);
	assert_string_equal(f->edit, edit);
	assert_int_equal(study_command(st, f->edit, &err), STATUS_OK);
	struct snapshot *after = run_study(st);
	double taken = 1 - after->output[0].pooled.nsr / before->output[0].pooled.nsr;
	if (!(taken > 0.8 && f->reach > 0.8))
		fail_msg("%s: %s is expected to take %g and takes %g", target, f->edit, f->reach, taken);
	snapshot_drop(&after);
	snapshot_drop(&before);
	study_close(&st);
}

void test_joined_concat__the_edit_mends_it_on_every_target(void **state)
{
	expect_mended("esp32p4", "set far near join behind int16");
	expect_mended("xint8", "set join behind float");
	expect_mended("pytorch", "set join behind float");
}
