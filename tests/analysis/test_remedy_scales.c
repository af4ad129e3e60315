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
	return case_finish(&c, "spiked.onnx");
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

static struct repair *open_spiked(struct study **st, int samples, const char *goal)
{
	struct error err = {0};
	struct repair *r = NULL;
	struct repair_options o = {.goal = repair_goal_default};
	*st = open_for_test((struct study_options){.model = spiked(), .target = "onnxruntime", .method = CALIB_MINMAX,
	    .data = {.random = samples}, .threads = 1});
	wait_for_run(*st);
	if (goal)
		assert_int_equal(repair_goal_parse(&o.goal, goal, &err), STATUS_OK);
	if (repair_open(&r, *st, &o, &err) != STATUS_OK || repair_prepare(r, &err) != STATUS_OK)
		fail_msg("%s", err.text);
	return r;
}

void test_remedy_scales__a_scale_that_was_kept_is_not_tried_again(void **state)
{
	struct error err = {0};
	struct study *st;
	struct tried t = {0};
	struct repair *r = open_spiked(&st, 8, NULL);
	struct fixing f = {.r = r, .step = note, .arg = &t};
	assert_int_equal(remedy_scales(&f, &err), STATUS_OK);
	assert_int_equal(t.kept, 2); // the chief tensor, then the other
	for (int i = 0; i < t.kept; i++)
		free(t.command[i]);
	repair_free(&r);
	study_close(&st);
}

static void apply(void *arg, const struct repair_step *s)
{
	struct error err = {0};
	for (int i = 0; s->kept && i < s->n_commands; i++)
		assert_int_equal(study_command(arg, s->command[i], &err), STATUS_OK);
}

// Steps are judged on eight of the 40 samples: what decides about a goal are the figures that the study has then.
void test_remedy_scales__decibels_that_are_asked_for_are_those_of_all_samples(void **state)
{
	struct error err = {0};
	struct study *st;
	struct repair *r = open_spiked(&st, 40, "snr>200,wide<0");
	assert_int_equal(repair_fix(r, apply, st, &err), STATUS_OK);
	assert_true(r->kept > 0);
	struct snapshot *s = run_study(st);
	double all = snapshot_worst_output(s);
	assert_float_equal(r->run_snr_db, all, 0.05);
	r->opt.goal.min_snr = (all + r->figures.snr_db) / 2;
	assert_int_equal(repair_goal_met(r), all > r->figures.snr_db);
	assert_non_null(strstr(repair_end(r), "; over all samples the worst output has "));
	snapshot_drop(&s);
	repair_free(&r);
	study_close(&st);
}
