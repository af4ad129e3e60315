// What a run has found out becomes a snapshot.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include "qtui/analysis/story.h"
#include "body.h"
#include "study_task.h"

static void fill_rows(struct body *b, const struct work *w)
{
	const struct graph *g = w->study->g;
	for (int n = 0; n < g->n_nodes; n++) {
		struct node_row *r = &b->row[n];
		const struct group *gr = &w->plan->group[n];
		*r = (struct node_row){.precision = w->plan->precision[n], .requested = -1, .calibrator = -1, .fused_into = -1,
		    .quantizable = w->plan->quantizable[n], .macs = graph_macs_with_body(g, n)};
		if (gr->kind != GROUP_NONE && gr->owner != n)
			r->fused_into = gr->owner;
	}
	for (int i = 0; i < w->plan->n_refused; i++)
		b->row[w->plan->refused[i].node].refused = w->plan->refused[i].reason;
}

// Of the run before, where it had as many samples (the first of CALIB): figures of others do not show what an edit did.
static struct figures *figures_before(const struct work *w)
{
	const struct snapshot *last = w->study->latest[0];
	if (!last || last->generation == w->req.generation || last->samples != w->total_samples)
		return NULL;
	struct figures *before = xcalloc((size_t)w->study->g->n_values + 1, sizeof *before);
	for (int i = 0; i < last->n_sites; i++)
		if (site_is_made(&last->site[i]))
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
	if (before && site_is_made(s) && s->graphwise.known == before[s->value].known) // not while samples are missing
		s->before = before[s->value];
	b->keys[i] = (struct site_keys){sw->graphwise->key, sw->layerwise->key, sw->range->key,
	    sw->hist_float ? sw->hist_float->key : (struct key){0}, sw->hist_quant ? sw->hist_quant->key : (struct key){0}};
}

// The end of what runs as one operator comes first in a row, then its other outputs, then what it reads.
static int place_in_row(const struct site_work *sw, const struct work *w)
{
	int last = w->plan->group[sw->site.node].last;
	if (!site_is_made(&sw->site))
		return 2;
	return sw->site.value != w->study->g->node[last].out[0];
}

// Sites in the order of their rows.
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
	for (int place = 0; place < 3; place++)
		for (int i = 0; i < w->n_sites; i++) {
			const struct site_work *sw = &w->site[i];
			struct node_row *r = &b->row[sw->site.node];
			if (place_in_row(sw, w) != place)
				continue;
			fill_site(b, r->first_site + r->n_sites, sw, w, before);
			if (place < 2 && b->site[r->first_site + r->n_sites].graphwise.known < w->total_samples)
				r->pending = true;
			r->n_sites++;
		}
	free(count);
	free(before);
}

// Of an output that is the same NaN in both networks it would be no use to say that it is exact.
static struct figures output_figures(const struct output_work *o, int samples)
{
	struct figures f = figure_merge(o->graphwise, samples);
	if (f.pooled.odd && f.pooled.exact) {
		f.pooled = (struct metrics){NAN, NAN, NAN, NAN, NAN, NAN, false, true};
		f.nsr_mean = f.cosine_mean = NAN;
	}
	return f;
}

static struct body *body_of_work(const struct work *w)
{
	struct body *b = body_new(w->study->g, w->n_sites);
	b->plan = shared_plan_take(w->shared);
	b->samples = w->samples;
	fill_rows(b, w);
	body_note_edits(b, w->study->g, w->req.edits);
	fill_sites(b, w);
	for (int i = 0; i < w->study->g->n_outputs; i++) {
		if (!w->output[i].graphwise)
			continue;
		b->output[i] = output_figures(&w->output[i], w->samples);
		b->output_key[i] = w->output[i].graphwise->key;
	}
	return b;
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
	snprintf(s->task_problem, sizeof s->task_problem, "%s", st->task->problem);
	s->task_asked = st->task->problem_asked;
	s->task_wish = st->task->problem_wish;
}

// ---- publishing

static void publish(struct work *w, const struct error *failed)
{
	struct study *st = w->study;
	struct snapshot *s = snapshot_new(st, &w->req);
	fill_progress(s, w);
	fill_task(s, st, w->task, w->task_old);
	if (failed)
		s->error = *failed;
	if (w->first_site) {
		snapshot_attach(s, st, body_of_work(w));
	} else { // nothing of this run is known yet: the figures stay those of the snapshot before
		struct snapshot *prev = study_latest(st);
		snapshot_attach(s, st, body_take(prev->priv));
		snapshot_drop(&prev);
	}
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
