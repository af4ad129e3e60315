// How pictures are prepared is a decision like others: edited, undone, kept with the session, with figures of its own.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include "qtui/analysis/session.h"
#include "qtui/analysis/survey.h"
#include "qtui/base/str.h"
#include "studies.h"

static struct study *open_study(int random)
{
	return open_for_test((struct study_options){.model = "examples/digits.onnx",
	    .calib = random ? NULL : "examples/calib",
	    .target = "esp32p4",
	    .method = CALIB_MINMAX,
	    .threads = 2,
	    .memory = (size_t)512 << 20,
	    .data = {.samples = 2, .random = random},
	    .task = {.none = true}});
}

static double snr(const struct snapshot *s)
{
	return s->output[0].pooled.snr_db;
}

// The command line that opens the samples in force.
void test_prepare__as_options(void **state)
{
	struct error err = {0};
	struct study *st = open_study(0);
	struct str words = {0};
	assert_int_equal(study_command(st, "samples 3", &err), STATUS_OK);
	study_add_samples(&words, st);
	assert_string_equal(str_text(&words), "examples/calib --samples 3");
	str_clear(&words);
	assert_int_equal(study_command(st, "preprocess --color bgr --mean 127.5 --std 60,61,62 --resize crop:0.875", &err), STATUS_OK);
	study_add_samples(&words, st);
	assert_string_equal(str_text(&words), "examples/calib --samples 3 --mean 127.5 --std 60,61,62 --color bgr --resize crop:0.875");
	str_done(&words);
	study_close(&st);
}

void test_prepare__an_edit_that_is_undone_at_once(void **state)
{
	struct error err = {0};
	struct study *st = open_study(0);
	const struct dataset *first = study_dataset(st);
	struct snapshot *before = run_study(st);
	assert_int_equal(study_command(st, "preprocess --color bgr --mean 127.5 --std 60,61,62", &err), STATUS_OK);
	const struct preprocess *p = dataset_preprocess(study_dataset(st));
	assert_true(p->bgr);
	assert_float_equal(p->mean[2], 127.5, 0);
	assert_float_equal(p->std[1], 61, 0);
	struct snapshot *waiting = study_snapshot(st), *otherwise = run_study(st);
	assert_true(waiting->dirty && waiting->row[0].pending);
	assert_true(site_is_made(&otherwise->site[0]) && otherwise->site[0].before.known == 2);
	assert_int_equal(waiting->n_edits, 1);
	assert_true(snr(otherwise) != snr(before));
	assert_string_equal(study_step(st, 0), "preprocess --color bgr --mean 127.5 --std 60,61,62");

	assert_true(undoes(st));
	assert_ptr_equal(study_dataset(st), first);
	struct snapshot *again = run_study(st);
	assert_int_equal(again->computed, 0);
	assert_true(snr(again) == snr(before));
	assert_true(redoes(st));
	struct snapshot *redone = run_study(st);
	assert_int_equal(redone->computed, 0);
	assert_true(snr(redone) == snr(otherwise));
	assert_int_equal(study_command(st, "preprocess auto", &err), STATUS_OK);
	assert_ptr_equal(study_dataset(st), first);
	struct snapshot *all[] = {before, waiting, otherwise, again, redone};
	for (size_t i = 0; i < sizeof all / sizeof *all; i++)
		snapshot_drop(&all[i]);
	study_close(&st);
}

void test_prepare__what_makes_no_sense_is_refused(void **state)
{
	static const char *const bad[] = {"preprocess", "preprocess --color", "preprocess --color pink", "preprocess --std 0",
	    "preprocess --std -1", "preprocess --mean x", "preprocess --mean 1,2", "preprocess --mean 1,2,3,4,5", "preprocess --mean nan",
	    "preprocess --resize twice", "preprocess --sharpen 1"};
	struct error err = {0};
	struct study *st = open_study(0);
	int current;
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
		assert_int_equal(study_command(st, bad[i], &err), STATUS_USAGE);
	assert_int_equal(study_command(st, "preprocess auto", &err), STATUS_OK); // it is so already
	assert_int_equal(study_steps(st, &current), 0);
	for (int i = 0; i < 15; i++) {
		char text[40];
		snprintf(text, sizeof text, "preprocess --mean %d", i + 1);
		assert_int_equal(study_command(st, text, &err), STATUS_OK);
	}
	assert_int_equal(study_command(st, "preprocess --mean 99", &err), STATUS_REFUSED);
	assert_int_equal(study_command(st, "preprocess --mean 3", &err), STATUS_OK);
	study_close(&st);
	st = open_study(2);
	assert_int_equal(study_command(st, "preprocess --color bgr", &err), STATUS_REFUSED);
	study_close(&st);
}

// The session says how it was opened, and what was edited; the figures are those of the state in force.
void test_prepare__is_kept_with_the_session(void **state)
{
	struct error err = {0};
	char path[256];
	struct study *st = open_study(0);
	struct session *se = NULL;
	assert_int_equal(study_command(st, "preprocess --color bgr", &err), STATUS_OK);
	struct snapshot *first = run_study(st), *second;
	snprintf(path, sizeof path, "%s", support_temp("prepared.json"));
	assert_int_equal(session_write(st, path, NULL, &err), STATUS_OK);
	study_close(&st);

	assert_int_equal(session_read(&se, path, &err), STATUS_OK);
	struct study_options o = {.method = -1, .threads = 2, .memory = (size_t)512 << 20};
	session_options(se, &o);
	o.task.none = true;
	assert_false(o.data.pre.bgr);
	assert_int_equal(study_open(&st, &o, &err), STATUS_OK);
	assert_int_equal(session_apply(se, st, &err), STATUS_OK);
	assert_true(dataset_preprocess(study_dataset(st))->bgr);
	second = run_study(st);
	assert_int_equal(second->computed, 0);
	assert_true(fabs(snr(second) - snr(first)) < 1e-9);
	assert_true(undoes(st));
	assert_false(dataset_preprocess(study_dataset(st))->bgr);
	snapshot_drop(&first);
	snapshot_drop(&second);
	session_free(&se);
	study_close(&st);
}

// Undo of an edit that was made before the session was written finds its figures there.
void test_prepare__undo_after_a_session_computes_nothing(void **state)
{
	struct error err = {0};
	char path[256];
	struct study *st = open_study(0);
	struct session *se = NULL;
	struct snapshot *s[4] = {run_study(st)};
	assert_int_equal(study_command(st, "set /model.0/conv/Conv int16", &err), STATUS_OK);
	s[1] = run_study(st);
	assert_int_equal(study_command(st, "preprocess --color bgr", &err), STATUS_OK);
	snprintf(path, sizeof path, "%s", support_temp("undone.json"));
	assert_true(undoes(st));
	assert_int_equal(session_write(st, path, NULL, &err), STATUS_OK);
	study_close(&st);

	assert_int_equal(session_read(&se, path, &err), STATUS_OK);
	st = open_study(0);
	assert_int_equal(session_apply(se, st, &err), STATUS_OK);
	assert_true(undoes(st));
	s[2] = run_study(st);
	assert_int_equal(s[2]->computed, 0);
	assert_true(fabs(snr(s[2]) - snr(s[0])) < 1e-9);
	assert_true(redoes(st));
	s[3] = run_study(st);
	assert_int_equal(s[3]->computed, 0);
	assert_true(fabs(snr(s[3]) - snr(s[1])) < 1e-9);
	for (int i = 0; i < 4; i++)
		snapshot_drop(&s[i]);
	session_free(&se);
	study_close(&st);
}

// How many samples there are is decided likewise: with more of them the figures are those of a study that was opened with
// so many, going back computes nothing, and the session brings it back.
void test_prepare__more_samples(void **state)
{
	struct error err = {0};
	char path[256];
	struct session *se = NULL;
	struct study *st = open_study(0), *fresh = open_for_test((struct study_options){.model = "examples/digits.onnx",
	                                      .calib = "examples/calib",
	                                      .target = "esp32p4",
	                                      .method = CALIB_MINMAX,
	                                      .threads = 2,
	                                      .memory = (size_t)512 << 20,
	                                      .data = {.samples = 5},
	                                      .task = {.none = true}});
	struct snapshot *two = run_study(st), *of_five = run_study(fresh);
	assert_int_equal(study_command(st, "samples 5", &err), STATUS_OK);
	struct snapshot *five = run_study(st);
	assert_int_equal(five->samples, 5);
	assert_int_equal(five->output[0].known, 5);
	assert_true(snr(five) == snr(of_five) && snr(five) != snr(two));
	assert_int_equal(five->site[0].before.known, 0); // those of two samples say nothing of what changed
	assert_int_equal(study_command(st, "preprocess --color bgr", &err), STATUS_OK);
	assert_int_equal(dataset_count(study_dataset(st)), 5); // the one says nothing of the other
	assert_int_equal(study_command(st, "samples 2", &err), STATUS_OK);
	assert_true(dataset_count(study_dataset(st)) == 2 && dataset_preprocess(study_dataset(st))->bgr);
	assert_true(undoes(st) && undoes(st));
	snprintf(path, sizeof path, "%s", support_temp("more.json"));
	assert_int_equal(session_write(st, path, NULL, &err), STATUS_OK);
	assert_true(undoes(st));
	struct snapshot *back = run_study(st);
	assert_true(back->samples == 2 && back->computed == 0 && snr(back) == snr(two));
	study_close(&st);

	st = open_study(0);
	assert_int_equal(session_read(&se, path, &err), STATUS_OK);
	assert_int_equal(session_apply(se, st, &err), STATUS_OK);
	struct snapshot *again = run_study(st);
	assert_true(again->samples == 5 && again->computed == 0 && fabs(snr(again) - snr(five)) < 1e-9);
	struct snapshot *all[] = {two, of_five, five, back, again};
	for (size_t i = 0; i < sizeof all / sizeof *all; i++)
		snapshot_drop(&all[i]);
	session_free(&se);
	study_close(&st);
	study_close(&fresh);
}

// A study that is opened with what a step asks for has one step less: what was undone stays undone.
void test_prepare__a_step_that_changes_nothing_is_none(void **state)
{
	static const char *const command[] = {"samples 2", "set /model.0/conv/Conv int16", "set /model.1/conv/Conv int16"};
	struct error err = {0};
	struct study *st = open_study(0);
	int current;
	assert_int_equal(study_restore(st, command, 3, 2, &err), STATUS_OK);
	assert_int_equal(study_steps(st, &current), 2);
	assert_int_equal(current, 1);
	assert_string_equal(study_step(st, 0), command[1]);
	assert_true(redoes(st));
	assert_string_equal(study_step(st, 1), command[2]);
	study_close(&st);
}

void test_prepare__samples_that_make_no_sense(void **state)
{
	static const char *const bad[] = {"samples 0", "samples -3", "samples many", "samples 2.5", "samples 99999999999"};
	struct error err = {0};
	struct study *st = open_study(0);
	int current;
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
		assert_int_equal(study_command(st, bad[i], &err), STATUS_USAGE);
	assert_int_equal(study_command(st, "samples", &err), STATUS_FORMAT);
	assert_int_equal(study_command(st, "samples 2", &err), STATUS_OK); // there are so many already
	assert_int_equal(study_steps(st, &current), 0);
	assert_int_equal(study_command(st, "samples 2000000000", &err), STATUS_OK); // as many as there are
	int all = dataset_count(study_dataset(st));
	assert_true(all > 2);
	assert_int_equal(study_command(st, "samples 1000000", &err), STATUS_OK);
	assert_int_equal(study_steps(st, &current), 1);
	study_close(&st);
	st = open_study(2);
	assert_int_equal(study_command(st, "samples 3", &err), STATUS_OK); // of random numbers, too
	assert_int_equal(dataset_count(study_dataset(st)), 3);
	study_close(&st);
}

static void wait_for(struct survey_job *j, struct study *st)
{
	while (background_running(survey_job_background(j)))
		snapshot_drop(&(struct snapshot *){study_snapshot(st)});
}

void test_prepare__a_survey_in_the_background(void **state)
{
	struct error err = {0};
	struct survey_job *j = NULL;
	struct study *st = open_study(0);
	assert_int_equal(survey_job_start(&j, st, &err), STATUS_REFUSED); // nothing has run yet
	assert_null(j);
	snapshot_drop(&(struct snapshot *){run_study(st)});
	assert_int_equal(survey_job_start(&j, st, &err), STATUS_OK);
	wait_for(j, st);
	assert_null(study_survey(st));
	assert_int_equal(survey_job_end(j, &err), STATUS_OK);
	survey_job_free(&j);
	assert_non_null(study_survey(st));
	assert_false(study_survey(st)->preparation.known); // no labels
	assert_int_equal(study_command(st, "preprocess --color bgr", &err), STATUS_OK);
	assert_null(study_survey(st)); // it was of pictures that are prepared otherwise
	assert_true(undoes(st));
	assert_non_null(study_survey(st));

	assert_int_equal(survey_job_start(&j, st, &err), STATUS_OK);
	background_cancel(survey_job_background(j));
	wait_for(j, st);
	survey_job_free(&j);
	assert_int_equal(survey_job_start(&j, st, &err), STATUS_OK);
	survey_job_free(&j); // while it runs
	study_close(&st);
}

static bool is_bgr(const struct study *st)
{
	return dataset_preprocess(study_dataset(st))->bgr;
}

// A variant is a state of all decisions, that of the preparation included; in a session too.
void test_prepare__variants_carry_it(void **state)
{
	struct error err = {0};
	const char *path = support_temp("variants.json");
	struct study *st = open_study(0);
	struct session *se = NULL;
	bool made;
	assert_int_equal(study_variant(st, "opened", &made, &err), STATUS_OK);
	assert_int_equal(study_command(st, "preprocess --color bgr --mean 1,2.5,0.1", &err), STATUS_OK);
	assert_int_equal(study_variant(st, "turned", &made, &err), STATUS_OK);
	assert_true(made);
	assert_int_equal(study_variant(st, "opened", &made, &err), STATUS_OK);
	assert_false(made || is_bgr(st));
	assert_int_equal(session_write(st, path, NULL, &err), STATUS_OK);
	study_close(&st);

	st = open_study(0);
	assert_int_equal(session_read(&se, path, &err), STATUS_OK);
	assert_int_equal(session_apply(se, st, &err), STATUS_OK);
	assert_false(is_bgr(st));
	assert_int_equal(study_variant(st, "turned", &made, &err), STATUS_OK);
	assert_true(is_bgr(st));
	const struct preprocess *p = dataset_preprocess(study_dataset(st));
	assert_true(p->mean[0] == 1 && p->mean[1] == 2.5f && p->mean[2] == 0.1f);
	assert_int_equal(study_command(st, "preprocess auto", &err), STATUS_OK);
	assert_false(is_bgr(st));
	session_free(&se);
	study_close(&st);
}

// Where the session says how pictures are prepared, the guess of how it was opened is nothing to warn of.
void test_prepare__a_guess_that_is_not_in_force(void **state)
{
	static const struct {
		const char *command;
		bool undone, prepared;
	} cases[] = {{"preprocess --color bgr", false, true}, {"preprocess --color bgr", true, false}, {"set /model.0/conv/Conv int16", false, false}};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct error err = {0};
		struct study *st = open_study(0);
		struct session *se = NULL;
		struct study_options o = {.method = -1};
		const char *path = support_temp("guess.json");
		assert_int_equal(study_command(st, cases[i].command, &err), STATUS_OK);
		if (cases[i].undone)
			assert_true(undoes(st));
		assert_int_equal(session_write(st, path, NULL, &err), STATUS_OK);
		assert_int_equal(session_read(&se, path, &err), STATUS_OK);
		session_options(se, &o);
		assert_int_equal(o.data.prepared, cases[i].prepared);
		session_free(&se);
		study_close(&st);
	}
}
