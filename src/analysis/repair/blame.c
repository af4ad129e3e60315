// Blame: the damage of parts standing alone. All parts together are split in two again and again, the most damaging
// run first: a run that does little alone is never looked into, so that the culprits are found in a fraction
// of the networks that one run a part would take, and whenever time is over what is there is a map of regions.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "repair_impl.h"

enum { GAINS = 16, SCORES = 6 };    // of so many parts the opposite is measured too; and the task's metric
static const double SPLIT = 0.6;    // of the time there is; the rest is for gains
static const double SHARE = 0.02;   // of the whole damage: a run below it is not split

static enum status damage_of(struct repair *r, const struct parts *parts, int first, int last, double *out, struct error *err)
{
	struct plan *p = NULL;
	struct damage d = {0};
	enum status st = scales_plan(r->scales, &p, &r->now, err);
	if (st == STATUS_OK) {
		parts_isolate(parts, p, first, last, false);
		st = probe_alone(r->probe, p, &d, err);
	}
	*out = d.damage;
	plan_free(&p);
	return st;
}

static struct run *worst_run(const struct runs *s, double floor)
{
	struct run *worst = NULL;
	for (int i = 0; i < s->n; i++)
		if (s->at[i].last - s->at[i].first > 1 && s->at[i].alone >= floor && (!worst || s->at[i].alone > worst->alone))
			worst = &s->at[i];
	return worst;
}

static enum status split(struct repair *r, const struct parts *parts, struct runs *s, struct run *run, struct error *err)
{
	int middle = run->first + (run->last - run->first) / 2;
	struct run left = {.first = run->first, .last = middle}, right = {.first = middle, .last = run->last};
	enum status st = damage_of(r, parts, left.first, left.last, &left.alone, err);
	if (st == STATUS_OK)
		st = damage_of(r, parts, right.first, right.last, &right.alone, err);
	if (st != STATUS_OK)
		return st;
	*run = left;
	s->at[s->n++] = right;
	return STATUS_OK;
}

static int by_damage(const void *a, const void *b)
{
	const struct run *x = a, *y = b;
	if (x->alone != y->alone)
		return x->alone < y->alone ? 1 : -1;
	return (x->first > y->first) - (x->first < y->first);
}

// Splits what does more than `share` of the whole damage. Stops early, with what is known by then,
// when time is over or the work is cancelled.
static enum status runs_split(struct repair *r, const struct parts *parts, double share, struct runs *out, struct error *err)
{
	struct runs s = {.at = xcalloc((size_t)parts->n + 1, sizeof *s.at)};
	enum status st = damage_of(r, parts, 0, parts->n, &s.total, err);
	double floor = fmax(s.total * share, BLAME_LEAST);
	if (st == STATUS_OK && parts->n > 0)
		s.at[s.n++] = (struct run){.last = parts->n, .alone = s.total};
	for (struct run *run; st == STATUS_OK && (run = worst_run(&s, floor)) != NULL;) {
		if (repair_over(r))
			break;
		double rest = s.total > 0 ? run->alone / s.total : 0;
		repair_tell(r, 1 - fmin(rest, 1), "blame: %d networks run, largest region left %.4f of %.4f", probe_runs(r->probe), run->alone,
		    s.total);
		st = split(r, parts, &s, run, err);
	}
	s.complete = st == STATUS_OK && !worst_run(&s, floor);
	if (st == STATUS_CANCELLED)
		st = STATUS_OK; // the runs that are known are a map of regions, if a coarse one
	qsort(s.at, (size_t)s.n, sizeof *s.at, by_damage);
	*out = s;
	return st;
}

enum status runs_find(struct repair *r, const struct parts *parts, struct runs *out, struct error *err)
{
	double end = repair_lend(r, 1. / 3);
	enum status st = runs_split(r, parts, REPAIR_SHARE, out, err);
	r->deadline = end;
	return st;
}

void runs_done(struct runs *s)
{
	free(s->at);
	*s = (struct runs){0};
}

// ---- for readers

// A blame on its way. What is known so far is told again and again.
struct blaming {
	struct repair *r;
	const struct plan *plan;    // of the edits in force
	const struct parts *parts;
	struct runs runs;
	struct blames *out;
	double began_snr;           // of everything quantized
};

// What widening the part takes.
static void cost_of(const struct blaming *b, int part, struct blame *out)
{
	const struct repair *r = b->r;
	bool *wide = xcalloc((size_t)r->g->n_nodes + 1, 1);
	double us = 0;
	int64_t macs = parts_widen(b->parts, b->plan, part, true, wide);
	for (int n = 0; n < r->g->n_nodes; n++)
		us += wide[n] ? r->costs->node[n].at[repair_wide_precision(r)] - r->costs->node[n].at[PREC_INT8] : 0;
	out->wide = r->total_macs > 0 ? (double)macs / (double)r->total_macs : 0;
	out->cost = r->costs->latency && r->costs->narrow > 0 ? us / r->costs->narrow : NAN;
	free(wide);
}

static struct blame describe(const struct blaming *b, const struct run *run)
{
	static const struct blame_gain unknown = {NAN, NAN, NAN};
	const struct part *first = &b->parts->at[run->first], *last = &b->parts->at[run->last - 1];
	struct blame out = {.node = first->node,
	    .last_node = last->node,
	    .value = -1,
	    .run = run->last - run->first > 1,
	    .parts = run->last - run->first,
	    .alone = run->alone,
	    .score_loss = NAN,
	    .in_float = unknown,
	    .in_wide = unknown,
	    .wide = NAN,
	    .cost = NAN};
	if (!out.run) {
		out.value = first->value;
		cost_of(b, run->first, &out);
	}
	return out;
}

// Which part the row of a node stands for: its own, or that of a node that is fused into it; the most harmful one.
static void index_nodes(struct blaming *b)
{
	struct blames *out = b->out;
	for (int n = 0; n < out->n_nodes; n++)
		out->of_node[n] = -1;
	for (int i = out->n - 1; i >= 0; i--) {
		const struct group *g = &b->plan->group[out->at[i].node];
		int row = g->kind != GROUP_NONE ? g->owner : out->at[i].node;
		if (!out->at[i].run)
			out->of_node[row] = i;
	}
}

static struct blames *copy(const struct blames *from)
{
	struct blames *b = xcalloc(1, sizeof *b);
	*b = *from;
	atomic_store(&b->refs, 1);
	b->at = xcalloc((size_t)from->n + 1, sizeof *b->at);
	memcpy(b->at, from->at, (size_t)from->n * sizeof *b->at);
	b->of_node = xcalloc((size_t)from->n_nodes + 1, sizeof *b->of_node);
	memcpy(b->of_node, from->of_node, (size_t)from->n_nodes * sizeof *b->of_node);
	return b;
}

static void publish(const struct blaming *b)
{
	if (b->r->opt.blamed)
		b->r->opt.blamed(b->r->opt.tell_arg, copy(b->out));
}

static void begin(struct blaming *b)
{
	static const struct blame_half unknown = {NAN, NAN, NAN};
	const struct repair *r = b->r;
	struct blames *out = xcalloc(1, sizeof *out);
	*out = (struct blames){.refs = 1,
	    .decision = r->decision,
	    .n = b->runs.n,
	    .n_nodes = r->g->n_nodes,
	    .total = r->figures.damage,
	    .total_score = r->figures.score,
	    .float_score = r->float_score,
	    .weights = unknown,
	    .activations = unknown,
	    .complete = b->runs.complete};
	out->at = xcalloc((size_t)out->n + 1, sizeof *out->at);
	out->of_node = xcalloc((size_t)out->n_nodes + 1, sizeof *out->of_node);
	snprintf(out->task, sizeof out->task, "%s", r->opt.score && r->opt.score_name ? r->opt.score_name : "");
	for (int i = 0; i < out->n; i++)
		out->at[i] = describe(b, &b->runs.at[i]);
	b->out = out;
	index_nodes(b);
}

// The plan of everything quantized but the run (invert), or of it alone.
static enum status isolated(struct plan **out, const struct blaming *b, const struct run *run, bool invert, struct error *err)
{
	enum status st = scales_plan(b->r->scales, out, &b->r->now, err);
	if (st == STATUS_OK)
		parts_isolate(b->parts, *out, run->first, run->last, invert);
	return st;
}

// The plan with what the part needs made wide.
static enum status widened(struct plan **out, const struct blaming *b, const struct run *run, struct error *err)
{
	struct trial t = trial_copy(&b->r->now);
	bool *wide = xcalloc((size_t)b->r->g->n_nodes + 1, 1);
	parts_widen(b->parts, b->plan, run->first, true, wide);
	for (int n = 0; n < b->r->g->n_nodes; n++)
		if (wide[n]) {
			t.edits->precision[n] = (signed char)repair_wide_precision(b->r);
			edits_forget_scales(t.edits, &b->r->g->node[n]);
		}
	enum status st = scales_plan(b->r->scales, out, &t, err);
	trial_done(&t);
	free(wide);
	return st;
}

static enum status gain_of_plan(const struct blaming *b, const struct plan *p, struct blame_gain *out, bool score, struct error *err)
{
	struct repair *r = b->r;
	struct damage d = {0};
	struct repair_figures f = {.score = NAN};
	enum status st = probe_damage(r->probe, p, &d, err);
	if (st == STATUS_OK && score)
		st = repair_score(r, p, &f, err);
	if (st == STATUS_OK)
		*out = (struct blame_gain){b->out->total - d.damage, d.snr_db - b->began_snr, f.score - r->figures.score};
	return st;
}

static enum status add_gains(const struct blaming *b, int i, bool score, struct error *err)
{
	const struct run *run = &b->runs.at[i];
	struct blame *out = &b->out->at[i];
	struct plan *p = NULL;
	enum status st = isolated(&p, b, run, true, err);
	if (st == STATUS_OK)
		st = gain_of_plan(b, p, &out->in_float, score, err);
	plan_free(&p);
	if (st != STATUS_OK || out->run)
		return st;
	st = widened(&p, b, run, err);
	if (st == STATUS_OK)
		st = gain_of_plan(b, p, &out->in_wide, score, err);
	plan_free(&p);
	return st;
}

// What the task loses when the run alone is quantized.
static enum status add_loss(const struct blaming *b, int i, struct error *err)
{
	struct plan *p = NULL;
	struct repair_figures f = {.score = NAN};
	enum status st = isolated(&p, b, &b->runs.at[i], false, err);
	if (st == STATUS_OK)
		st = repair_score(b->r, p, &f, err);
	if (st == STATUS_OK)
		b->out->at[i].score_loss = b->r->float_score - f.score;
	plan_free(&p);
	return st;
}

// Weights and activations apart, first by damage alone.
static enum status measure_half(const struct blaming *b, bool constants, bool score, struct error *err)
{
	struct blame_half *half = constants ? &b->out->weights : &b->out->activations;
	struct plan *p = NULL;
	struct damage d = {0};
	struct repair_figures f = {.score = NAN};
	enum status st = scales_plan(b->r->scales, &p, &b->r->now, err);
	if (st == STATUS_OK) {
		parts_keep(b->parts, p, constants);
		st = probe_damage(b->r->probe, p, &d, err);
	}
	if (st == STATUS_OK && score)
		st = repair_score(b->r, p, &f, err);
	if (st == STATUS_OK)
		*half = (struct blame_half){d.damage, d.snr_db, b->r->float_score - f.score};
	plan_free(&p);
	return st;
}

static enum status measure_halves(const struct blaming *b, bool score, struct error *err)
{
	enum status st = STATUS_OK;
	for (int constants = 1; constants >= 0 && st == STATUS_OK && !repair_over(b->r); constants--) {
		repair_tell(b->r, 0.5 * !constants, "blame: what %s alone do", constants ? "weights" : "activations");
		st = measure_half(b, constants, score, err);
	}
	publish(b);
	return st;
}

static bool promises_more(const struct blame *a, const struct blame *b)
{
	double x = a->in_wide.damage > a->in_float.damage ? a->in_wide.damage : a->in_float.damage;
	double y = b->in_wide.damage > b->in_float.damage ? b->in_wide.damage : b->in_float.damage;
	return isnan(y) ? !isnan(x) : x > y;
}

// Of those whose task is not measured yet, the one whose damage promises most; -1: none is left.
static int most_promising(const struct blames *b, const bool *scored)
{
	int best = -1;
	for (int i = 0; i < b->n && i < GAINS; i++)
		if (!scored[i] && (best < 0 || promises_more(&b->at[i], &b->at[best])))
			best = i;
	return best;
}

static enum status measure_gains(const struct blaming *b, struct error *err)
{
	const struct blames *out = b->out;
	int n = out->n < GAINS ? out->n : GAINS;
	enum status st = STATUS_OK;
	for (int i = 0; i < n && st == STATUS_OK && !repair_over(b->r); i++) {
		repair_tell(b->r, (double)i / n, "blame: what %s costs and what more bits there would gain, %d of %d",
		    b->r->g->node[out->at[i].node].name, i + 1, n);
		st = add_gains(b, i, false, err);
		publish(b);
	}
	return st;
}

static enum status measure_scores(const struct blaming *b, struct error *err)
{
	bool scored[GAINS] = {0};
	enum status st = b->r->opt.score ? measure_halves(b, true, err) : STATUS_OK;
	for (int k = 0, i; b->r->opt.score && k < SCORES && st == STATUS_OK && !repair_over(b->r); k++) {
		if ((i = most_promising(b->out, scored)) < 0)
			break;
		scored[i] = true;
		repair_tell(b->r, (double)k / SCORES, "blame: %s with and without %s, %d of %d", task_word(b->out->task),
		    b->r->g->node[b->out->at[i].node].name, k + 1, SCORES);
		st = add_gains(b, i, true, err);
		if (st == STATUS_OK)
			st = add_loss(b, i, err);
		publish(b);
	}
	return st;
}

static enum status blame(struct blaming *b, struct error *err)
{
	struct damage all = {0};
	double deadline = repair_lend(b->r, SPLIT);
	enum status st = runs_split(b->r, b->parts, SHARE, &b->runs, err);
	b->r->deadline = deadline;
	begin(b);
	if (st == STATUS_OK)
		st = probe_damage(b->r->probe, b->plan, &all, err);
	b->began_snr = all.snr_db;
	if (st == STATUS_OK)
		st = measure_halves(b, false, err);
	if (st == STATUS_OK)
		st = measure_gains(b, err);
	if (st == STATUS_OK)
		st = measure_scores(b, err);
	return st == STATUS_CANCELLED ? STATUS_OK : st; // what is known by then counts
}

enum status repair_blame(struct repair *r, struct blames **out, struct error *err)
{
	struct plan *p = NULL;
	struct parts *parts = NULL;
	struct blaming b = {.r = r};
	enum status st = repair_prepare(r, err);
	if (st == STATUS_OK)
		st = scales_plan(r->scales, &p, &r->now, err);
	if (st == STATUS_OK) {
		b.plan = p;
		b.parts = parts = parts_new(p);
		st = blame(&b, err);
	}
	if (st != STATUS_OK)
		blames_drop(&b.out);
	*out = b.out;
	runs_done(&b.runs);
	parts_free(&parts);
	plan_free(&p);
	return st;
}
