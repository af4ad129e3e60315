// Snapshots: built by whoever has news, from a run (work) or from an older snapshot; read by everybody.
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "qtui/analysis/channels.h"
#include "qtui/analysis/cost.h"
#include "qtui/analysis/story.h"
#include "body.h"
#include "study_task.h"

const char *stage_name(enum stage s)
{
	static const char *const name[] = {[STAGE_IDLE] = "idle", [STAGE_LOAD] = "loading", [STAGE_CALIBRATE] = "calibrating",
	    [STAGE_MEASURE] = "measuring", [STAGE_TASK] = "task metric", [STAGE_DONE] = "done", [STAGE_CANCELLED] = "cancelled",
	    [STAGE_FAILED] = "failed"};
	return name[s];
}

static struct body *body_take(struct body *b)
{
	atomic_fetch_add(&b->refs, 1);
	return b;
}

static void body_drop(struct body **bp)
{
	struct body *b = *bp;
	*bp = NULL;
	if (!b || atomic_fetch_sub(&b->refs, 1) != 1)
		return;
	for (int i = 0; i < b->n_sites; i++) {
		hist_drop(&b->site[i].hist_float);
		hist_drop(&b->site[i].hist_quant);
	}
	shared_plan_drop(&b->plan);
	free(b->row);
	free(b->site);
	free(b->keys);
	free(b->output);
	free(b->output_key);
	free(b);
}

struct snapshot *snapshot_take(struct snapshot *s)
{
	if (s)
		atomic_fetch_add(&s->refs, 1);
	return s;
}

void snapshot_drop(struct snapshot **sp)
{
	struct snapshot *s = *sp;
	*sp = NULL;
	if (!s || atomic_fetch_sub(&s->refs, 1) != 1)
		return;
	struct body *b = s->priv;
	body_drop(&b);
	task_report_drop(&s->task);
	task_look_drop(&s->look);
	channels_drop(&s->channels);
	findings_drop(&s->findings);
	story_drop(&s->story);
	blames_drop(&s->blames);
	costs_drop(&s->costs);
	free(s->run);
	free(s);
}

double shown_db(double db)
{
	return fabs(db) < 0.05 ? 0 : db;
}

double figures_snr(const struct figures *f)
{
	if (!f->known)
		return NAN;
	if (f->pooled.exact)
		return INFINITY;
	return shown_db(f->pooled.snr_db);
}

const struct site *snapshot_output(const struct snapshot *s, int node)
{
	const struct node_row *r = &s->row[node];
	const struct site *site = r->n_sites > 0 ? &s->site[r->first_site] : NULL;
	return site && site->kind == SITE_OUTPUT ? site : NULL;
}

static struct body *body_new(const struct graph *g, int n_sites)
{
	struct body *b = xcalloc(1, sizeof *b);
	atomic_store(&b->refs, 1);
	b->row = xcalloc((size_t)g->n_nodes + 1, sizeof *b->row);
	b->site = xcalloc((size_t)n_sites + 1, sizeof *b->site);
	b->keys = xcalloc((size_t)n_sites + 1, sizeof *b->keys);
	b->output = xcalloc((size_t)g->n_outputs + 1, sizeof *b->output);
	b->output_key = xcalloc((size_t)g->n_outputs + 1, sizeof *b->output_key);
	b->n_sites = n_sites;
	return b;
}

static void attach(struct snapshot *s, struct body *b)
{
	s->priv = b;
	s->row = b->row;
	s->n_rows = s->g->n_nodes;
	s->site = b->site;
	s->n_sites = b->n_sites;
	s->output = b->output;
	s->n_outputs = s->g->n_outputs;
}

// ---- from a run

static void fill_rows(struct body *b, const struct work *w)
{
	const struct graph *g = w->study->g;
	for (int n = 0; n < g->n_nodes; n++) {
		struct node_row *r = &b->row[n];
		const struct group *gr = &w->plan->group[n];
		*r = (struct node_row){.precision = w->plan->precision[n], .requested = -1, .fused_into = -1,
		    .quantizable = w->plan->quantizable[n], .macs = graph_macs(g, n)};
		if (gr->kind != GROUP_NONE && gr->owner != n)
			r->fused_into = gr->owner;
	}
	for (int i = 0; i < w->plan->n_refused; i++)
		b->row[w->plan->refused[i].node].refused = w->plan->refused[i].reason;
}

static void copy_edits(struct body *b, const struct graph *g, const struct edits *e)
{
	for (int n = 0; n < g->n_nodes; n++) {
		b->row[n].requested = e->precision[n];
		b->row[n].scale_requested = e->scale[n];
	}
}

static struct figures *figures_before(const struct work *w)
{
	const struct snapshot *last = w->study->latest[0];
	if (!last || last->generation == w->req.generation)
		return NULL;
	struct figures *before = xcalloc((size_t)w->study->g->n_values + 1, sizeof *before);
	for (int i = 0; i < last->n_sites; i++)
		if (last->site[i].kind == SITE_OUTPUT)
			before[last->site[i].value] = last->site[i].graphwise;
	return before;
}

static void fill_site(struct body *b, int i, const struct site_work *sw, const struct work *w, const struct figures *before)
{
	int samples = sw->site.kind == SITE_WEIGHT ? 1 : w->samples;
	struct site *s = &b->site[i];
	*s = sw->site;
	s->graphwise = figure_merge(sw->graphwise, samples);
	s->layerwise = figure_merge(sw->layerwise, samples);
	s->range = range_merge(sw->range, samples);
	if (sw->hist_float)
		s->hist_float = hist_publish(sw->hist_float, samples, &s->range);
	if (s->hist_float && sw->hist_quant) {
		s->hist_quant = hist_publish_beside(sw->hist_quant, samples, s->hist_float);
		s->used_levels = hist_used(sw->hist_quant);
	}
	if (before && s->kind == SITE_OUTPUT)
		s->before = before[s->value];
	b->keys[i] = (struct site_keys){sw->graphwise->key, sw->layerwise->key, sw->range->key,
	    sw->hist_float ? sw->hist_float->key : (struct key){0}, sw->hist_quant ? sw->hist_quant->key : (struct key){0}};
}

// Sites in the order of their rows, a row's output first.
static void fill_sites(struct body *b, const struct work *w)
{
	struct figures *before = figures_before(w);
	int *count = xcalloc((size_t)w->study->g->n_nodes + 1, sizeof *count), at = 0;
	for (int i = 0; i < w->n_sites; i++)
		count[w->site[i].site.node]++;
	for (int n = 0; n < w->study->g->n_nodes; n++) {
		b->row[n].first_site = at;
		at += count[n];
	}
	for (int pass = 0; pass < 2; pass++)
		for (int i = 0; i < w->n_sites; i++) {
			const struct site_work *sw = &w->site[i];
			struct node_row *r = &b->row[sw->site.node];
			if ((sw->site.kind == SITE_OUTPUT) != (pass == 0))
				continue;
			fill_site(b, r->first_site + r->n_sites, sw, w, before);
			if (pass == 0 && b->site[r->first_site + r->n_sites].graphwise.known < w->total_samples)
				r->pending = true;
			r->n_sites++;
		}
	free(count);
	free(before);
}

static struct body *body_of_work(const struct work *w)
{
	struct body *b = body_new(w->study->g, w->n_sites);
	b->plan = shared_plan_take(w->shared);
	b->samples = w->samples;
	fill_rows(b, w);
	copy_edits(b, w->study->g, w->req.edits);
	fill_sites(b, w);
	for (int i = 0; i < w->study->g->n_outputs; i++) {
		if (!w->output[i].graphwise)
			continue;
		b->output[i] = figure_merge(w->output[i].graphwise, w->samples);
		b->output_key[i] = w->output[i].graphwise->key;
	}
	return b;
}

static void fill_head(struct snapshot *s, struct study *st, const struct request *req)
{
	s->g = st->g;
	s->generation = req->generation;
	snprintf(s->target, sizeof s->target, "%.31s", req->target);
	s->method = req->method;
	s->n_edits = req->n_edits;
	s->decision = req->decision;
	s->bench = req->bench;
	s->samples = st->n_benches ? dataset_count(st->bench[0].d) : 0;
	s->left = -1;
	pthread_mutex_lock(&st->lock);
	s->look = task_look_take(st->look);
	s->channels = channels_take(st->channels);
	s->findings = study_findings_of(st, s->decision);
	s->blames = study_blames_of(st, s->decision, &s->blames_old);
	s->n_runs = (int)st->history.n;
	s->run = xcalloc(st->history.n + 1, sizeof *s->run);
	for (int i = 0; i < s->n_runs; i++)
		s->run[i] = st->history.at[i].note;
	pthread_mutex_unlock(&st->lock);
}

static void fill_progress(struct snapshot *s, const struct work *w)
{
	s->stage = w->stage;
	s->seconds = clock_seconds() - w->began;
	s->samples_done = w->samples;
	long done = atomic_load(&w->done);
	s->progress = w->stage == STAGE_DONE ? 1.0 : w->total_steps > 0 ? (double)done / (double)w->total_steps : 0;
	double spent = clock_seconds() - w->stage_began;
	int samples = w->stage == STAGE_TASK ? (int)w->total_steps : w->samples;
	if (s->progress > 0.02 && s->progress < 1 && spent > 0.1) {
		s->left = spent * (1 - s->progress) / s->progress;
		s->rate = s->progress * samples / spent;
	}
	s->timing = w->timing;
	s->computed = atomic_load(&w->computed);
	s->total = s->computed + atomic_load(&w->reused);
}

static void fill_task(struct snapshot *s, struct study *st, struct task_report *r, bool old)
{
	s->task = task_report_take(r);
	s->task_old = old;
	s->task_calibrated = st->task->data == NULL;
	s->task_network = st->task->network;
	snprintf(s->task_problem, sizeof s->task_problem, "%.159s", st->task->problem);
}

struct snapshot *snapshot_copy(const struct snapshot *from)
{
	struct snapshot *s = xcalloc(1, sizeof *s);
	const size_t shared = offsetof(struct snapshot, g); // the count before it is the snapshot's own, and others change it
	memcpy((char *)s + shared, (const char *)from + shared, sizeof *s - shared);
	atomic_store(&s->refs, 1);
	body_take(s->priv);
	s->task = task_report_take(from->task);
	s->look = task_look_take(from->look);
	s->channels = channels_take(from->channels);
	s->findings = findings_take(from->findings);
	s->story = story_take(from->story);
	s->blames = blames_take(from->blames);
	s->costs = costs_take(from->costs);
	s->run = xcalloc((size_t)from->n_runs + 1, sizeof *s->run);
	if (from->n_runs)
		memcpy(s->run, from->run, (size_t)from->n_runs * sizeof *s->run);
	return s;
}

static void count_macs(struct snapshot *s)
{
	for (int n = 0; n < s->n_rows; n++)
		s->macs[s->row[n].precision] += s->row[n].macs;
}

static void publish(struct work *w, const struct error *failed)
{
	struct study *st = w->study;
	struct snapshot *s = xcalloc(1, sizeof *s);
	atomic_store(&s->refs, 1);
	fill_head(s, st, &w->req);
	fill_progress(s, w);
	fill_task(s, st, w->task, w->task_old);
	if (failed)
		s->error = *failed;
	if (w->first_site) {
		attach(s, body_of_work(w));
	} else { // nothing of this run is known yet: the figures stay those of the snapshot before
		struct snapshot *prev = study_latest(st);
		attach(s, body_take(prev->priv));
		snapshot_drop(&prev);
	}
	count_macs(s);
	s->costs = study_costs(st, s);
	if (s->findings && snapshot_complete(s))
		s->story = story_new(s, s->findings);
	snapshot_drop(&w->shown);
	w->shown = snapshot_take(s);
	study_publish(st, s);
}

void work_publish(struct work *w, const struct error *failed)
{
	pthread_mutex_lock(&w->study->publishing);
	publish(w, failed);
	pthread_mutex_unlock(&w->study->publishing);
}

void work_tick(struct work *w)
{
	enum { PERIOD_MS = 100, SHARE = 50 }; // a snapshot of a large network takes milliseconds: one part in so many of the time
	double begin = clock_seconds();
	long now = (long)(begin * 1000), next = atomic_load(&w->publish_ms);
	if (now < next || !atomic_compare_exchange_strong(&w->publish_ms, &next, now + PERIOD_MS))
		return;
	if (pthread_mutex_trylock(&w->study->publishing) == 0) {
		publish(w, NULL);
		pthread_mutex_unlock(&w->study->publishing);
		double rest = SHARE * 1000 * (clock_seconds() - begin);
		if (rest > PERIOD_MS)
			atomic_store(&w->publish_ms, now + (long)rest);
	}
}

// ---- without a run

static struct body *body_bare(const struct graph *g)
{
	struct body *b = body_new(g, 0);
	for (int n = 0; n < g->n_nodes; n++)
		b->row[n] = (struct node_row){.precision = PREC_INT8, .requested = -1, .fused_into = -1, .quantizable = true, .macs = graph_macs(g, n)};
	return b;
}

static struct body *body_copy(const struct graph *g, const struct body *from)
{
	struct body *b = body_new(g, from->n_sites);
	memcpy(b->row, from->row, (size_t)g->n_nodes * sizeof *b->row);
	memcpy(b->site, from->site, (size_t)from->n_sites * sizeof *b->site);
	memcpy(b->keys, from->keys, (size_t)from->n_sites * sizeof *b->keys);
	memcpy(b->output, from->output, (size_t)g->n_outputs * sizeof *b->output);
	memcpy(b->output_key, from->output_key, (size_t)g->n_outputs * sizeof *b->output_key);
	b->plan = shared_plan_take(from->plan);
	b->samples = from->samples;
	for (int i = 0; i < b->n_sites; i++) {
		hist_take(b->site[i].hist_float);
		hist_take(b->site[i].hist_quant);
	}
	return b;
}

// Everything that a changed node's result flows into is pending; everything, when it is the samples that have changed.
static void mark_downstream(struct body *b, const struct graph *g, const struct edits *e, bool all)
{
	bool *dirty = xcalloc((size_t)g->n_values + 1, 1);
	for (int n = 0; n < g->n_nodes; n++) {
		const struct node *node = &g->node[n];
		bool hit = all || b->row[n].requested != e->precision[n] || b->row[n].scale_requested != e->scale[n];
		for (int i = 0; i < node->n_in && !hit; i++)
			hit = node->in[i] >= 0 && dirty[node->in[i]];
		for (int i = 0; hit && i < node->n_out; i++)
			if (node->out[i] >= 0)
				dirty[node->out[i]] = true;
		b->row[n].pending |= hit;
	}
	free(dirty);
}

struct snapshot *snapshot_before_run(struct study *st, const struct snapshot *prev)
{
	struct snapshot *s = xcalloc(1, sizeof *s);
	const struct decision *d = &st->step[st->current];
	struct edits *e = study_effective(st, d->edits);
	struct request req = {.generation = st->generation, .method = d->method, .n_edits = edits_count(d->edits) + (d->bench > 0)};
	struct body *b = prev ? body_copy(st->g, prev->priv) : body_bare(st->g);
	snprintf(req.target, sizeof req.target, "%s", d->target);
	req.decision = decision_key(d->target, d->method, e, study_bench(st));
	req.bench = d->bench;
	atomic_store(&s->refs, 1);
	fill_head(s, st, &req);
	if (prev) {
		bool retuned = b->plan && !key_equal(tuning_key(b->plan->plan->tuning), tuning_key(e->tuning));
		mark_downstream(b, st->g, e, prev->bench != d->bench || retuned);
		s->dirty = true;
		s->stage = prev->stage;
		s->timing = prev->timing;
		s->task = task_report_take(prev->task);
		s->task_old = true;
		s->task_calibrated = prev->task_calibrated;
		s->task_network = prev->task_network;
	}
	copy_edits(b, st->g, e);
	attach(s, b);
	count_macs(s);
	s->costs = study_costs(st, s);
	edits_free(&e);
	return s;
}

bool snapshot_complete(const struct snapshot *s)
{
	return s->stage == STAGE_DONE || s->stage == STAGE_TASK;
}

const struct plan *snapshot_plan(const struct snapshot *s)
{
	const struct body *b = s->priv;
	return snapshot_complete(s) && b->plan ? b->plan->plan : NULL;
}
