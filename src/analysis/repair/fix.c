// The guided repair: remedies from the cheapest to the dearest, each measured in the network as it is by then, kept when it pays.
#include <math.h>
#include <stdlib.h>
#include "repair_impl.h"

static const double PAYS = 0.004;   // of the damage: less than this is not worth more bits
static const double SOUND = 0.002;  // of damage: there is nothing to mend, unless something is asked for
static const double LOSES = 0.02;   // of the task metric: more than this below the best so far speaks against a step

static bool affordable(const struct repair *r, const struct repair_figures *f)
{
	const struct repair_goal *g = &r->opt.goal;
	return !(f->wide > g->max_wide && f->wide > r->figures.wide) && !(f->cost > g->max_cost && f->cost > r->figures.cost);
}

// What costs nothing has only not to harm: that it does good has been seen at the tensor alone.
static bool pays(const struct repair *r, const struct repair_figures *f)
{
	double least = f->wide > r->figures.wide ? PAYS : 0;
	return f->damage < r->figures.damage * (1 - least) && affordable(r, f);
}

static bool passes(const struct repair *r, const struct candidate *c, const struct repair_figures *f)
{
	return pays(r, f) || (affordable(r, f) && (c->by_task || (c->unseen && f->damage == r->figures.damage)));
}

// Without a task (NAN) what damage does not speak against is kept.
static bool task_agrees(const struct repair *r, const struct candidate *c, const struct repair_figures *f)
{
	if (c->by_task || f->damage == r->figures.damage)
		return !(f->score <= r->figures.score);
	return !(f->score < r->figures.score - LOSES);
}

static void tell_step(struct fixing *f, const struct candidate *c, const struct repair_figures *after, bool kept)
{
	struct repair_step s = {.kind = c->kind, .command = c->command, .n_commands = c->n_commands, .reason = c->reason, .expected = c->expected, .kept = kept,
	    .before = f->r->figures, .after = *after};
	if (f->step)
		f->step(f->arg, &s);
}

static enum status measure(struct fixing *f, const struct candidate *c, struct repair_figures *out, bool *kept, struct error *err)
{
	struct repair *r = f->r;
	struct plan *p = NULL;
	struct damage d = {0};
	enum status st = scales_plan(r->scales, &p, &c->trial, err);
	if (st == STATUS_OK)
		st = probe_damage(r->probe, p, &d, err);
	if (st == STATUS_OK) {
		*out = (struct repair_figures){.damage = d.damage, .snr_db = d.snr_db, .score = NAN};
		repair_cost(r, p, out);
		*kept = passes(r, c, out);
	}
	// The task is asked only of what the damage speaks for: it takes many more samples.
	if (st == STATUS_OK && *kept && (st = repair_score(r, p, &out->score, err)) == STATUS_OK)
		*kept = task_agrees(r, c, out);
	plan_free(&p);
	return st;
}

enum status fix_try(struct fixing *f, struct candidate *c, bool *kept, struct error *err)
{
	struct repair_figures after = {0};
	bool good = false;
	enum status st = measure(f, c, &after, &good, err);
	if (st == STATUS_OK)
		tell_step(f, c, &after, good);
	if (st == STATUS_OK && good) {
		trial_done(&f->r->now);
		f->r->now = c->trial;
		c->trial.edits = NULL;
		f->r->figures = after;
		f->kept++;
	}
	trial_done(&c->trial);
	if (kept)
		*kept = good;
	return st;
}

bool fix_may_go_on(struct fixing *f, struct error *err)
{
	if (repair_over(f->r, err)) {
		f->r->end = err->status == STATUS_CANCELLED ? "cancelled" : "the time is over";
		return false;
	}
	if (repair_goal_met(f->r)) {
		f->r->end = "the goal is reached";
		return false;
	}
	if (f->r->figures.damage < SOUND && !repair_goal_asked(&f->r->opt.goal)) {
		f->r->end = "the outputs are as good as the float network's";
		return false;
	}
	return true;
}

typedef enum status remedy_fn(struct fixing *f, struct error *err);

static enum status try_remedies(struct repair *r, remedy_fn *const *remedy, size_t n, repair_step_fn *step, void *arg, struct error *err)
{
	struct fixing f = {.r = r, .step = step, .arg = arg};
	enum status st = repair_prepare(r, err);
	r->end = "nothing pays any more";
	for (size_t i = 0; st == STATUS_OK && i < n && fix_may_go_on(&f, err); i++)
		st = remedy[i](&f, err);
	if (st == STATUS_CANCELLED) {
		r->end = "cancelled";
		st = STATUS_OK;
	}
	return st;
}

enum status repair_fix(struct repair *r, repair_step_fn *step, void *arg, struct error *err)
{
	static remedy_fn *const remedy[] = {remedy_tail, remedy_scales, remedy_calibration, remedy_behind, remedy_widen, remedy_scales,
	    remedy_widen, remedy_logits};
	return try_remedies(r, remedy, sizeof remedy / sizeof *remedy, step, arg, err);
}

enum status repair_tune(struct repair *r, repair_step_fn *step, void *arg, struct error *err)
{
	static remedy_fn *const remedy[] = {remedy_weights};
	return try_remedies(r, remedy, 1, step, arg, err);
}
