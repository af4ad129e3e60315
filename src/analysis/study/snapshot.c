// Snapshots: built by whoever has news, of a run (publish.c) or of an older snapshot; read by everybody.
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

// ---- making one

void snapshot_take_beside(struct snapshot *s, const struct study *st)
{
	struct blames *told = s->blames;
	task_look_drop(&s->look);
	s->look = task_look_take(st->look);
	channels_drop(&s->channels);
	s->channels = channels_take(st->channels);
	s->blames = study_blames_of(st, s->decision, &s->blames_old);
	if (s->blames != told)
		story_drop(&s->story); // it is of those before
	blames_drop(&told);
}

struct snapshot *snapshot_new(struct study *st, const struct request *req)
{
	struct snapshot *s = xcalloc(1, sizeof *s);
	atomic_store(&s->refs, 1);
	s->g = st->g;
	s->generation = req->generation;
	snprintf(s->target, sizeof s->target, "%s", req->target);
	s->method = req->method;
	s->n_edits = req->n_edits;
	s->decision = req->decision;
	s->preparation = req->preparation;
	s->samples = dataset_count(st->preparation[req->preparation].d);
	s->left_out = dataset_left_out(st->preparation[req->preparation].d);
	s->left = -1;
	study_lock(st);
	snapshot_take_beside(s, st);
	s->findings = study_findings_of(st, s->decision);
	s->n_runs = (int)st->history.n;
	s->run = xcalloc(st->history.n + 1, sizeof *s->run);
	for (int i = 0; i < s->n_runs; i++)
		s->run[i] = st->history.at[i].note;
	study_unlock(st);
	return s;
}

void snapshot_attach(struct snapshot *s, struct study *st, struct body *b)
{
	s->priv = b;
	s->row = b->row;
	s->scale_requested = b->scale_requested;
	s->zero_requested = b->zero_requested;
	s->n_rows = s->g->n_nodes;
	s->site = b->site;
	s->n_sites = b->n_sites;
	s->output = b->output;
	s->n_outputs = s->g->n_outputs;
	for (int n = 0; n < s->n_rows; n++)
		s->macs[s->row[n].precision] += s->row[n].macs;
	s->costs = study_costs(st, s);
}

struct snapshot *snapshot_before_run(struct study *st, const struct snapshot *prev)
{
	const struct decision *d = &st->step[st->current];
	struct edits *e = study_effective(st, d->edits);
	struct request req = {.generation = st->generation, .method = d->method, .n_edits = edits_count(d->edits) + (d->preparation > 0)};
	struct body *b = prev ? body_copy(st->g, prev->priv) : body_bare(st->g);
	snprintf(req.target, sizeof req.target, "%s", d->target);
	req.decision = decision_key(st->g, d->target, d->method, e, study_preparation(st));
	req.preparation = d->preparation;
	struct snapshot *s = snapshot_new(st, &req);
	if (prev) {
		bool retuned = b->plan && !key_equal(tuning_key(b->plan->plan->tuning), tuning_key(e->tuning));
		body_mark_downstream(b, st->g, e, prev->preparation != d->preparation || retuned);
		s->dirty = true;
		s->stage = prev->stage;
		s->timing = prev->timing;
		s->task = task_report_take(prev->task);
		s->task_old = true;
		s->task_calibrated = prev->task_calibrated;
		s->task_network = prev->task_network;
	}
	body_note_edits(b, st->g, e);
	snapshot_attach(s, st, b);
	edits_free(&e);
	return s;
}

// ---- reading

const char *stage_name(enum stage s)
{
	static const char *const name[] = {[STAGE_IDLE] = "idle", [STAGE_LOAD] = "loading", [STAGE_CALIBRATE] = "calibrating",
	    [STAGE_MEASURE] = "measuring", [STAGE_TASK] = "task metric", [STAGE_DONE] = "done", [STAGE_CANCELLED] = "cancelled",
	    [STAGE_FAILED] = "failed"};
	return name[s];
}

char *range_end(char out[RANGE_END], double end, double other)
{
	double half_step = fabs(other - end) / (2 * 65536);
	if (end != 0 && fabs(end) < half_step)
		snprintf(out, RANGE_END, "~0");
	else
		snprintf(out, RANGE_END, fabs(end) >= 10000 && fabs(end) < 1e7 ? "%.0f" : "%.4g", end);
	return out;
}

char *range_text(char out[RANGE_TEXT], double min, double max, const char *between)
{
	char low[RANGE_END], high[RANGE_END];
	snprintf(out, RANGE_TEXT, "%s%s%s", range_end(low, min, max), between, range_end(high, max, min));
	return out;
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

bool figures_worse(const struct figures *f, const struct figures *than)
{
	double snr = figures_snr(f), least = figures_snr(than);
	return f->known && (!than->known || (!isnan(least) && (isnan(snr) || snr < least)));
}

int figures_order(const struct figures *a, const struct figures *b)
{
	return figures_worse(a, b) ? -1 : figures_worse(b, a);
}

double snapshot_worst_output(const struct snapshot *s)
{
	double worst = NAN;
	for (int i = 0; i < s->n_outputs; i++)
		worst = fmin(worst, figures_snr(&s->output[i])); // fmin passes over NaN: outputs without a figure
	return worst;
}

const struct site *snapshot_made(const struct snapshot *s, int node)
{
	const struct node_row *r = &s->row[node];
	const struct site *worst = NULL;
	for (const struct site *i = s->site + r->first_site; i < s->site + r->first_site + r->n_sites && site_is_made(i); i++)
		if (!worst || figures_worse(&i->graphwise, &worst->graphwise))
			worst = i;
	return worst;
}

const struct site *snapshot_output(const struct snapshot *s, int node)
{
	const struct site *site = snapshot_made(s, node);
	return site && site->kind == SITE_OUTPUT ? site : NULL;
}

int snapshot_scalable(const struct snapshot *s, const struct site *site)
{
	if (site->kind == SITE_INPUT && s->g->value[site->value].producer < 0)
		return site->value;
	if (!site_is_made(site))
		return -1;
	return s->g->value[site->value].producer == site->node ? site->value : graph_output(s->g, site->node);
}

static double signal_of(const struct figures *f)
{
	return f->known && !f->pooled.exact ? f->pooled.mse / f->pooled.nsr : NAN;
}

double snapshot_mean_in_sums(const struct snapshot *s, const struct site *mean)
{
	const struct value *v = &s->g->value[mean->value];
	enum op_id made_by = s->g->node[mean->node].op->id;
	double signal = INFINITY;
	if (mean->kind != SITE_OUTPUT || (made_by != OP_ReduceMean && made_by != OP_GlobalAveragePool) || v->is_output || v->n_consumers == 0 ||
	    !mean->layerwise.known)
		return NAN;
	for (int c = 0; c < v->n_consumers; c++) {
		enum op_id id = s->g->node[v->consumer[c]].op->id;
		const struct site *sum = snapshot_output(s, v->consumer[c]);
		double own = sum && (id == OP_Add || id == OP_Sub) ? signal_of(&sum->layerwise) : NAN;
		if (!(own > 0))
			return NAN;
		signal = fmin(signal, own);
	}
	return mean->layerwise.pooled.mse / signal;
}

bool snapshot_complete(const struct snapshot *s)
{
	return s->stage == STAGE_DONE || s->stage == STAGE_TASK;
}

const char *snapshot_samples(const struct snapshot *s, char *out, size_t size)
{
	int n = snprintf(out, size, "%d sample%s", s->samples, plural(s->samples));
	if (s->left_out && (size_t)n < size)
		snprintf(out + n, size - (size_t)n, " (%d left out)", s->left_out);
	return out;
}

const struct plan *snapshot_plan(const struct snapshot *s)
{
	const struct body *b = s->priv;
	return b && snapshot_complete(s) && b->plan ? b->plan->plan : NULL;
}
