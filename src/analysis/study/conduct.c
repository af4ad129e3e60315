// The conductor: one thread that turns requests into runs. A newer request cancels the run under way.
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "qtui/analysis/channels.h"
#include "qtui/base/str.h"
#include "../measure/figures.h"
#include "study_task.h"

void study_wake(struct study *s)
{
	while (write(s->pipe[1], "", 1) < 0 && errno == EINTR)
		;
}

void study_publish(struct study *s, struct snapshot *snap)
{
	study_lock(s);
	snapshot_take_beside(snap, s); // others may have published while this one was built
	bool is_void = s->snap && snap->generation < s->snap->generation; // of a run that an edit ends: the edit is shown already
	struct snapshot *old = is_void ? snap : s->snap;
	s->snap = is_void ? s->snap : snap;
	study_unlock(s);
	snapshot_drop(&old);
	study_wake(s);
}

struct snapshot *study_renew(struct study *s, struct snapshot **old)
{
	study_lock(s);
	*old = s->snap;
	return s->snap = snapshot_copy(*old);
}

void study_renewed(struct study *s, struct snapshot **old)
{
	study_unlock(s);
	snapshot_drop(old);
	study_wake(s);
}

void study_publish_look(struct study *s, struct task_look *l)
{
	struct snapshot *old, *snap = study_renew(s, &old);
	struct task_look *old_look = s->look;
	s->look = l;
	task_look_drop(&snap->look);
	snap->look = task_look_take(l);
	study_renewed(s, &old);
	task_look_drop(&old_look);
}

void study_publish_channels(struct study *s, struct channels *c)
{
	struct snapshot *old, *snap = study_renew(s, &old);
	struct channels *old_channels = s->channels;
	s->channels = c;
	channels_drop(&snap->channels);
	snap->channels = channels_take(c);
	study_renewed(s, &old);
	channels_drop(&old_channels);
}

void study_fetch(struct study *s, int sample)
{
	study_lock(s);
	s->fetch = sample + 1;
	pthread_cond_broadcast(&s->changed);
	study_unlock(s);
}

static void publish(struct work *w, enum stage stage, const struct error *failed)
{
	if (w->stage != stage || w->stage_began == 0)
		w->stage_began = clock_seconds();
	w->stage = stage;
	work_publish(w, failed);
}

// One round over the first `samples` samples.
static enum status run_round(struct work *w, int samples, struct error *err)
{
	double begin = clock_seconds();
	work_reset(w);
	w->samples = samples;
	w->look = samples < w->total_samples;
	publish(w, STAGE_CALIBRATE, NULL);
	enum status st = work_calibrate(w, err);
	if (st != STATUS_OK)
		return st;
	double calibrated = clock_seconds();
	refusals_tell(w->study, w->plan);
	work_sites(w);
	w->timing.calibrate_s = calibrated - begin;
	if (samples == w->total_samples)
		study_task_ready(w);
	if (w->study->opt.calibrate_only)
		return STATUS_OK;
	publish(w, STAGE_MEASURE, NULL);
	for (int sim = 0; sim < SIM_COUNT; sim++)
		atomic_store(&w->busy_ns[sim], 0);
	if (!w->look)
		study_task_gather(w);
	st = work_measure(w, err);
	task_gather_free(&w->gather);
	double measured = clock_seconds() - calibrated, all = 0;
	for (int sim = 0; sim < SIM_COUNT; sim++)
		all += (double)atomic_load(&w->busy_ns[sim]);
	// Both analyses run in one pass: its time is shared out as the workers spent it.
	double alone = all > 0 ? (double)atomic_load(&w->busy_ns[SIM_ALONE]) / all : 0;
	w->timing.layerwise_s = measured * alone;
	w->timing.graphwise_s = measured - w->timing.layerwise_s;
	return st;
}

static void title_of(char *out, size_t size, const struct work *w, bool first)
{
	const struct request *req = &w->req;
	int more = req->steps - w->study->last_steps;
	if (!first && req->step[0] && more > 1)
		snprintf(out, size, "%d steps to %s", more, req->step);
	else if (!first && req->step[0])
		snprintf(out, size, "%s", req->step);
	else
		snprintf(out, size, "%d edit%s, %.40s %s", req->n_edits, plural(req->n_edits), req->target, calib_name(req->method));
}

static double seconds_since_1970(void)
{
	struct timespec t;
	clock_gettime(CLOCK_REALTIME, &t);
	return (double)t.tv_sec + 1e-3 * (double)(t.tv_nsec / 1000000);
}

static void note_run(struct work *w)
{
	struct study *s = w->study;
	const struct snapshot *snap = w->shown; // the study's may be of a newer decision by now
	struct run_record r = run_record_of(snap);
	bool first = snap->n_runs == 0 || snap->run[snap->n_runs - 1].earlier;
	r.note.when = seconds_since_1970();
	r.note.decision = w->req.decision;
	r.note.samples = study_measured_key(s, w->req.preparation);
	r.note.seconds = clock_seconds() - w->began;
	r.note.computed = atomic_load(&w->computed);
	r.note.total = r.note.computed + atomic_load(&w->reused);
	title_of(r.note.title, sizeof r.note.title, w, first);
	s->last_steps = w->req.steps;
	study_task_note(w, &r.note);
	r.state = run_state_take(w->req.state);
	study_lock(s);
	history_add(&s->history, &r);
	study_unlock(s);
}

// What the task has said since the last run was noted.
static void note_task(struct work *w)
{
	struct study *s = w->study;
	study_lock(s);
	struct run_note n = s->history.at[s->history.n - 1].note;
	study_unlock(s);
	study_task_note(w, &n); // may take its time
	study_lock(s);
	n.number = s->history.at[s->history.n - 1].note.number; // a session that was opened meanwhile has its runs before it
	s->history.at[s->history.n - 1].note = n;
	study_unlock(s);
}

// A first look at one sample, where nothing is known yet.
static bool wants_look(struct work *w)
{
	const struct study *s = w->study;
	return !s->opt.batch && !s->opt.calibrate_only && !s->latest[0] && w->total_samples > 2 && !work_knows_scales(w);
}

static enum status run_all(struct work *w, struct error *err)
{
	struct study *s = w->study;
	enum status st = STATUS_OK;
	w->samples = w->total_samples;
	if (wants_look(w))
		st = run_round(w, 1, err);
	if (st == STATUS_OK && w->samples < w->total_samples)
		publish(w, STAGE_MEASURE, NULL); // its last figures, which the next round shows until it has its own
	if (st == STATUS_OK)
		st = run_round(w, w->total_samples, err);
	w->timing.load_s = s->load_s;
	w->timing.total_s = s->load_s + clock_seconds() - w->began;
	w->timing.peak_rss_mb = mem_peak_rss_mib();
	return st;
}

static void keep_latest(const struct work *w)
{
	struct study *s = w->study;
	study_lock(s);
	snapshot_drop(&s->latest[STUDY_LATEST - 1]);
	memmove(s->latest + 1, s->latest, (STUDY_LATEST - 1) * sizeof *s->latest);
	s->latest[0] = snapshot_take(w->shown);
	study_unlock(s);
}

// The figures are complete: shown, noted, and the task measured behind them.
static enum status finish(struct work *w, struct error *err)
{
	struct study *s = w->study;
	bool due = study_task_due(w);
	enum stage stage = due ? STAGE_TASK : STAGE_DONE;
	if (!due)
		study_task_clear(w);
	publish(w, stage, NULL); // the figures must be out before the run is noted
	note_run(w);
	publish(w, stage, NULL);
	if (!s->opt.calibrate_only)
		study_find(s);
	enum status st = due ? study_task_run(w, err) : STATUS_OK;
	if (due) {
		note_task(w);
		publish(w, STAGE_DONE, NULL);
	}
	keep_latest(w);
	memo_end_run(s->memo);
	return st;
}

// NaN and infinity pass on to all that reads them: an output shows whether there is any that matters.
static int nonfinite_output(const struct snapshot *s)
{
	for (int i = 0; i < s->n_outputs; i++)
		if (s->output[i].known && (s->output[i].pooled.odd || !isfinite(s->output[i].pooled.mse)))
			return i;
	return -1;
}

static enum status conduct_run(struct study *s, struct request *req)
{
	struct error err = {0};
	struct snapshot *before = study_latest(s);
	study_preparation_use(s, req->preparation);
	study_forget_figures(s);
	engine_set_memory(s->engine, study_engine_memory(s)); // figures have come, with a new preparation those of its samples
	struct work w = {.study = s, .req = *req, .total_samples = dataset_count(s->d), .began = clock_seconds(),
	    .task = task_report_take(before->task), .task_old = true};
	snapshot_drop(&before);
	for (int sim = 0; sim < SIM_COUNT; sim++)
		w.key[sim] = xcalloc((size_t)s->g->n_values + 1, sizeof **w.key);
	enum status st = run_all(&w, &err);
	if (st == STATUS_OK)
		st = finish(&w, &err);
	else
		publish(&w, st == STATUS_CANCELLED ? STAGE_CANCELLED : STAGE_FAILED, &err);
	if (st == STATUS_OK)
		work_tell_nonfinite(&w, nonfinite_output(w.shown));
	study_lock(s);
	s->error = err;
	study_unlock(s);
	for (int sim = 0; sim < SIM_COUNT; sim++)
		free(w.key[sim]);
	work_reset(&w);
	snapshot_drop(&w.shown);
	task_report_drop(&w.task);
	return st;
}

// ---- what the conductor is asked to do. It comes with the lock, works without it, and has it again at the end;
// `busy` is set meanwhile.

static void begin(struct study *s, bool *busy)
{
	*busy = true;
	atomic_store(&s->cancel, false);
	study_unlock(s);
}

static void end(struct study *s, bool *busy)
{
	study_lock(s);
	*busy = false;
	pthread_cond_broadcast(&s->changed);
	study_wake(s); // who waits for the descriptor would not hear of the end: the last snapshot came before
}

// Figures of a session: only here does no run read or make any.
static void conduct_load(struct study *s)
{
	cJSON *loads = s->loads;
	const cJSON *one;
	s->loads = NULL;
	begin(s, &s->running);
	cJSON_ArrayForEach(one, loads)
		results_load(s, one);
	cJSON_Delete(loads);
	end(s, &s->running);
}

static void conduct_request(struct study *s)
{
	struct request req = s->req;
	s->req.edits = NULL;
	s->req.state = NULL;
	s->requested = false;
	begin(s, &s->running);
	if (atomic_load(&s->yield))
		thread_yield();
	conduct_run(s, &req);
	edits_free(&req.edits);
	run_state_drop(&req.state);
	study_look_again(s);
	end(s, &s->running);
}

// As a short run of its own: the survey has changed, or a run was stopped when its figures were there.
static void conduct_find(struct study *s)
{
	begin(s, &s->running);
	study_find(s);
	end(s, &s->running);
}

static void conduct_channels(struct study *s)
{
	int slot = s->channels_slot - 1;
	s->channels_slot = 0;
	begin(s, &s->gathering);
	study_gather_channels(s, slot);
	end(s, &s->gathering);
}

// What a look lacks, under the plan of the last run.
static void conduct_fetch(struct study *s)
{
	int sample = s->fetch - 1;
	bool fetching; // nobody waits for it
	s->fetch = 0;
	begin(s, &fetching);
	struct snapshot *snap = study_latest(s);
	if (!snap->dirty && snapshot_plan(snap))
		study_task_fetch(s, snapshot_plan(snap), sample);
	snapshot_drop(&snap);
	end(s, &fetching);
}

typedef void duty_fn(struct study *s);

// The most urgent; NULL: nothing.
static duty_fn *next_duty(const struct study *s)
{
	if (s->loads)
		return conduct_load;
	if (s->requested)
		return conduct_request;
	if (s->find)
		return conduct_find;
	if (s->channels_slot)
		return conduct_channels;
	return s->fetch ? conduct_fetch : NULL;
}

void *study_conduct(void *arg)
{
	struct study *s = arg;
	study_lock(s);
	while (!s->quit) {
		duty_fn *duty = next_duty(s);
		if (duty)
			duty(s);
		else
			pthread_cond_wait(&s->changed, &s->lock);
	}
	study_unlock(s);
	return NULL;
}
