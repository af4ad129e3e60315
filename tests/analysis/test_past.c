// The same decisions give the same bits, whatever was decided and measured before, in this sitting or in a session.
#include <string.h>
#include "qtui/analysis/session.h"
#include "studies.h"

#define BEFORE "/model.12/Concat_output_0"
#define MOVED "/model.12/Reshape"

static const char *const behind[] = {BEFORE};

static struct study_options options(bool truncated)
{
	struct study_options o = {.model = "examples/digits.onnx", .calib = "examples/calib", .method = -1, .threads = 1,
	    .data = {.samples = 2}, .task = {.none = true}};
	if (truncated) {
		o.truncate = behind;
		o.n_truncate = 1;
	}
	return o;
}

static struct study *fresh(bool truncated)
{
	struct study *st = open_for_test(options(truncated));
	wait_for_run(st);
	return st;
}

static void command(struct study *st, const char *text)
{
	struct error err = {0};
	if (study_command(st, text, &err) != STATUS_OK)
		fail_msg("%s", err.text);
}

static struct session *saved(const struct study *st)
{
	struct error err = {0};
	struct session *se = NULL;
	const char *path = support_temp("past.json");
	if (session_write(st, path, NULL, &err) != STATUS_OK || session_read(&se, path, &err) != STATUS_OK)
		fail_msg("%s", err.text);
	return se;
}

static struct study *reopened(struct session *se, bool truncated, const char *edit)
{
	struct error err = {0};
	struct study *st = open_for_test(options(truncated));
	if (session_apply(se, st, &err) != STATUS_OK)
		fail_msg("%s", err.text);
	if (edit)
		command(st, edit);
	wait_for_run(st);
	return st;
}

static bool same_figures(const struct figures *a, const struct figures *b)
{
	const double x[] = {a->pooled.snr_db, a->pooled.nsr, a->pooled.cosine, a->pooled.mse, a->nsr_mean, a->cosine_mean};
	const double y[] = {b->pooled.snr_db, b->pooled.nsr, b->pooled.cosine, b->pooled.mse, b->nsr_mean, b->cosine_mean};
	return a->known == b->known && memcmp(x, y, sizeof x) == 0;
}

static void same(struct study *a, struct study *b)
{
	struct snapshot *x = study_snapshot(a), *y = study_snapshot(b);
	assert_int_equal(x->n_sites, y->n_sites);
	for (int i = 0; i < x->n_sites; i++) {
		if (!same_figures(&x->site[i].graphwise, &y->site[i].graphwise) || !same_figures(&x->site[i].layerwise, &y->site[i].layerwise))
			fail_msg("%s", x->g->value[x->site[i].value].name);
	}
	for (int i = 0; i < x->n_outputs; i++)
		assert_true(same_figures(&x->output[i], &y->output[i]));
	snapshot_drop(&x);
	snapshot_drop(&y);
}

static void same_after_session(bool truncated_then, const char *edit_then, bool truncated_now, const char *edit_now)
{
	struct study *then = fresh(truncated_then), *expected = fresh(truncated_now);
	if (edit_then) {
		command(then, edit_then);
		wait_for_run(then);
	}
	if (edit_now) {
		command(expected, edit_now);
		wait_for_run(expected);
	}
	struct session *se = saved(then);
	struct study *now = reopened(se, truncated_now, edit_now);
	same(expected, now);
	session_free(&se);
	study_close(&then);
	study_close(&now);
	study_close(&expected);
}

void test_past__truncated_behind_a_session_that_was_not(void **state)
{
	same_after_session(false, NULL, true, NULL);
}

void test_past__no_longer_truncated(void **state)
{
	same_after_session(true, NULL, false, NULL);
}

void test_past__an_edit_taken_back_in_a_session(void **state)
{
	same_after_session(false, "set " MOVED " float", false, "set " MOVED " auto");
}

void test_past__set_to_float_and_back_in_one_sitting(void **state)
{
	struct study *st = fresh(false), *as_float = open_for_test(options(false)), *plain = fresh(false);
	command(as_float, "set " MOVED " float");
	wait_for_run(as_float);
	command(st, "set " MOVED " float");
	wait_for_run(st);
	same(as_float, st);
	command(as_float, "set " MOVED " auto");
	wait_for_run(as_float);
	same(plain, as_float);
	study_close(&st);
	study_close(&as_float);
	study_close(&plain);
}
