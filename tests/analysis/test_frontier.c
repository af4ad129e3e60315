// What accuracy costs: which states are kept, and that one of them taken is what it said.
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <cjson/cJSON.h>
#include "../../src/analysis/repair/repair_impl.h"
#include "../../src/analysis/study/study_impl.h"
#include "qtui/analysis/latency.h"
#include "qtui/analysis/session.h"
#include "studies.h"

static const struct graph four = {.n_nodes = 4, .n_values = 4};
static const struct frontier_basis basis = {.target = "esp32p4"};

// Adds a state that is told apart by the scale of value 0; false: it adds nothing.
static bool look(struct frontier **f, double id, double cost, double damage, double score, bool as_run)
{
	struct edits *e = edits_new(&four);
	e->scale[0] = id;
	struct frontier *more = frontier_with(*f, &(struct repair_state){.steps = (int)id,
	    .figures = {.cost = cost, .damage = damage, .score = score, .us = NAN}, .as_run = as_run, .edits = e}, &basis);
	edits_free(&e);
	if (!more)
		return false;
	frontier_drop(f);
	*f = more;
	return true;
}

static void expect(const struct frontier *f, const char *ids)
{
	char got[32] = "";
	for (int i = 0; i < f->n; i++)
		got[i] = (char)('0' + f->at[i].steps);
	assert_string_equal(got, ids);
}

void test_frontier__keeps_what_nothing_beats(void **state)
{
	struct frontier *f = NULL;
	assert_true(look(&f, 0, 1, .9, NAN, true));
	assert_true(look(&f, 1, 1.2, .3, NAN, true));
	assert_false(look(&f, 2, 1.2, .3, NAN, true)); // as good as one that is there
	assert_false(look(&f, 2, 1.3, .4, NAN, true));
	assert_true(look(&f, 3, 1.1, .5, NAN, true));
	expect(f, "031");
	assert_true(look(&f, 4, 1.05, .2, NAN, true)); // beats both
	expect(f, "04");
	assert_true(look(&f, 5, 1, .6, NAN, true)); // and what it began from, which stays
	assert_true(look(&f, 6, 1, .5, NAN, true));
	expect(f, "064");
	frontier_drop(&f);
	look(&f, 0, 1.2, .9, NAN, true);
	assert_true(look(&f, 1, 1, .5, NAN, true)); // cheaper than what it began from, which is the first all the same
	expect(f, "01");
	frontier_drop(&f);
}

// More damage and a better score beside it: nobody knows, so both are shown.
void test_frontier__the_task_has_a_say(void **state)
{
	struct frontier *f = NULL;
	look(&f, 0, 1, .9, .1, true);
	look(&f, 1, 1.1, .3, .5, true);
	assert_true(look(&f, 2, 1.1, .4, .6, true));
	expect(f, "021"); // at one cost the worst first
	assert_false(look(&f, 3, 1.1, .4, .5, true));
	assert_true(look(&f, 4, 1.1, .2, NAN, true)); // was not asked: damage alone speaks
	expect(f, "04");
	frontier_drop(&f);
}

// An estimate beats nothing that is known, and goes when the state turns out to be worse.
void test_frontier__estimates_give_way(void **state)
{
	struct frontier *f = NULL;
	look(&f, 0, 1, .9, NAN, true);
	look(&f, 1, 1.2, .3, NAN, true);
	assert_true(look(&f, 2, 1.1, .2, NAN, false));
	expect(f, "021");
	assert_false(look(&f, 2, 1.1, .1, NAN, false)); // no more is known by that
	assert_true(look(&f, 2, 1.1, .5, .7, true));
	expect(f, "021");
	assert_true(f->at[1].figures.damage == .5 && f->at[1].as_run);
	assert_false(look(&f, 2, 1.1, .1, NAN, true)); // the task had been asked
	assert_true(look(&f, 3, 1.15, .1, NAN, false));
	assert_true(look(&f, 3, 1.15, .6, NAN, true)); // beaten by 2: gone
	expect(f, "021");
	frontier_drop(&f);
}

void test_frontier__says_what_differs(void **state)
{
	struct frontier *f = NULL;
	char text[FRONTIER_CHANGES];
	look(&f, 0, 1, .9, NAN, true);
	struct edits *e = edits_new(&four);
	e->precision[1] = e->precision[2] = PREC_INT16;
	e->precision[3] = PREC_FLOAT;
	e->scale[2] = 1;
	struct frontier *more = frontier_with(f, &(struct repair_state){.figures = {.cost = 1.1}, .edits = e, .method = CALIB_KL}, &basis);
	assert_string_equal(frontier_changes(text, more, 0), "as it began");
	assert_string_equal(frontier_changes(text, more, 1), "1 float, 2 int16, 1 scale, kl");
	edits_free(&e);
	frontier_drop(&more);
	frontier_drop(&f);
}

// ---- of a search

static struct study *open_study(void)
{
	struct study *st = open_for_test((struct study_options){.model = "examples/digits.onnx", .calib = "examples/calib", .target = "esp32p4",
	    .method = CALIB_PERCENTILE, .threads = 2, .data = {.samples = 4}, .calibrate_only = true});
	wait_for_run(st);
	return st;
}

static struct repair *search(struct study *st)
{
	struct error err = {0};
	struct repair *r = NULL;
	if (repair_open(&r, st, &(struct repair_options){.samples = 2, .goal = repair_goal_default}, &err) != STATUS_OK ||
	    repair_fix(r, NULL, NULL, &err) != STATUS_OK)
		fail_msg("%s", err.text);
	return r;
}

void test_frontier__of_a_search_falls_as_cost_rises(void **state)
{
	struct study *st = open_study();
	struct repair *r = search(st);
	const struct frontier *f = repair_frontier(r);
	bool kept = false;
	assert_true(f->n >= 3);
	assert_true(f->at[0].steps == 0 && f->at[0].figures.damage == repair_begin(r)->damage);
	for (int i = 1; i < f->n; i++) {
		assert_true(f->at[i].as_run && f->at[i].steps > 0);
		assert_true(f->at[i].figures.damage < f->at[i - 1].figures.damage && f->at[i].figures.cost >= f->at[i - 1].figures.cost);
		kept |= edits_equal(f->at[i].edits, r->now.edits);
	}
	assert_true(kept);
	repair_free(&r);
	study_close(&st);
}

// Going on from the state that a repair has left does not throw away what it has seen;
// with another basis nothing of it counts.
void test_frontier__what_an_earlier_repair_has_seen_stays(void **state)
{
	struct error err = {0};
	struct study *st = open_study();
	struct repair *r = search(st);
	struct frontier *f = frontier_take(repair_frontier(r));
	repair_free(&r);
	study_set_frontier(st, f);
	assert_int_equal(frontier_apply(f, 1, st, &err), STATUS_OK);
	study_run(st);
	wait_for_run(st);
	assert_int_equal(repair_open(&r, st, &(struct repair_options){.samples = 2, .goal = repair_goal_default}, &err), STATUS_OK);
	assert_int_equal(repair_prepare(r, &err), STATUS_OK);
	const struct frontier *more = repair_frontier(r);
	assert_true(more->n >= f->n - 1);
	assert_true(more->at[0].steps == 0 && edits_equal(more->at[0].edits, f->at[1].edits));
	assert_true(edits_equal(more->at[more->n - 1].edits, f->at[f->n - 1].edits));
	assert_int_equal(more->at[more->n - 1].steps, FRONTIER_EARLIER);
	repair_free(&r);
	f->basis.boxes_and_points = true; // as of damage that was measured otherwise
	cJSON *kept = study_frontier_save(st);
	assert_int_equal(study_frontier_load(st, kept, &err), STATUS_OK);
	assert_true(study_frontier(st) != f && study_frontier(st)->basis.boxes_and_points);
	cJSON_Delete(kept);
	assert_int_equal(repair_open(&r, st, &(struct repair_options){.samples = 2, .goal = repair_goal_default}, &err), STATUS_OK);
	assert_int_equal(repair_prepare(r, &err), STATUS_OK);
	assert_int_equal(repair_frontier(r)->n, 1);
	repair_free(&r);
	f->basis.boxes_and_points = false;
	study_set_frontier(st, f);
	assert_int_equal(study_set_target(st, "esp32s3", &err), STATUS_OK);
	study_run(st);
	wait_for_run(st);
	assert_int_equal(repair_open(&r, st, &(struct repair_options){.samples = 2, .goal = repair_goal_default}, &err), STATUS_OK);
	assert_int_equal(repair_prepare(r, &err), STATUS_OK);
	assert_int_equal(repair_frontier(r)->n, 1);
	repair_free(&r);
	frontier_drop(&f);
	study_close(&st);
}

// Its commands, and the key that takes it, lead to the same edits;
// one undo gives it back, and a session brings it again.
void test_frontier__a_state_is_taken_in_one_step(void **state)
{
	struct error err = {0};
	struct study *st = open_study(), *other = open_study();
	struct repair *r = search(st);
	struct frontier *f = frontier_take(repair_frontier(r));
	int last = f->n - 1, current;
	repair_free(&r);
	cJSON *all = frontier_json(f, study_graph(st)), *command;
	cJSON_ArrayForEach(command, cJSON_GetObjectItem(cJSON_GetArrayItem(all, last), "commands"))
		assert_int_equal(study_command(other, command->valuestring, &err), STATUS_OK);
	cJSON_Delete(all);
	assert_false(frontier_is_in_force(f, last, st));
	assert_int_equal(frontier_apply(f, last, st, &err), STATUS_OK);
	assert_true(frontier_is_in_force(f, last, st) && frontier_is_in_force(f, last, other));
	study_steps(st, &current);
	assert_int_equal(current, 1);
	const char *path = support_temp("taken.json");
	struct session *se = NULL;
	assert_int_equal(session_write(st, path, NULL, &err), STATUS_OK);
	study_close(&other);
	other = open_study();
	assert_int_equal(session_read(&se, path, &err), STATUS_OK);
	assert_int_equal(session_apply(se, other, &err), STATUS_OK);
	assert_true(frontier_is_in_force(f, last, other));
	session_free(&se);
	assert_true(undoes(st));
	assert_true(frontier_is_in_force(f, 0, st));
	assert_int_equal(study_set_target(st, "xquant", &err), STATUS_OK);
	assert_false(frontier_is_in_force(f, 0, st));
	assert_int_equal(frontier_apply(f, last, st, &err), STATUS_REFUSED);
	frontier_drop(&f);
	study_close(&other);
	study_close(&st);
}

static struct study *reopened(const char *path)
{
	struct study *st = open_study();
	struct session *se = NULL;
	struct error err = {0};
	if (session_read(&se, path, &err) != STATUS_OK || session_apply(se, st, &err) != STATUS_OK)
		fail_msg("%s", err.text);
	session_free(&se);
	return st;
}

static void expect_stale(const struct study *st, const char *why)
{
	const char *got = frontier_stale(study_frontier(st), st);
	if (why)
		assert_string_equal(got ? got : "", why);
	else
		assert_null(got);
}

// But for the last bit, which a text may lose.
static bool is_as_it_was(double a, double b)
{
	return (isnan(a) && isnan(b)) || fabs(a - b) <= 1e-12 * fabs(a);
}

// All that the list says, and whether it is still said of what is in force.
void test_frontier__a_session_keeps_it(void **state)
{
	struct error err = {0};
	struct study *st = open_study();
	struct repair *r = search(st);
	struct frontier *f = frontier_take(repair_frontier(r)), *g;
	const char *path = support_temp("pareto.json");
	char *words[] = {"--std", "128"};
	repair_free(&r);
	study_set_frontier(st, f);
	assert_int_equal(session_write(st, path, NULL, &err), STATUS_OK);
	study_close(&st);
	st = reopened(path);
	g = study_frontier(st);
	assert_non_null(g);
	assert_int_equal(g->n, f->n);
	for (int i = 0; i < f->n; i++) {
		const struct repair_state *a = &f->at[i], *b = &g->at[i];
		assert_true(a->steps == b->steps && a->as_run == b->as_run && a->method == b->method && edits_equal(a->edits, b->edits));
		assert_true(is_as_it_was(a->figures.damage, b->figures.damage) && is_as_it_was(a->figures.cost, b->figures.cost));
		assert_true(is_as_it_was(a->figures.snr_db, b->figures.snr_db) && is_as_it_was(a->figures.wide, b->figures.wide));
		assert_true(is_as_it_was(a->figures.us, b->figures.us) && is_as_it_was(a->figures.score, b->figures.score));
	}
	expect_stale(st, NULL);
	assert_int_equal(frontier_apply(g, g->n - 1, st, &err), STATUS_OK); // edits are what it is about
	expect_stale(st, NULL);
	assert_int_equal(study_preprocess(st, words, 2, &err), STATUS_OK);
	expect_stale(st, "other samples, or prepared otherwise");
	assert_int_equal(study_set_target(st, "xquant", &err), STATUS_OK);
	expect_stale(st, "another target");
	frontier_drop(&f);
	study_close(&st);
}

void test_frontier__is_told_as_of_other_times(void **state)
{
	struct study *st = open_study();
	struct repair *r = search(st);
	struct latency *l = NULL;
	struct error err = {0};
	static const char times[] = "name,latency_us\n/model.0/conv/Conv,918\n";
	const char *path = support_temp_file("board.csv", times, sizeof times - 1);
	study_set_frontier(st, repair_frontier(r));
	repair_free(&r);
	expect_stale(st, NULL);
	assert_int_equal(latency_read(&l, study_graph(st), path, &err), STATUS_OK);
	study_set_latency(st, l);
	expect_stale(st, "other times of a board, or none");
	latency_drop(&l);
	study_close(&st);
}

static void expect_refused(const char *pareto, const char *why)
{
	struct study *st = open_study();
	struct error err = {0};
	cJSON *j = cJSON_Parse(pareto);
	assert_non_null(j);
	assert_int_not_equal(study_frontier_load(st, j, &err), STATUS_OK);
	assert_non_null(strstr(err.text, why));
	assert_null(study_frontier(st));
	cJSON_Delete(j);
	study_close(&st);
}

void test_frontier__of_a_session_is_checked(void **state)
{
	expect_refused("{}", "there is no state");
	expect_refused("{\"states\": 1}", "\"states\"");
	expect_refused("{\"states\": [{}]}", "the 1. state: \"calibration\"");
	expect_refused("{\"states\": [{\"calibration\": \"kl\", \"edits\": []}]}", "lack cost");
	expect_refused(
	    "{\"states\": [{\"calibration\": \"kl\", \"edits\": [{\"node\": \"nobody\"}], \"figures\": {\"cost\": 1, \"damage\": 0}}]}",
	    "nobody");
}

// A repair sees what a truncation leaves in float as an edit; the user has made none.
void test_frontier__a_truncation_is_no_edit(void **state)
{
	const char *cut[] = {"/model.9/Concat_output_0"};
	struct study *st = open_for_test((struct study_options){.model = "examples/digits.onnx", .target = "esp32p4", .method = CALIB_MINMAX,
	    .threads = 1, .data = {.random = 1, .samples = 1}, .calibrate_only = true, .truncate = cut, .n_truncate = 1});
	struct error err = {0};
	struct edits *e = study_effective(st, study_edits(st));
	int node = graph_find_node(study_graph(st), "/model.10/conv/Conv"), first = graph_find_node(study_graph(st), "/model.0/conv/Conv");
	assert_int_equal(e->precision[node], PREC_FLOAT);
	e->precision[first] = PREC_INT16;
	struct frontier *f = frontier_with(NULL, &(struct repair_state){.figures = {.cost = 1}, .edits = e, .method = CALIB_MINMAX}, &basis);
	edits_free(&e);
	assert_int_equal(frontier_apply(f, 0, st, &err), STATUS_OK);
	assert_int_equal(study_edits(st)->precision[node], -1);
	assert_int_equal(study_edits(st)->precision[first], PREC_INT16);
	assert_true(frontier_is_in_force(f, 0, st));
	frontier_drop(&f);
	study_close(&st);
}
