// Other scales for the tensors to blame. Range rules look at numbers of the tensor; here the range is what
// the network's outputs say: the tensor alone is quantized with finer and finer steps, and with coarser ones,
// as long as the damage at the outputs falls, clipping included; the better of both ways is taken.
#include <stdlib.h>
#include <string.h>
#include "repair_impl.h"

enum { STEPS = 6 }; // scales at most that are tried in either direction
enum { FINER = 2, COARSER = 1 }; // steps in a row that bring nothing and end it: clipping has more than one valley
enum { TRIES = 16 }; // networks measured in halves: those that save most come first
static const double LEAST = 0.02;  // a finer step must save this part of the tensor's own damage

struct search {
	int part, value;
	double scale, damage;  // the best so far
	double before, first;  // the calibrated scale and its damage
};

// The tensors of the plan in force that are to blame, and what was found for them.
struct tensors {
	struct repair *r;
	const struct plan *plan;
	const struct parts *parts;
	const struct runs *runs;
	struct search *found; // [runs->n], `n` of them
	int n;
};

static enum status alone(const struct tensors *in, const struct search *s, double scale, double *damage, struct error *err)
{
	struct repair *r = in->r;
	struct plan *p = NULL;
	struct damage d = {0};
	struct trial t = trial_copy(&r->now);
	edits_give_scale(t.edits, s->value, scale, ZERO_FOLLOWS);
	enum status st = scales_plan(r->scales, &p, &t, err);
	if (st == STATUS_OK) {
		parts_isolate(in->parts, p, s->part, s->part + 1, false);
		st = probe_alone(r->probe, p, &d, err);
	}
	*damage = d.damage;
	plan_free(&p);
	trial_done(&t);
	return st;
}

// Goes on by `factor` while it pays.
static enum status descend(const struct tensors *in, struct search *s, double factor, int patience, struct error *err)
{
	double scale = s->scale;
	for (int i = 0, misses = 0; i < STEPS && misses < patience && !repair_over(in->r); i++) {
		double damage;
		scale = (double)(float)(scale * factor); // as an edit holds it
		if (plan_check_scale(in->r->bare, s->value, scale, ZERO_FOLLOWS, false, err) != STATUS_OK)
			break;
		enum status st = alone(in, s, scale, &damage, err);
		if (st != STATUS_OK)
			return st;
		misses++;
		if (!(damage < s->damage - LEAST * s->first))
			continue;
		misses = 0;
		s->damage = damage;
		s->scale = scale;
	}
	*err = (struct error){0};
	return STATUS_OK;
}

static const char *reason_of(struct repair *r, const struct search *s, int n)
{
	double first = 0, damage = 0;
	for (int i = 0; i < n; i++) {
		first += s[i].first;
		damage += s[i].damage;
	}
	if (n == 1)
		return repair_text(r, "%s alone does %.4f of damage with the step %.4g of its calibration and %.4f with %.4g.",
		    graph_output_name(r->g, s->value), s->first, s->before, s->damage, s->scale);
	return repair_text(
	    r, "%d tensors do %.4f of damage, each alone, with the steps of their calibration and %.4f with these.", n, first, damage);
}

// All at once; what does not pay together is tried in halves:
// in a network that is full of noise one tensor's share does not show.
static enum status try_scales(struct fixing *f, const struct search *s, int n, int *tries, struct error *err)
{
	struct repair *r = f->r;
	struct candidate c = {
	    .kind = REPAIR_SCALE, .trial = trial_copy(&r->now), .harmless = repair_by_boxes(r) && r->figures.damage > REPAIR_RUINED};
	bool kept = false;
	double *scale = xcalloc((size_t)r->g->n_values + 1, sizeof *scale);
	memcpy(scale, r->now.edits->scale, (size_t)r->g->n_values * sizeof *scale);
	for (int i = 0; i < n; i++) {
		c.expected += s[i].first - s[i].damage;
		scale[s[i].value] = s[i].scale;
	}
	candidate_scales(r, &c, scale);
	free(scale);
	c.reason = reason_of(r, s, n);
	enum status st = fix_try(f, &c, &kept, err);
	(*tries)--;
	if (st == STATUS_OK && !kept && n > 1 && *tries > 0 && fix_may_go_on(f))
		st = try_scales(f, s, n / 2, tries, err);
	if (st == STATUS_OK && !kept && n > 1 && *tries > 0 && fix_may_go_on(f))
		st = try_scales(f, s + n / 2, n - n / 2, tries, err);
	return st;
}

// An output that has a scale of its own.
static bool has_scale(const struct repair *r, const struct plan *p, const struct part *part)
{
	const struct slot *s = part->slot >= 0 ? &p->slot[part->slot] : NULL;
	return s && s->is_output && s->quant.n == 1 && s->quant.bits == 8 && r->now.edits->scale[s->value] == 0;
}

static enum status find_scale(const struct tensors *in, const struct run *run, struct search *s, struct error *err)
{
	const struct part *part = &in->parts->at[run->first];
	const struct quantizer *q = &in->plan->slot[part->slot].quant;
	double scale = (double)q->scale[0], down = q->pow2 ? 0.5 : 0.75;
	*s = (struct search){.part = run->first, .value = part->value, .scale = scale, .before = scale, .damage = run->alone,
	    .first = run->alone};
	struct search coarser = *s;
	enum status st = descend(in, s, down, FINER, err);
	if (st == STATUS_OK)
		st = descend(in, &coarser, 1 / down, COARSER, err); // also where a finer one pays: damage may fall on both sides
	if (coarser.damage < s->damage)
		*s = coarser;
	return st;
}

static int by_saving(const void *a, const void *b)
{
	const struct search *x = a, *y = b;
	double sx = x->first - x->damage, sy = y->first - y->damage;
	if (sx != sy)
		return sx < sy ? 1 : -1;
	return (x->part > y->part) - (x->part < y->part);
}

// Those that save most first.
static enum status find_scales(struct tensors *in, struct error *err)
{
	struct repair *r = in->r;
	const struct runs *runs = in->runs;
	enum status st = STATUS_OK;
	double end = repair_lend(r, 0.5);
	for (int i = 0; i < runs->n && st == STATUS_OK && !repair_over(r); i++) {
		const struct run *run = &runs->at[i];
		const struct part *part = &in->parts->at[run->first];
		if (run->last - run->first > 1 || run->alone < REPAIR_SHARE * runs->total || !has_scale(r, in->plan, part))
			continue;
		struct search *s = &in->found[in->n];
		repair_tell(r, (double)i / runs->n, "scales: %s", r->g->node[part->node].name);
		st = find_scale(in, run, s, err);
		in->n += st == STATUS_OK && s->scale != s->before;
	}
	r->deadline = end;
	qsort(in->found, (size_t)in->n, sizeof *in->found, by_saving);
	return st;
}

enum status remedy_scales(struct fixing *f, struct error *err)
{
	struct repair *r = f->r;
	struct plan *p = NULL;
	struct runs runs = f->ranked;
	int tries = TRIES;
	f->ranked = (struct runs){0};
	enum status st = scales_plan(r->scales, &p, &r->now, err);
	if (st != STATUS_OK) {
		runs_done(&runs);
		return st;
	}
	struct parts *parts = parts_new(p);
	if (!runs.at)
		st = runs_find(r, parts, &runs, err);
	struct search *found = xcalloc((size_t)runs.n + 1, sizeof *found);
	struct tensors in = {.r = r, .plan = p, .parts = parts, .runs = &runs, .found = found};
	if (st == STATUS_OK)
		st = find_scales(&in, err);
	const int n = in.n;
	// The chief one for itself, so that its gain is seen; where it does not pay, once more beside the others.
	if (st == STATUS_OK && n > 0 && fix_may_go_on(f))
		st = try_scales(f, found, 1, &tries, err);
	const int kept = r->kept;
	if (st == STATUS_OK && n > 1 && fix_may_go_on(f))
		st = try_scales(f, found + 1, n - 1, &tries, err);
	if (st == STATUS_OK && r->kept > kept && r->now.edits->scale[found->value] != found->scale && fix_may_go_on(f))
		st = try_scales(f, found, 1, &tries, err);
	free(found);
	runs_done(&runs);
	parts_free(&parts);
	plan_free(&p);
	return st;
}
