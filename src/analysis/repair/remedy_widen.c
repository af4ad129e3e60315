// More bits within a budget, for maker and readers of a tensor together, never a node for itself.
// In a network full of noise what mends a part of it does not show, so that no single step would pay:
// a whole allocation is measured. Allocations differ in their seed, a part that is widened first whatever it costs;
// the best seed stays and the next is looked for beside it.
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "repair_impl.h"

enum { SEEDS = 6, ROUNDS = 3 }; // parts that are tried as seeds in a round; rounds, while they bring something
enum { OPTIONS_MAX = 2 * SEEDS * ROUNDS + 8 };
enum { TRIED = 3 }; // of the best options: so many are judged by all samples, and offered
static const double BETTER = 0.01; // of the damage: another seed must save so much
static const double ROOM = 0.002;   // of the work: with less to spend there is nothing to look for
static const double NEAR = 0.08;   // likewise: options so close are judged by all samples
static const double CHEAPER = 0.005; // likewise what fewer MACs may cost

struct option {
	bool *seed, *wide; // [n_nodes] what was widened first; with what the rest of the budget bought
	double damage;
	struct outlay outlay;
};
struct widener {
	struct fixing *f;
	struct plan *plan;    // before any of this is widened
	struct parts *parts;
	double *alone;        // [parts] of a run that was not split: each its share
	int *rank, n_ranked;  // parts that stand alone, the most damaging first
	struct allocator *allocator;
	struct outlay budget;
	struct option option[OPTIONS_MAX];
	int n_options, best;  // -1: none yet
};

static size_t nodes(const struct widener *w)
{
	return (size_t)w->f->r->g->n_nodes;
}

// 16 bits need no clipping: outputs that have a scale of their own get the one of their whole range,
// whatever the calibrator would do and whatever scale was chosen for 8 bits.
static enum status open_ranges(struct repair *r, struct candidate *c, const bool *added, struct error *err)
{
	struct plan *p = NULL;
	struct trial t = {.edits = edits_copy(c->trial.edits), .method = CALIB_MINMAX};
	double *scale = xcalloc((size_t)r->g->n_values + 1, sizeof *scale);
	memcpy(scale, c->trial.edits->scale, (size_t)r->g->n_values * sizeof *scale);
	for (int n = 0; n < r->g->n_nodes; n++)
		if (added[n])
			edits_forget_scales(t.edits, &r->g->node[n]);
	enum status st = scales_plan(r->scales, &p, &t, err);
	for (int i = 0; st == STATUS_OK && i < p->n_slots; i++) {
		const struct slot *s = &p->slot[i];
		if (!s->is_output || s->value < 0 || !added[s->node])
			continue;
		bool own = s->state == SLOT_ACTIVE && s->quant.n == 1 && s->quant.bits == 16 &&
		    repair_may_scale(r, s->value, (double)s->quant.scale[0]);
		scale[s->value] = own ? (double)s->quant.scale[0] : 0;
	}
	if (st == STATUS_OK)
		candidate_scales(r, c, scale);
	free(scale);
	plan_free(&p);
	trial_done(&t);
	return st;
}

static enum status candidate_of(const struct widener *w, const bool *wide, struct candidate *out, struct error *err)
{
	struct repair *r = w->f->r;
	*out = (struct candidate){.kind = REPAIR_WIDEN, .trial = trial_copy(&r->now),
	    .expected = fmin(r->figures.damage, allocator_left(w->allocator, NULL) - allocator_left(w->allocator, wide))};
	candidate_set(r, out, wide, repair_wide_precision(r));
	enum status st = open_ranges(r, out, wide, err);
	if (st != STATUS_OK)
		trial_done(&out->trial);
	return st;
}

static bool is_known(const struct widener *w, const bool *wide)
{
	for (int i = 0; i < w->n_options; i++)
		if (memcmp(w->option[i].wide, wide, nodes(w)) == 0)
			return true;
	return false;
}

static bool *copy_of(const struct widener *w, const bool *of)
{
	bool *copy = xcalloc(nodes(w) + 1, 1);
	memcpy(copy, of, nodes(w));
	return copy;
}

static void option_done(struct option *o)
{
	free(o->seed);
	free(o->wide);
	*o = (struct option){0};
}

// Fills the budget beside the seed and measures the network that comes of it.
// *found: its option, -1 where there is no new one.
static enum status measure(struct widener *w, const bool *seed, struct outlay budget, int *found, struct error *err)
{
	struct option o = {.seed = copy_of(w, seed), .wide = copy_of(w, seed)};
	struct candidate c;
	struct repair_figures now;
	enum status st = STATUS_OK;
	*found = -1;
	allocator_fill(w->allocator, budget, o.wide);
	o.outlay = allocator_outlay(w->allocator, o.wide);
	if (!outlay_within(o.outlay, budget) || w->n_options == OPTIONS_MAX || is_known(w, o.wide) || !memchr(o.wide, true, nodes(w)))
		goto out;
	st = candidate_of(w, o.wide, &c, err);
	if (st != STATUS_OK)
		goto out;
	st = repair_estimate(w->f->r, &c.trial, &now, err);
	trial_done(&c.trial);
	if (st == STATUS_OK) {
		o.damage = now.damage;
		*found = w->n_options;
		w->option[w->n_options++] = o;
		return st;
	}
out:
	option_done(&o);
	return st;
}

static enum status try_option(struct widener *w, const bool *seed, struct error *err)
{
	int found;
	enum status st = measure(w, seed, w->budget, &found, err);
	if (found >= 0 && (w->best < 0 || w->option[found].damage < w->option[w->best].damage * (1 - BETTER)))
		w->best = found;
	return st;
}

// Parts that the best option leaves at 8 bit, the most damaging ones.
static int find_seeds(const struct widener *w, int *part)
{
	int count = 0;
	for (int i = 0; i < w->n_ranked && count < SEEDS; i++)
		if (!allocator_saves(w->allocator, w->rank[i], w->option[w->best].wide))
			part[count++] = w->rank[i];
	return count;
}

// Each of them beside the best option's seed.
static enum status try_seeds(struct widener *w, struct error *err)
{
	struct repair *r = w->f->r;
	int part[SEEDS], n = find_seeds(w, part), from = w->best;
	enum status st = STATUS_OK;
	for (int i = 0; i < 2 * n && st == STATUS_OK && !repair_over(r); i++) {
		bool *seed = copy_of(w, w->option[from].seed);
		repair_tell(r, (double)i / (2 * n), "more bits: %s first", r->g->node[w->parts->at[part[i / 2]].node].name);
		parts_widen(w->parts, w->plan, part[i / 2], i % 2, seed);
		st = try_option(w, seed, err);
		free(seed);
	}
	return st;
}

// The same seed with less to spend: what does hardly anything is not bought.
static enum status try_cheaper(struct widener *w, struct error *err)
{
	enum status st = STATUS_OK;
	for (int part = 2; st == STATUS_OK && part < 16 && !repair_over(w->f->r); part *= 2) {
		int found;
		st = measure(w, w->option[w->best].seed, (struct outlay){w->budget.wide / part, w->budget.cost / part}, &found, err);
		if (found < 0 || w->option[found].damage > w->option[w->best].damage * (1 + CHEAPER))
			break;
		w->best = found;
	}
	return st;
}

static enum status apply(struct widener *w, const struct option *o, bool *kept, struct error *err)
{
	struct repair *r = w->f->r;
	struct candidate c;
	char more[COST_TIME];
	int count = 0;
	for (size_t n = 0; n < nodes(w); n++)
		count += o->wide[n];
	enum status st = candidate_of(w, o->wide, &c, err);
	if (st != STATUS_OK)
		return st;
	const char *time = r->costs->latency ? cost_time(more, o->outlay.cost * r->costs->narrow) : "";
	c.reason = repair_text(r, "%d operator%s, %.2f %% of the MACs%s%s%s: with them wide, what the parts do alone falls "
	    "from %.4f to %.4f; most by %s.",
	    count, plural(count), 100 * o->outlay.wide, *time ? ", " : "", time, *time ? " more" : "", allocator_left(w->allocator, NULL),
	    allocator_left(w->allocator, o->wide), r->g->node[w->parts->at[w->rank[0]].node].name);
	return fix_try(w->f, &c, kept, err);
}

static int by_damage(const void *a, const void *b)
{
	const struct option *x = a, *y = b;
	return x->damage != y->damage ? (x->damage < y->damage ? -1 : 1) : (x->outlay.cost > y->outlay.cost) - (x->outlay.cost < y->outlay.cost);
}

// Options about as good as the best one are asked of all samples of the task: few samples cannot tell them apart.
static enum status judge(struct widener *w, struct error *err)
{
	struct repair *r = w->f->r;
	enum status st = STATUS_OK;
	int best = 0;
	double least = INFINITY;
	for (int i = 0; i < w->n_options && i < TRIED && st == STATUS_OK && !repair_over(r); i++) {
		struct repair_figures f = {.apart = NAN};
		struct candidate c;
		struct plan *p = NULL;
		if (w->option[i].damage > w->option[0].damage * (1 + NEAR))
			break;
		repair_tell(r, (double)i / TRIED, "more bits: all samples judge between the best");
		st = candidate_of(w, w->option[i].wide, &c, err);
		if (st != STATUS_OK)
			break;
		st = scales_plan(r->scales, &p, &c.trial, err);
		if (st == STATUS_OK)
			st = repair_score(r, p, &f, err);
		plan_free(&p);
		trial_done(&c.trial);
		if (f.apart < least) {
			least = f.apart;
			best = i;
		}
	}
	struct option first = w->option[best];
	w->option[best] = w->option[0];
	w->option[0] = first;
	return st;
}

// The best; where the task speaks against it, the next ones.
static enum status apply_best(struct widener *w, struct error *err)
{
	bool kept = false;
	struct option best = w->option[w->best];
	w->option[w->best] = w->option[0];
	w->option[0] = best;
	qsort(w->option + 1, (size_t)w->n_options - 1, sizeof best, by_damage);
	enum status st = w->f->r->opt.task ? judge(w, err) : STATUS_OK;
	for (int i = 0; i < w->n_options && i < TRIED && st == STATUS_OK && !kept && (i == 0 || fix_may_go_on(w->f)); i++)
		st = apply(w, &w->option[i], &kept, err);
	return st;
}

static struct outlay budget_of(const struct repair *r)
{
	const struct repair_goal *g = &r->opt.goal;
	return (struct outlay){g->max_wide - r->figures.wide,
	    fmin(g->max_cost - r->figures.cost, (1000 * g->max_time - r->figures.us) / r->costs->narrow)};
}

// Is there anything to look for? What a MAC above 8 bit costs more is the same for all of them.
static bool has_room(const struct repair *r, struct outlay budget)
{
	return !(fmin(budget.wide, budget.cost / (cost_weight(repair_wide_precision(r)) - cost_weight(PREC_INT8))) < ROOM);
}

static void rank_parts(struct widener *w, const struct runs *runs)
{
	for (int i = 0; i < runs->n; i++) {
		const struct run *run = &runs->at[i];
		for (int k = run->first; k < run->last; k++)
			w->alone[k] = run->alone / (run->last - run->first);
		if (run->last - run->first == 1)
			w->rank[w->n_ranked++] = run->first;
	}
}

// Scales for whatever may become wide are observed in one pass, not in one for every option.
static enum status learn_scales(struct widener *w, struct error *err)
{
	bool *narrow = xcalloc(nodes(w) + 1, 1);
	struct candidate c;
	for (size_t n = 0; n < nodes(w); n++)
		narrow[n] = w->plan->quantizable[n] && w->plan->precision[n] == PREC_INT8;
	enum status st = candidate_of(w, narrow, &c, err);
	struct plan *p = NULL;
	if (st == STATUS_OK) {
		st = scales_plan(w->f->r->scales, &p, &c.trial, err);
		trial_done(&c.trial);
	}
	plan_free(&p);
	free(narrow);
	return st;
}

static enum status widen(struct widener *w, struct error *err)
{
	bool *none = xcalloc(nodes(w) + 1, 1);
	enum status st = learn_scales(w, err);
	if (st == STATUS_OK)
		st = try_option(w, none, err);
	for (int i = 0, before = -1; i < ROUNDS && st == STATUS_OK && w->best != before; i++) {
		before = w->best;
		st = try_seeds(w, err);
	}
	if (st == STATUS_OK && w->best >= 0)
		st = try_cheaper(w, err);
	free(none);
	return st == STATUS_OK && w->best >= 0 ? apply_best(w, err) : st;
}

enum status remedy_widen(struct fixing *f, struct error *err)
{
	struct repair *r = f->r;
	struct widener w = {.f = f, .best = -1, .budget = budget_of(r)};
	struct runs runs = {0};
	if (!has_room(r, w.budget))
		return STATUS_OK;
	enum status st = scales_plan(r->scales, &w.plan, &r->now, err);
	if (st != STATUS_OK)
		return st;
	w.parts = parts_new(w.plan);
	w.alone = xcalloc((size_t)w.parts->n + 1, sizeof *w.alone);
	w.rank = xcalloc((size_t)w.parts->n + 1, sizeof *w.rank);
	st = runs_find(r, w.parts, &runs, err);
	rank_parts(&w, &runs);
	w.allocator = allocator_new(r, w.parts, w.plan, w.alone);
	if (st == STATUS_OK && w.n_ranked > 0)
		st = widen(&w, err);
	for (int i = 0; i < w.n_options; i++)
		option_done(&w.option[i]);
	runs_done(&runs);
	allocator_free(&w.allocator);
	parts_free(&w.parts);
	free(w.alone);
	free(w.rank);
	plan_free(&w.plan);
	return st;
}
