// Scales that damage at the outputs speaks for: each is tried once in a state.
#include <math.h>
#include <string.h>
#include "../../src/analysis/repair/repair_impl.h"
#include "../engine/onnx_case.h"
#include "studies.h"

// Of two tensors most elements are small, and one that is rarely large is hardly read: both gain by a finer step.
static const char *spiked(void)
{
	enum { N = 16 };
	static struct onnx_case c;
	static float w[2][N * N], v[N * 4];
	for (int k = 0; k < 2; k++)
		for (int i = 0; i < N * N; i++)
			w[k][i] = sinf((float)(i * (7 + 4 * k) + 1)) * (i % N == 0 ? 9 + 3 * (float)k : 1) * (i / N == 0 ? 0.02f : 1);
	for (int i = 0; i < N * 4; i++)
		v[i] = cosf((float)(5 * i + 2)) * (i < 4 ? 0.001f : 1);
	case_init(&c);
	case_input(&c, "x", FLOAT, DIMS(8, N));
	case_floats(&c, "w0", DIMS(N, N), w[0]);
	case_floats(&c, "w1", DIMS(N, N), w[1]);
	case_floats(&c, "v", DIMS(N, 4), v);
	case_node(&c, "MatMul", "first", "x w0", "a");
	case_node(&c, "MatMul", "second", "a w1", "b");
	case_node(&c, "MatMul", "behind", "b v", "y");
	case_output(&c, c.graph, "y");
	return case_save(&c, "spiked.onnx");
}

struct tried {
	int n, kept;
	char *command[32]; // of the steps that were kept
};

static void note(void *arg, const struct repair_step *s)
{
	struct tried *t = arg;
	for (int i = 0; i < t->kept; i++)
		if (!strcmp(t->command[i], s->command[0]))
			fail_msg("kept, and tried again: %s", s->command[0]);
	t->n++;
	if (s->kept)
		t->command[t->kept++] = xstrdup(s->command[0]);
}

void test_remedy_scales__a_scale_that_was_kept_is_not_tried_again(void **state)
{
	struct error err = {0};
	struct repair *r = NULL;
	struct tried t = {0};
	struct study *st = open_for_test((struct study_options){.model = spiked(), .target = "onnxruntime", .method = CALIB_MINMAX,
	    .data = {.random = 8}, .threads = 1, .calibrate_only = true});
	wait_for_run(st);
	if (repair_open(&r, st, &(struct repair_options){.goal = repair_goal_default}, &err) != STATUS_OK || repair_prepare(r, &err) != STATUS_OK)
		fail_msg("%s", err.text);
	struct fixing f = {.r = r, .step = note, .arg = &t};
	assert_int_equal(remedy_scales(&f, &err), STATUS_OK);
	assert_int_equal(t.kept, 2); // the chief tensor, then the other
	for (int i = 0; i < t.kept; i++)
		free(t.command[i]);
	repair_free(&r);
	study_close(&st);
}
