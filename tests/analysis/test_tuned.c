// Tuned weights in a study: made by a repair, an edit like others, kept beside sessions,
// in the models that are written.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "qtui/analysis/repair.h"
#include "qtui/analysis/session.h"
#include "qtui/base/file.h"
#include "qtui/engine/onnx.h"
#include "studies.h"

static struct study *open_study(void)
{
	struct study *st = open_for_test((struct study_options){.model = "examples/digits.onnx", .calib = "examples/calib", .target = "esp32p4",
	    .method = CALIB_PERCENTILE, .threads = 1, .memory = (size_t)512 << 20, .data = {.samples = 4}, .calibrate_only = true});
	wait_for_run(st);
	return st;
}

struct kept {
	int steps;
	char command[80];
	struct repair_step last;
};

static void on_step(void *arg, const struct repair_step *s)
{
	struct kept *k = arg;
	k->steps++;
	k->last = *s;
	if (s->kept)
		snprintf(k->command, sizeof k->command, "%s", s->command[0]);
}

// What a repair finds is brought into force.
static void tune(struct study *st)
{
	struct error err = {0};
	struct repair *r = NULL;
	struct kept k = {0};
	struct repair_options o = {.samples = 2, .goal = repair_goal_default};
	int n;
	if (repair_open(&r, st, &o, &err) != STATUS_OK || repair_tune(r, on_step, &k, &err) != STATUS_OK)
		fail_msg("%s", err.text);
	assert_int_equal(k.steps, 1);
	assert_true(k.last.kept && k.last.after.damage < k.last.before.damage);
	const struct tune_row *row = repair_tuned(r, &n);
	assert_int_equal(n, tuning_count(repair_tuning(r)));
	for (int i = 0; i < n; i++)
		assert_true(row[i].after < row[i].before);
	repair_free(&r);
	assert_int_equal(study_command(st, k.command, &err), STATUS_OK);
	study_run(st);
	wait_for_run(st);
}

static struct key weights_in_force(const struct study *st)
{
	return tuning_key(study_edits(st)->tuning);
}

void test_tuned__is_an_edit(void **state)
{
	struct error err = {0};
	struct study *st = open_study();
	tune(st);
	struct key k = weights_in_force(st);
	assert_false(key_is_zero(k));
	assert_true(undoes(st));
	assert_true(key_is_zero(weights_in_force(st)));
	assert_true(redoes(st));
	assert_true(key_equal(weights_in_force(st), k));
	assert_int_equal(study_command(st, "tune auto", &err), STATUS_OK);
	assert_true(key_is_zero(weights_in_force(st)));
	assert_int_equal(study_command(st, "tune 0123456789abcdef", &err), STATUS_NOTFOUND);
	study_close(&st);
}

static char *only_tuned_file(const char *session, const struct study *st)
{
	char name[TUNING_NAME];
	tuning_name(study_edits(st)->tuning, name);
	return session_tuned_path(session, name);
}

void test_tuned__is_kept_beside_sessions(void **state)
{
	struct error err = {0};
	struct study *st = open_study(), *again = open_study();
	struct session *s = NULL;
	const char *path = support_temp("tuned.json");
	bool made;
	tune(st);
	assert_int_equal(study_variant(st, "better", &made, &err), STATUS_OK);
	if (session_write(st, path, NULL, &err) != STATUS_OK || session_read(&s, path, &err) != STATUS_OK ||
	    session_apply(s, again, &err) != STATUS_OK)
		fail_msg("%s", err.text);
	assert_true(key_equal(weights_in_force(st), weights_in_force(again)));
	assert_true(edits_equal(study_edits(st), study_edits(again)));
	study_close(&again);
	char *file = only_tuned_file(path, st);
	assert_true(file_exists(file));
	assert_int_equal(unlink(file), 0);
	again = open_study();
	assert_int_not_equal(session_apply(s, again, &err), STATUS_OK);
	assert_non_null(strstr(err.text, file)); // says which file is missing
	// One that has other weights than those of its name is not taken.
	struct tuning *none = tuning_new();
	assert_int_equal(onnx_save_tuned(file, study_graph(st), none, &err), STATUS_OK);
	assert_int_equal(session_apply(s, again, &err), STATUS_FORMAT);
	tuning_drop(&none);
	// A session that is not wanted any more goes with them.
	session_remove(path);
	assert_false(file_exists(path) || file_exists(file));
	session_remove(path);
	free(file);
	session_free(&s);
	study_close(&again);
	study_close(&st);
}

static void assert_codes(const struct plan *p, int slot, const int16_t *codes)
{
	const struct tensor *w = p->g->value[p->slot[slot].value].constant;
	int16_t *own = xcalloc((size_t)tensor_count(w) + 1, sizeof *own);
	codes_of_weights(own, plan_constant(p, slot), slot_quantizer(&p->slot[slot]));
	assert_memory_equal(own, codes, (size_t)tensor_count(w) * sizeof *own);
	free(own);
}

// The constant that the node of the QDQ model reads, codes or what they stand for.
static void assert_rounded(const struct graph *q, const struct plan *p, const struct tuned *t)
{
	const struct quantizer *grid = &plan_in(p, t->node, 1)->quant;
	int node = graph_find_node(q, p->g->node[t->node].name);
	assert_true(node >= 0);
	const struct value *v = &q->value[q->node[node].in[1]];
	const struct tensor *x = v->constant ? v->constant : q->value[q->node[v->producer].in[0]].constant;
	struct tensor want = {.type = x->type, .shape = x->shape};
	struct error err;
	assert_int_equal(tensor_alloc(&want, NULL, &err), STATUS_OK);
	if (x->type == DT_F32)
		fake_quantize(&want, &t->weight, grid, 1);
	else
		quantize(&want, &t->weight, grid, 1);
	assert_memory_equal(want.data, x->data, tensor_bytes(x));
	tensor_drop(&want);
}

// The float model quantizes to the tuned codes, wherever it is quantized on its range; so does the QDQ model.
void test_tuned__models_hold_the_codes(void **state)
{
	struct error err = {0};
	struct study *st = open_study();
	tune(st);
	struct snapshot *snap = study_snapshot(st);
	const struct plan *p = snapshot_plan(snap);
	const char *path = support_temp("tuned.onnx"), *qdq = support_temp("qdq.onnx");
	struct str loss = {0};
	struct graph *g = NULL, *q = NULL;
	struct plan *fresh = NULL;
	struct edits *none;
	if (onnx_save_tuned(path, p->g, p->tuning, &err) || onnx_load(&g, path, &(struct onnx_options){0}, &err) ||
	    onnx_save_qdq(qdq, p, &loss, &err) ||
	    onnx_load(&q, qdq, &(struct onnx_options){0}, &err))
		fail_msg("%s", err.text);
	assert_true(tuning_count(p->tuning) > 0);
	none = edits_new(g);
	assert_int_equal(plan_new(&fresh, g, study_target(st), CALIB_PERCENTILE, none, NULL, &err), STATUS_OK);
	for (int i = 0; i < tuning_count(p->tuning); i++) {
		const struct tuned *t = tuning_at(p->tuning, i);
		int slot = p->first_in[t->node] + 1, other = graph_find_node(g, p->g->node[t->node].name);
		int64_t n = tensor_count(&t->weight);
		int16_t *codes = xcalloc((size_t)n + 1, sizeof *codes);
		codes_of_weights(codes, plan_constant(p, slot), slot_quantizer(&p->slot[slot]));
		assert_true(other >= 0);
		assert_codes(fresh, fresh->first_in[other] + 1, codes);
		assert_rounded(q, p, t);
		free(codes);
	}
	plan_free(&fresh);
	edits_free(&none);
	graph_free(&g);
	graph_free(&q);
	str_done(&loss);
	snapshot_drop(&snap);
	study_close(&st);
}
