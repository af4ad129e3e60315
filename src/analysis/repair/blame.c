// Blame: the damage of parts standing alone. All parts together are split in two again and again, the most damaging run first: a run
// that does little alone is never looked into, so that the culprits are found in a fraction of the networks that one run a part
// would take, and whenever time is over what is there is a map of regions.
#include <math.h>
#include <stdlib.h>
#include "repair_impl.h"

enum { GAINS = 8 };                 // of so many parts the opposite is measured too
static const double SHARE = 0.02;   // of the whole damage: a run below it is not split

static enum status damage_of(struct repair *r, const struct trial *t, const struct parts *parts, int first, int last, bool invert,
    double *out, struct error *err)
{
	struct plan *p = NULL;
	struct damage d = {0};
	enum status st = scales_plan(r->scales, &p, t, err);
	if (st == STATUS_OK) {
		parts_isolate(parts, p, first, last, invert);
		st = probe_damage(r->probe, p, &d, err);
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

static enum status split(struct repair *r, const struct trial *t, const struct parts *parts, struct runs *s, struct run *run,
    struct error *err)
{
	int middle = run->first + (run->last - run->first) / 2;
	struct run left = {.first = run->first, .last = middle}, right = {.first = middle, .last = run->last};
	enum status st = damage_of(r, t, parts, left.first, left.last, false, &left.alone, err);
	if (st == STATUS_OK)
		st = damage_of(r, t, parts, right.first, right.last, false, &right.alone, err);
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

enum status runs_split(struct repair *r, const struct trial *t, const struct parts *parts, struct runs *out, struct error *err)
{
	struct runs s = {.at = xcalloc((size_t)parts->n + 1, sizeof *s.at)};
	enum status st = damage_of(r, t, parts, 0, parts->n, false, &s.total, err);
	double floor = fmax(s.total * SHARE, 1e-7), rest = 0;
	if (st == STATUS_OK && parts->n > 0)
		s.at[s.n++] = (struct run){.last = parts->n, .alone = s.total};
	for (struct run *run; st == STATUS_OK && (run = worst_run(&s, floor)) != NULL;) {
		if (repair_over(r, err))
			break;
		rest = s.total > 0 ? run->alone / s.total : 0;
		repair_tell(r, 1 - fmin(rest, 1), "blame: %d networks run, largest region left %.4f of %.4f", probe_runs(r->probe), run->alone, s.total);
		st = split(r, t, parts, &s, run, err);
	}
	s.complete = st == STATUS_OK && !worst_run(&s, floor);
	if (st == STATUS_CANCELLED)
		st = STATUS_OK; // what is there is a map
	qsort(s.at, (size_t)s.n, sizeof *s.at, by_damage);
	*out = s;
	return st;
}

void runs_done(struct runs *s)
{
	free(s->at);
	*s = (struct runs){0};
}

// ---- for readers

static double share_of(const struct repair *r, const struct plan *p, const struct parts *parts, int part)
{
	bool *wide = xcalloc((size_t)r->g->n_nodes + 1, 1);
	int64_t macs = parts_widen(parts, p, part, wide);
	free(wide);
	return r->total_macs > 0 ? (double)macs / (double)r->total_macs : 0;
}

static struct blame describe(const struct repair *r, const struct plan *p, const struct parts *parts, const struct run *run)
{
	const struct part *a = &parts->at[run->first], *b = &parts->at[run->last - 1];
	struct blame out = {.node = a->node, .last_node = b->node, .value = -1, .run = run->last - run->first > 1,
	    .parts = run->last - run->first, .alone = run->alone, .gain = NAN, .score_gain = NAN, .wide = NAN};
	if (!out.run) {
		out.value = a->value;
		out.wide = share_of(r, p, parts, run->first);
	}
	return out;
}

static enum status add_gain(struct repair *r, const struct parts *parts, const struct run *run, double total, struct blame *out,
    struct error *err)
{
	struct plan *p = NULL;
	struct damage d = {0};
	double score = NAN;
	enum status st = scales_plan(r->scales, &p, &r->now, err);
	if (st == STATUS_OK) {
		parts_isolate(parts, p, run->first, run->last, true);
		st = probe_damage(r->probe, p, &d, err);
	}
	if (st == STATUS_OK)
		st = repair_score(r, p, &score, err);
	if (st == STATUS_OK) {
		out->gain = total - d.damage;
		out->score_gain = score - r->figures.score;
	}
	plan_free(&p);
	return st;
}

enum status repair_blame(struct repair *r, struct blames **out, struct error *err)
{
	struct plan *p = NULL;
	struct parts *parts = NULL;
	struct runs s = {0};
	struct blames *b = xcalloc(1, sizeof *b);
	enum status st = repair_prepare(r, err);
	if (st == STATUS_OK)
		st = scales_plan(r->scales, &p, &r->now, err);
	if (st != STATUS_OK)
		goto out;
	parts = parts_new(p);
	st = runs_split(r, &r->now, parts, &s, err);
	b->at = xcalloc((size_t)s.n + 1, sizeof *b->at);
	b->n = s.n;
	b->total = s.total;
	b->complete = s.complete;
	for (int i = 0; i < s.n; i++)
		b->at[i] = describe(r, p, parts, &s.at[i]);
	for (int i = 0; i < s.n && i < GAINS && st == STATUS_OK && !repair_over(r, err); i++) {
		repair_tell(r, (double)i / GAINS, "blame: what is gained without %s", r->g->node[b->at[i].node].name);
		st = add_gain(r, parts, &s.at[i], s.total, &b->at[i], err);
	}
	if (st == STATUS_CANCELLED)
		st = STATUS_OK;
out:
	runs_done(&s);
	parts_free(&parts);
	plan_free(&p);
	if (st != STATUS_OK)
		repair_blames_free(&b);
	*out = b;
	return st;
}

void repair_blames_free(struct blames **b)
{
	if (*b)
		free((*b)->at);
	free(*b);
	*b = NULL;
}
