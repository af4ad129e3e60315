// More bits where they pay most per multiply-accumulate. What is widened is what a tensor needs to be wide: maker and readers
// together, never a node for itself.
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "repair_impl.h"

// Regions without weights are not free: more memory, more conversions. And as long as the network is full of noise what mends a
// small part does not show: then the damage counts more than the cost.
static const double SHARE_FLOOR = 0.005, SHARE_NOISE = 0.3;
static const double HOPE = 0.01, HOPE_NOISE = 0.1; // of the damage: what promises less is not tried; likewise more where noise hides it
static const double PROGRESS = 0.05; // after a step that saved so much, what was refused before may pay now

struct widener {
	struct fixing *f;
	const struct plan *plan;    // before any of this was widened
	struct parts *parts;
	struct runs runs;
	bool *wide;                 // [n_nodes] widened so far
	bool *refused;              // [runs] tried, did not pay
};
struct choice {
	int run;
	bool *wide;                 // [n_nodes] with this one; heap
	double worth, expected;
};

static bool is_part(const struct run *run)
{
	return run->last - run->first == 1;
}

// What all parts together do that become wide with `wide` and are not yet.
static double newly_covered(const struct widener *w, const bool *wide)
{
	double sum = 0;
	for (int i = 0; i < w->runs.n; i++)
		if (is_part(&w->runs.at[i]) && parts_covered(w->parts, w->plan, w->runs.at[i].first, wide) &&
		    !parts_covered(w->parts, w->plan, w->runs.at[i].first, w->wide))
			sum += w->runs.at[i].alone;
	return sum;
}

static double share_of(const struct repair *r, const bool *wide)
{
	int64_t macs = 0;
	for (int n = 0; n < r->g->n_nodes; n++)
		macs += wide[n] ? r->macs[n] : 0;
	return r->total_macs > 0 ? (double)macs / (double)r->total_macs : 0;
}

static void consider(const struct widener *w, int run, struct choice *best)
{
	const struct repair *r = w->f->r;
	size_t n = (size_t)r->g->n_nodes;
	struct choice c = {.run = run, .wide = xcalloc(n + 1, 1)};
	memcpy(c.wide, w->wide, n);
	parts_widen(w->parts, w->plan, w->runs.at[run].first, c.wide);
	double share = share_of(r, c.wide) - share_of(r, w->wide);
	c.expected = newly_covered(w, c.wide);
	c.worth = c.expected / (share + SHARE_FLOOR + SHARE_NOISE * r->figures.damage);
	bool fits = !(r->figures.wide + share > r->opt.goal.max_wide);
	if (fits && c.expected > (HOPE + HOPE_NOISE * r->figures.damage) * r->figures.damage && c.worth > best->worth) {
		free(best->wide);
		*best = c;
	} else {
		free(c.wide);
	}
}

static struct choice choose(const struct widener *w)
{
	struct choice best = {.run = -1};
	for (int i = 0; i < w->runs.n; i++)
		if (is_part(&w->runs.at[i]) && !w->refused[i] && !parts_covered(w->parts, w->plan, w->runs.at[i].first, w->wide))
			consider(w, i, &best);
	return best;
}

// 16 bits need no clipping: outputs that have a scale of their own get the one of their whole range, whatever the calibrator would
// do and whatever scale was chosen for 8 bits.
static enum status open_ranges(struct repair *r, struct candidate *c, const bool *added, struct error *err)
{
	struct plan *p = NULL;
	struct trial t = {.edits = edits_copy(c->trial.edits), .method = CALIB_MINMAX};
	for (int n = 0; n < r->g->n_nodes; n++)
		t.edits->scale[n] = added[n] ? 0 : t.edits->scale[n];
	enum status st = scales_plan(r->scales, &p, &t, err);
	for (int n = 0; st == STATUS_OK && n < r->g->n_nodes; n++) {
		const struct slot *s = added[n] && r->g->node[n].n_out > 0 ? plan_out(p, n, 0) : NULL;
		if (s && s->state == SLOT_ACTIVE && s->quant.n == 1 && s->quant.bits == 16)
			candidate_scale(r, c, n, (double)s->quant.scale[0]);
		else if (s && c->trial.edits->scale[n] != 0)
			candidate_scale(r, c, n, 0);
	}
	plan_free(&p);
	trial_done(&t);
	return st;
}

static enum status widen(struct widener *w, struct choice *c, bool *kept, struct error *err)
{
	struct repair *r = w->f->r;
	enum precision p = target_has_precision(r->target, 16) ? PREC_INT16 : PREC_FLOAT;
	const struct part *part = &w->parts->at[w->runs.at[c->run].first];
	bool *added = xcalloc((size_t)r->g->n_nodes + 1, 1);
	struct candidate one = {.kind = REPAIR_WIDEN, .trial = trial_copy(&r->now), .expected = c->expected};
	int n_added = 0;
	for (int n = 0; n < r->g->n_nodes; n++) {
		added[n] = c->wide[n] && !w->wide[n];
		n_added += added[n];
	}
	candidate_set(r, &one, added, p);
	enum status st = open_ranges(r, &one, added, err);
	one.reason = repair_text(r, "%s%s alone does %.4f of damage: with its maker and readers, %d operators and %.2f %% of the MACs.",
	    part->value < 0 ? "the weights of " : "", r->g->node[part->node].name, w->runs.at[c->run].alone, n_added,
	    100 * (share_of(r, c->wide) - share_of(r, w->wide)));
	free(added);
	if (st == STATUS_OK)
		return fix_try(w->f, &one, kept, err);
	trial_done(&one.trial);
	return st;
}

static enum status widen_all(struct widener *w, struct error *err)
{
	enum status st = STATUS_OK;
	while (st == STATUS_OK && fix_may_go_on(w->f, err)) {
		bool kept = false;
		struct choice c = choose(w);
		if (c.run < 0)
			break;
		repair_tell(w->f->r, share_of(w->f->r, w->wide) / w->f->r->opt.goal.max_wide, "more bits: %s",
		    w->f->r->g->node[w->parts->at[w->runs.at[c.run].first].node].name);
		double before = w->f->r->figures.damage;
		st = widen(w, &c, &kept, err);
		if (kept)
			memcpy(w->wide, c.wide, (size_t)w->f->r->g->n_nodes);
		if (kept && w->f->r->figures.damage < before * (1 - PROGRESS))
			memset(w->refused, 0, (size_t)w->runs.n);
		w->refused[c.run] = !kept;
		free(c.wide);
	}
	return st;
}

enum status remedy_widen(struct fixing *f, struct error *err)
{
	struct repair *r = f->r;
	struct plan *p = NULL;
	enum status st = scales_plan(r->scales, &p, &r->now, err);
	if (st != STATUS_OK)
		return st;
	struct widener w = {.f = f, .plan = p, .parts = parts_new(p), .wide = xcalloc((size_t)r->g->n_nodes + 1, 1)};
	st = runs_split(r, &r->now, w.parts, &w.runs, err);
	w.refused = xcalloc((size_t)w.runs.n + 1, 1);
	if (st == STATUS_OK)
		st = widen_all(&w, err);
	runs_done(&w.runs);
	parts_free(&w.parts);
	free(w.wide);
	free(w.refused);
	plan_free(&p);
	return st;
}
