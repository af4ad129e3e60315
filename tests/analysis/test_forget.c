// Figures that many edits leave behind: they stay within bounds, and nothing that is near the decision in force is computed again.
#include <stdlib.h>
#include "../../src/analysis/measure/figures.h"
#include "../../src/analysis/study/study_impl.h"
#include "studies.h"

enum { SAMPLES = 2, EDITS = 3 * STUDY_RECENT };

static struct study *open_study(size_t memory)
{
	return open_for_test((struct study_options){.model = "examples/digits.onnx", .calib = "examples/calib", .target = "onnxruntime",
	    .method = CALIB_MINMAX, .threads = 2, .memory = memory, .backend = BACKEND_ONEDNN, .data = {.samples = SAMPLES}, .task = {.none = true}});
}

// Each edit is near the input, so that all behind it has other keys; the figures of every state.
static void edit_often(struct study *st, struct figures *state)
{
	int *conv, n;
	struct error err = {0};
	assert_int_equal(study_select(st, "op:Conv", NULL, &conv, &n, &err), STATUS_OK);
	for (int i = 0; i < EDITS; i++) {
		if (scale_node(st, conv[0], 0.05 + 0.001 * i, &err))
			fail_msg("%s", err.text);
		struct snapshot *s = run_study(st);
		state[i] = s->output[0];
		snapshot_drop(&s);
	}
	free(conv);
}

static int undo(struct study *st, const struct figures *want)
{
	assert_true(undoes(st));
	struct snapshot *s = run_study(st);
	int computed = s->computed;
	assert_true(s->output[0].pooled.nsr == want->pooled.nsr && s->output[0].nsr_mean == want->nsr_mean);
	snapshot_drop(&s);
	return computed;
}

void test_forget__edits_stay_within_a_bound_and_undo_computes_nothing(void **state)
{
	struct figures known[EDITS];
	struct study *st = open_study(1);
	wait_for_run(st);
	size_t first = memo_bytes(st->memo);
	edit_often(st, known);
	assert_in_range(memo_bytes(st->memo), first, (STUDY_RECENT + 1) * first);
	for (int back = 1; back <= STUDY_RECENT / 2; back++)
		assert_int_equal(undo(st, &known[EDITS - 1 - back]), 0);
	int again = 0;
	for (int back = STUDY_RECENT / 2 + 1; back < EDITS; back++)
		again += undo(st, &known[EDITS - 1 - back]) > 0;
	assert_in_range(again, 1, EDITS);
	study_close(&st);
}

void test_forget__where_there_is_room_all_stays(void **state)
{
	struct figures known[EDITS];
	struct study *st = open_study((size_t)4 << 30);
	wait_for_run(st);
	edit_often(st, known);
	for (int back = 1; back < EDITS; back++)
		assert_int_equal(undo(st, &known[EDITS - 1 - back]), 0);
	study_close(&st);
}

// What is composed asks its parts, although no run has asked for them under their own names since.
void test_forget__parts_stay_with_what_is_composed_of_them(void **state)
{
	struct memo *m = memo_new(1);
	struct key whole = key_add_text((struct key){0}, "whole"), part = key_add_text((struct key){0}, "part"),
	           other = key_add_text((struct key){0}, "other");
	struct figure *f = memo_figure(m, part), *of[] = {f, f};
	figure_set(f, 0, &(struct tensor_sums){.e2 = 1, .f2 = 2, .q2 = 2, .fq = 1, .n = 4});
	figure_compose(memo_figure(m, whole), of, 2);
	figure_set(memo_figure(m, other), 0, &(struct tensor_sums){.n = 4});
	size_t all = memo_bytes(m);
	memo_end_run(m);
	struct figures before = figure_merge(memo_figure(m, whole), 1);
	memo_end_run(m);
	memo_forget(m, 1);
	assert_true(memo_bytes(m) < all);
	struct figures after = figure_merge(memo_figure(m, whole), 1);
	assert_true(after.known == 1 && after.pooled.nsr == before.pooled.nsr);
	assert_false(figure_has(memo_figure(m, other), 0));
	memo_free(&m);
}
