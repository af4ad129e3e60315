// Variants of the decisions: naming, going back, comparing, sessions.
#include <stdlib.h>
#include "qtui/analysis/history.h"
#include "qtui/analysis/session.h"
#include "studies.h"

#define CONV "/model.0/conv/Conv"

static struct study *open_study(void)
{
	return open_for_test((struct study_options){.model = "examples/digits.onnx", .target = "esp32p4", .method = CALIB_MINMAX, .threads = 1,
	    .backend = BACKEND_ONEDNN, .data = {.random = 1, .samples = 1}});
}

static void run(struct study *st)
{
	snapshot_drop(&(struct snapshot *){run_study(st)});
}

static void set(struct study *st, int precision)
{
	struct error err = {0};
	int n = graph_find_node(study_graph(st), CONV);
	assert_int_equal(study_set(st, &n, 1, precision, NULL, &err), STATUS_OK);
}

static bool variant(struct study *st, const char *name)
{
	struct error err = {0};
	bool made;
	if (study_variant(st, name, &made, &err) != STATUS_OK)
		fail_msg("%s", err.text);
	return made;
}

static int precision_in_force(const struct study *st)
{
	return study_edits(st)->precision[graph_find_node(study_graph(st), CONV)];
}

void test_variant__names_and_brings_back(void **state)
{
	struct study *st = open_study();
	int current;
	assert_true(variant(st, "base"));
	set(st, PREC_INT16);
	assert_true(variant(st, "wide"));
	assert_false(variant(st, "base"));
	assert_int_equal(precision_in_force(st), -1);
	assert_int_equal(study_steps(st, &current), 2); // the edit, and the way back: undone as one step
	assert_string_equal(study_step(st, 1), "variant base");
	assert_true(undoes(st));
	assert_int_equal(precision_in_force(st), PREC_INT16);
	assert_int_equal(study_variants(st), 2);
	study_close(&st);
}

void test_variant__a_target_comes_back_with_its_calibrator(void **state)
{
	struct error err = {0};
	struct study *st = open_study();
	variant(st, "esp");
	assert_int_equal(study_set_target(st, "onnxruntime", &err), STATUS_OK);
	variant(st, "esp");
	assert_string_equal(target_name(study_target(st)), "esp32p4");
	struct snapshot *s = study_snapshot(st);
	assert_int_equal(s->method, CALIB_MINMAX);
	snapshot_drop(&s);
	study_close(&st);
}

void test_variant__figures_of_variants_and_runs(void **state)
{
	struct error err = {0};
	struct run_record a, b;
	struct study *st = open_study();
	int conv = graph_find_node(study_graph(st), CONV);
	variant(st, "base");
	assert_int_equal(study_figures(&a, st, "base", &err), STATUS_NOTFOUND); // not run yet
	run(st);
	set(st, PREC_INT16);
	variant(st, "wide");
	run(st);
	assert_int_equal(study_figures(&a, st, "base", &err), STATUS_OK);
	assert_int_equal(study_figures(&b, st, "wide", &err), STATUS_OK);
	assert_int_equal(a.nodes->precision[conv], PREC_INT8);
	assert_int_equal(b.nodes->precision[conv], PREC_INT16);
	run_record_done(&a);
	run_record_done(&b);
	assert_int_equal(study_figures(&a, st, "1", &err), STATUS_OK);
	assert_int_equal(a.nodes->precision[conv], PREC_INT8);
	run_record_done(&a);
	assert_int_equal(study_figures(&a, st, "9", &err), STATUS_NOTFOUND);
	assert_int_equal(study_figures(&a, st, "nosuch", &err), STATUS_NOTFOUND);
	study_close(&st);
}

void test_variant__names_that_are_none(void **state)
{
	static const char *const bad[] = {"", "two words", "now"};
	struct error err = {0};
	struct study *st = open_study();
	bool made;
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
		assert_int_equal(study_variant(st, bad[i], &made, &err), STATUS_USAGE);
	assert_int_equal(study_variant(st, "12", &made, &err), STATUS_NOTFOUND); // a run
	study_close(&st);
}

void test_variant__lives_in_sessions(void **state)
{
	const char *path = support_temp("variant.qtui");
	struct error err = {0};
	struct session *se = NULL;
	struct study *st = open_study();
	set(st, PREC_INT16);
	variant(st, "wide");
	set(st, -1);
	variant(st, "wide");
	assert_int_equal(session_write(st, path, NULL, &err), STATUS_OK);
	study_close(&st);
	st = open_study();
	if (session_read(&se, path, &err) != STATUS_OK || session_apply(se, st, &err) != STATUS_OK)
		fail_msg("%s", err.text);
	assert_int_equal(precision_in_force(st), PREC_INT16); // its journal ends with the way back
	assert_int_equal(study_variants(st), 1);
	assert_string_equal(study_variant_name(st, 0), "wide");
	session_free(&se);
	study_close(&st);
}
