// Equalizing in the background: a thread with a study of its own.
#include <math.h>
#include <poll.h>
#include <stdlib.h>
#include "background_impl.h"
#include "qtui/analysis/equalizing.h"
#include "qtui/base/file.h"
#include "qtui/engine/equalize.h"
#include "qtui/engine/onnx.h"
#include "study_task.h"

enum { SHARE = 3 /* of the memory: the study goes on */, PERCENT = 100 };

enum status study_reach(
    double ***out, const struct study *s, const struct dataset *d, bool sums, const atomic_bool *cancel, struct error *err)
{
	struct engine_options opt = {.backend = s->opt.backend, .threads = s->opt.threads, .memory = s->opt.memory / SHARE};
	struct engine *e = engine_new(s->g, d, &opt);
	if (atomic_load(&s->yield))
		engine_yield(e);
	enum status st = equalize_reach(
	    out, s->g, e, &(struct equalize_reading){.samples = dataset_count(d), .sums = sums, .cancel = cancel}, err);
	engine_free(&e);
	return st;
}

// What is in force when it begins, which may change meanwhile.
struct beginning {
	struct edits *edits;
	const struct dataset *samples; // the study's, as long as it is open
	struct study_options opt;      // of the study beside; target, calib and the task's texts are heap
};
struct equalizing {
	struct background background;
	struct study *study;
	struct beginning begun;
	char *path;
	bool sums, weights, quark;
	struct equalizing_result result; // the thread's until it is over
};

static void note_beginning(struct beginning *b, const struct study *st)
{
	const struct decision *d = &st->step[st->current];
	*b = (struct beginning){.edits = study_effective(st, d->edits), .samples = study_dataset(st), .opt = st->opt};
	struct way way = study_way(st, d->preparation);
	struct study_options *o = &b->opt;
	way.prepared = true; // what was guessed, too: of the same network
	o->target = xstrdup(d->target);
	o->calib = xstrdup(st->opt.calib);
	o->method = (int)d->method;
	o->data = study_way_options(st, &way);
	o->memory = st->opt.memory / SHARE;
	o->skip_layerwise = o->batch = true;
	o->task = task_wish_copy(study_task_wish(st));
	o->truncate = NULL; // the edits have it
	o->n_truncate = 0;
}

static void beginning_done(struct beginning *b)
{
	edits_free(&b->edits);
	free((char *)b->opt.target);
	free((char *)b->opt.calib);
	task_wish_done(&b->opt.task);
}

// ---- the thread

// The tensor there that stands for one here to which a scale may be given; -1: none does.
static int output_like(const struct graph *to, const struct graph *from, int value)
{
	const char *name = graph_output_name(from, value);
	if (!graph_goes_by_own_name(from, value)) {
		int node = graph_find_node(to, name);
		return node >= 0 ? graph_output(to, node) : -1;
	}
	int found = graph_find_value(to, name);
	return found >= 0 && !to->value[found].constant ? found : -1;
}

// All nodes that one study gives `what`.
static enum status give_alike(struct study *to, const struct study *from, const signed char *given, int what,
    study_give_fn *give, struct error *err)
{
	int *node = xcalloc((size_t)from->g->n_nodes + 1, sizeof *node), n = 0, refused;
	for (int i = 0; i < from->g->n_nodes; i++)
		if (given[i] == what && (node[n] = graph_find_node(to->g, from->g->node[i].name)) >= 0)
			n++;
	enum status st = n ? give(to, node, n, what, &refused, err) : STATUS_OK;
	free(node);
	return st == STATUS_REFUSED ? STATUS_OK : st;
}

// Makes the decisions of one study in the other. Equalizing keeps the nodes and their names,
// and what the target refuses here it has refused there, so that refusals are no errors.
static enum status decide_alike(struct study *to, const struct study *from, const struct edits *e, struct error *err)
{
	int made_n, *made = graph_scalable(from->g, &made_n), scales = 0;
	struct scale_edit *scale = xcalloc((size_t)made_n + 1, sizeof *scale);
	enum status st = STATUS_OK;
	for (int p = 0; p < PREC_COUNT && st == STATUS_OK; p++)
		st = give_alike(to, from, e->precision, p, study_set_only, err);
	for (int m = 0; m < CALIB_COUNT && st == STATUS_OK; m++)
		st = give_alike(to, from, e->calibrator, m, study_set_calibrator, err);
	for (int i = 0; i < made_n; i++) {
		int value = e->scale[made[i]] > 0 ? output_like(to->g, from->g, made[i]) : -1;
		if (value >= 0)
			scale[scales++] = (struct scale_edit){value, e->scale[made[i]], e->zero[made[i]]};
	}
	if (st == STATUS_OK && scales)
		st = study_scales(to, scale, scales, err);
	free(made);
	free(scale);
	return st;
}

static enum status run(struct equalizing *j, struct study *st, struct error *err)
{
	study_run(st);
	while (study_running(st)) {
		poll(&(struct pollfd){.fd = study_fd(st), .events = POLLIN}, 1, 50);
		if (atomic_load(&j->background.cancel))
			study_cancel(st);
		struct snapshot *s = study_snapshot(st);
		static const double share[] = {[STAGE_CALIBRATE] = 0, [STAGE_MEASURE] = 0.4, [STAGE_TASK] = 0.8, [STAGE_DONE] = 1};
		if (s->stage >= STAGE_CALIBRATE && s->stage <= STAGE_DONE)
			background_tell(&j->background, fmin(1, share[s->stage] + 0.4 * s->progress));
		snapshot_drop(&s);
	}
	if (study_wait(st, err) == STATUS_OK && atomic_load(&j->background.cancel))
		return error_set(err, STATUS_CANCELLED, "cancelled"); // perhaps before the run began
	return err->status;
}

static void note_result(struct equalizing_result *out, struct study *st)
{
	struct run_record r;
	struct error err;
	if (study_figures(&r, st, "now", &err) != STATUS_OK)
		return;
	out->equalized = r.note;
	out->measured = true;
	run_record_done(&r);
}

static enum status measure(struct equalizing *j, struct error *err)
{
	struct study *beside = NULL;
	if (atomic_load(&j->background.cancel))
		return error_set(err, STATUS_CANCELLED, "cancelled"); // opening takes a moment, too
	j->begun.opt.model = j->path;
	enum status st = study_open(&beside, &j->begun.opt, err);
	if (st != STATUS_OK)
		return st;
	study_yield(beside);
	st = decide_alike(beside, j->study, j->begun.edits, err);
	if (st == STATUS_OK)
		st = run(j, beside, err);
	if (st == STATUS_OK)
		note_result(&j->result, beside);
	study_close(&beside);
	return st;
}

static enum status find_factors(struct equalization *e, struct equalizing *j, struct error *err)
{
	struct equalize_options opt = j->quark ? EQUALIZE_DEFAULT_QUARK : EQUALIZE_DEFAULT;
	double **reach = NULL;
	enum status st =
	    j->weights || j->quark ? STATUS_OK : study_reach(&reach, j->study, j->begun.samples, j->sums, &j->background.cancel, err);
	opt.sums = j->sums;
	opt.reach = reach;
	opt.cancel = &j->background.cancel;
	if (st == STATUS_OK)
		st = equalize(e, j->study->g, &opt, err);
	if (reach)
		equalize_reach_free(&reach, j->study->g);
	return st;
}

static enum status work(void *arg, struct error *err)
{
	struct equalizing *j = arg;
	struct equalization e = {0};
	enum status st = find_factors(&e, j, err);
	if (st == STATUS_OK) {
		j->result.groups = e.n_groups;
		j->result.nodes = tuning_count(e.weights);
	}
	if (st == STATUS_OK && j->path && j->result.nodes) {
		st = onnx_save_tuned(j->path, j->study->g, e.weights, err);
		j->result.written = st == STATUS_OK;
	}
	equalization_done(&e);
	return st == STATUS_OK && j->result.written ? measure(j, err) : st;
}

// ---- asking

void equalizing_free(struct equalizing **jp)
{
	struct equalizing *j = *jp;
	*jp = NULL;
	if (!j)
		return;
	background_join(&j->background);
	beginning_done(&j->begun);
	free(j->path);
	free(j);
}

static enum status check(const struct equalizing *j, const struct snapshot *s, struct error *err)
{
	if (j->quark && j->sums)
		return error_set(err, STATUS_REFUSED, "sums are not among the rules of quark");
	if (j->path && file_exists(j->path))
		return error_set(err, STATUS_REFUSED, "%.200s is there: give the equalized model a name of its own", j->path);
	if (j->path && (!snapshot_complete(s) || s->dirty))
		return error_set(err, STATUS_REFUSED, "the analysis has not run to its end: wait for the run");
	return STATUS_OK;
}

enum status equalizing_start(struct equalizing **out, struct study *st, const struct equalizing_wish *wish, struct error *err)
{
	struct equalizing *j = xcalloc(1, sizeof *j);
	struct snapshot *s = study_latest(st);
	struct run_record now;
	*j = (struct equalizing){.study = st, .path = xstrdup(wish->path), .sums = wish->sums, .weights = wish->weights, .quark = wish->quark};
	note_beginning(&j->begun, st);
	j->result.untuned = tuning_count(j->begun.edits->tuning);
	enum status status = check(j, s, err);
	if (status == STATUS_OK && study_figures(&now, st, "now", err) == STATUS_OK) {
		j->result.now = now.note;
		run_record_done(&now);
	}
	snapshot_drop(&s);
	if (status == STATUS_OK)
		status = background_start(&j->background, st, PERCENT, work, j, err);
	if (status == STATUS_OK)
		*out = j;
	else
		equalizing_free(&j);
	return status;
}

struct background *equalizing_background(struct equalizing *j)
{
	return &j->background;
}

const char *equalizing_path(const struct equalizing *j)
{
	return j->path;
}

enum status equalizing_end(struct equalizing_result *out, const struct equalizing *j, struct error *err)
{
	*out = j->result;
	return background_end(&j->background, err);
}
