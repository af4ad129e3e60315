// Which samples a repair is judged by: those that stand for all.
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "repair_case.h"

void test_probe__samples_are_spread(void **state)
{
	static const int count[] = {1, 8, 9, 40, 200}, probed[] = {1, 8, 4, 8, 8};
	for (int k = 0; k < 5; k++)
		for (int noisiest = -1; noisiest < count[k]; noisiest++) {
			int *at = probe_choose(count[k], probed[k], noisiest), each = count[k] / probed[k], part[8] = {0};
			bool found = noisiest < 0, early = found;
			for (int i = 0; i < probed[k]; i++) {
				assert_in_range(at[i], 0, count[k] - 1);
				part[at[i] * probed[k] / count[k]]++;
				found |= at[i] == noisiest;
				early |= at[i] == noisiest && i < (probed[k] + 2) / 3;
				assert_true(probed[k] < count[k] || at[i] == i);
			}
			assert_true(found && (early || probed[k] == count[k]));
			for (int i = 0; i < probed[k] && each * probed[k] == count[k]; i++)
				assert_int_equal(part[i], 1);
			free(at);
		}
	int *at = probe_choose(40, 8, -1), low = 40, high = 0;
	for (int i = 0; i < 3; i++) {
		low = at[i] < low ? at[i] : low;
		high = at[i] > high ? at[i] : high;
	}
	assert_true(low < 10 && high >= 30);
	free(at);
}

struct memory {
	bool has;
	atomic_bool failed;
};

static void look(void *arg, const struct sighting *s)
{
	struct memory *m = arg;
	if (!m->has)
		atomic_store(&m->failed, true);
}

// What the visitor of a pass had no memory for is an error, which the next pass does not have.
void test_probe__a_pass_without_memory_has_failed(void **state)
{
	struct study *st = open_study(2);
	struct repair *r = open_unread(st, (struct repair_options){.goal = repair_goal_default});
	bool *want = xcalloc((size_t)r->g->n_values + 1, sizeof *want);
	want[r->g->output[0]] = true;
	for (int has = 0; has < 2; has++) {
		struct memory m = {.has = has, .failed = has};
		struct error err = {0};
		struct pass pass = {.want = {[SIM_FLOAT] = want}, .last = 1, .visit = look, .arg = &m};
		assert_int_equal(probe_pass(r->engine, &pass, r->g, &m.failed, &err), has ? STATUS_OK : STATUS_NOMEM);
		assert_int_equal(strstr(err.text, ": no memory to compare the outputs") != NULL, !has);
	}
	free(want);
	repair_free(&r);
	study_close(&st);
}

void test_probe__the_noisiest_sample_is_there(void **state)
{
	struct study *st = open_study(2);
	struct repair *r = open_unread(st, (struct repair_options){.goal = repair_goal_default});
	assert_in_range(r->noisiest, 0, dataset_count(r->data) - 1);
	assert_true(probe_has(r->probe, r->noisiest));
	assert_true(isfinite(r->run_snr_db));
	r->opt.goal.min_snr = r->run_snr_db + 1; // what the probe says counts for nothing beside it
	r->figures.snr_db = r->run_snr_db + 2;
	assert_false(repair_goal_met(r));
	r->opt.goal.min_snr = r->run_snr_db - 1;
	r->figures.snr_db = r->run_snr_db - 2;
	assert_true(repair_goal_met(r));
	r->run_snr_db = NAN;
	assert_false(repair_goal_met(r));
	repair_free(&r);
	study_close(&st);
}

// Boxes decide there, and each picture has objects of many classes.
void test_probe__a_detector_is_judged_by_its_first_pictures(void **state)
{
	struct study *st = open_study(2);
	struct repair *r = open_repair(st, (struct repair_options){.goal = repair_goal_default});
	assert_non_null(r->reader);
	for (int i = 0; i < dataset_count(r->data); i++)
		assert_int_equal(probe_has(r->probe, i), i < 2);
	repair_free(&r);
	study_close(&st);
}

// Another state may have another noisiest sample: its figures would not be comparable with those that are kept.
void test_probe__later_repairs_look_at_the_same_samples(void **state)
{
	struct error err = {0};
	struct study *st = open_study(2);
	struct repair *r = open_unread(st, (struct repair_options){.goal = repair_goal_default});
	struct frontier *f = frontier_take(repair_frontier(r));
	int noisiest = r->noisiest, other = (noisiest + 1) % dataset_count(r->data);
	assert_int_equal(f->basis.noisiest, noisiest + 1);
	repair_free(&r);
	f->basis.noisiest = other + 1; // as another state would have had it
	study_set_frontier(st, f);
	struct repair_options o = {.goal = repair_goal_default, .samples = 2};
	assert_int_equal(repair_open(&r, st, &o, &err), STATUS_OK);
	boxes_reader_free(&r->reader);
	assert_int_equal(repair_prepare(r, &err), STATUS_OK);
	assert_int_equal(r->noisiest, other);
	repair_free(&r);
	frontier_drop(&f);
	study_close(&st);
}
