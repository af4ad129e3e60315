// The guided repair: remedies from the cheapest to the dearest, each measured in the network
// as it is by then, kept when it pays.
#include <math.h>
#include <stdlib.h>
#include "qtui/engine/equalize.h"
#include "repair_impl.h"

static const double PAYS = 0.004;   // of the damage: less than this is not worth more bits
static const double SOUND = 0.002;  // of damage: there is nothing to mend, unless something is asked for
static const double SLACK = 0.01;   // what cannot harm may seem to, in a network that is all noise
static const double MUCH = 0.1;     // of damage: worth a model file of one's own
static const double LOSES = 0.02;   // of the task metric: more than this below the best so far speaks against a step

static bool affordable(const struct repair *r, const struct repair_figures *f)
{
	const struct repair_goal *g = &r->opt.goal;
	bool dearer = f->cost > r->figures.cost;
	return !(f->wide > g->max_wide && f->wide > r->figures.wide) && !(f->cost > g->max_cost && dearer) &&
	    !(f->us > 1000 * g->max_time && dearer);
}

// What costs nothing has only not to harm: that it does good has been seen at the tensor alone.
static bool pays(const struct repair *r, const struct candidate *c, const struct repair_figures *f)
{
	double least = c->decided || f->wide > r->figures.wide || f->cost > r->figures.cost ? PAYS : 0;
	return f->damage < r->figures.damage * (1 - least) && affordable(r, f);
}

static bool passes(const struct repair *r, const struct candidate *c, const struct repair_figures *f)
{
	bool good = c->by_task || (c->unseen && f->damage == r->figures.damage) || (c->harmless && f->damage <= r->figures.damage * (1 + SLACK));
	return pays(r, c, f) || (good && affordable(r, f));
}

// Over all samples of the task boxes are compared without labels, which varies far less than the metric does. Where
// hardly one is left of a decoder of queries, they say nothing against what does good in front of it.
static bool boxes_agree(const struct repair *r, const struct candidate *c, const struct repair_figures *f)
{
	double least = c->harmless ? -SLACK : c->kind == REPAIR_WIDEN ? PAYS : 0;
	bool ruined = r->queries && !c->by_task && r->figures.apart > REPAIR_RUINED;
	return isnan(f->apart) || isnan(r->figures.apart) || ruined || f->apart < r->figures.apart * (1 - least);
}

// What the samples of the task say against a step that damage speaks for; NULL: nothing.
// Without a task (NAN) nobody objects.
static const char *objection(const struct repair *r, const struct candidate *c, const struct repair_figures *f)
{
	bool only_task = isnan(f->apart) && (c->by_task || f->damage == r->figures.damage);
	if (only_task)
		return f->score <= r->figures.score ? "the task gains nothing" : NULL;
	if (!boxes_agree(r, c, f))
		return "over all labelled samples the boxes come no nearer to the float network's";
	return f->score < r->figures.score - LOSES * repair_unit(r) ? "the task loses more than it may by chance" : NULL;
}

// A candidate under way.
struct trying {
	struct plan *plan;
	struct scales *scales; // observed in the candidate's own network; NULL: those of the repair serve
	struct repair_figures after;
	const char *objection; // why it is not good although the damage falls; NULL: it is, or the figures say it
	bool good;
};

static void tell_step(struct fixing *f, const struct candidate *c, const struct trying *t)
{
	struct repair_step s = {.kind = c->kind,
	    .command = c->command,
	    .n_commands = c->n_commands,
	    .reason = c->reason,
	    .expected = c->expected,
	    .kept = t->good,
	    .before = f->r->figures,
	    .after = t->after};
	if (t->objection)
		s.reason = repair_text(f->r, "%s Undone: %s.", c->reason, t->objection);
	if (f->step)
		f->step(f->arg, &s);
}

static enum status measure_damage(struct repair *r, const struct candidate *c, struct scales *s, struct trying *t, struct error *err)
{
	enum status st = repair_measure(r, &c->trial, s, &t->plan, &t->after, err);
	t->good = st == STATUS_OK && passes(r, c, &t->after);
	return st;
}

// More bits round the weights otherwise: what observers see behind them changes, and the scales
// of the study's next run with it. What is about to be kept is measured with those.
static enum status measure_as_run(struct repair *r, const struct candidate *c, struct trying *t, struct error *err)
{
	repair_tell(r, 1, "calibrating with more bits");
	t->scales = scales_new(r->g, r->target, r->engine, dataset_count(r->data), r->opt.cancel);
	return measure_damage(r, c, t->scales, t, err);
}

static enum status measure(struct repair *r, const struct candidate *c, struct trying *t, struct error *err)
{
	enum status st = measure_damage(r, c, r->scales, t, err);
	if (st == STATUS_OK && t->good && c->kind == REPAIR_WIDEN)
		st = measure_as_run(r, c, t, err);
	// The task is asked only of what the damage speaks for: it takes many more samples.
	if (st == STATUS_OK && t->good && (st = repair_score(r, t->plan, &t->after, err)) == STATUS_OK) {
		t->objection = objection(r, c, &t->after);
		t->good = !t->objection;
	}
	return st;
}

static void vouch(struct repair *r, const struct edits *before, const struct edits *after)
{
	for (int v = 0; v < r->g->n_values; v++)
		if (after->scale[v] > 0 && after->scale[v] != before->scale[v])
			repair_memo_vouch(r->memo, r->data, target_name(r->target), graph_output_name(r->g, v), after->scale[v]);
}

static void keep(struct fixing *f, struct candidate *c, struct trying *t)
{
	struct repair *r = f->r;
	vouch(r, r->now.edits, c->trial.edits);
	trial_done(&r->now);
	r->now = c->trial;
	c->trial.edits = NULL;
	r->figures = t->after;
	if (t->scales) {
		scales_free(&r->scales);
		r->scales = t->scales;
		t->scales = NULL;
	}
	r->kept++;
}

enum status fix_try(struct fixing *f, struct candidate *c, bool *kept, struct error *err)
{
	struct trying t = {0};
	enum status st = measure(f->r, c, &t, err);
	if (st == STATUS_OK) {
		repair_look(f->r, &(struct repair_state){.steps = f->r->kept + 1,
		                      .figures = t.after,
		                      .as_run = c->kind != REPAIR_WIDEN || t.scales,
		                      .edits = c->trial.edits,
		                      .method = c->trial.method});
		tell_step(f, c, &t);
	}
	bool good = st == STATUS_OK && t.good;
	if (good) {
		keep(f, c, &t);
		st = repair_find_run_snr(f->r, err);
	}
	trial_done(&c->trial);
	plan_free(&t.plan);
	scales_free(&t.scales);
	if (kept)
		*kept = good;
	return st;
}

bool fix_may_go_on(struct fixing *f)
{
	if (repair_over(f->r)) {
		f->r->end = repair_cancelled(f->r) ? "cancelled" : "the time is over";
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

// A step is kept for what it does to damage and boxes: one that reached the goal by its
// score alone may have been undone. Over all samples each is taken to differ as the state that there is now does.
static bool is_passed_by(const struct repair *r)
{
	double more = isfinite(r->run_snr_db) ? r->run_snr_db - r->figures.snr_db : 0;
	for (int i = 0; r->frontier && i < r->frontier->n; i++) {
		struct repair_figures f = r->frontier->at[i].figures;
		f.snr_db += more;
		if (r->frontier->at[i].as_run && repair_goal_met_by(r, &f))
			return true;
	}
	return false;
}

// Where decibels were asked for, what decides is not what the steps show, which is of some samples.
static void say_run_snr(struct repair *r)
{
	if (!isnan(r->opt.goal.min_snr) && isfinite(r->run_snr_db) && r->kept > 0)
		r->end = repair_text(r, "%s; over all samples the worst output has %.2f dB", r->end, r->run_snr_db);
}

typedef enum status remedy_fn(struct fixing *f, struct error *err);
enum { REMEDIES_MAX = 16 };

// Has the remedy before the i-th of them ended in the state that there is now? What did not pay there does not pay here.
static bool is_exhausted(remedy_fn *const *remedy, const int *kept, size_t i, const struct repair *r)
{
	for (size_t k = 0; k < i; k++)
		if (remedy[k] == remedy[i] && kept[k] == r->kept)
			return true;
	return false;
}

static bool may_be_equalized(const struct graph *g)
{
	bool *reaches = equalize_reaches(g), any = false;
	for (int n = 0; n < g->n_nodes; n++)
		any |= reaches[n];
	free(reaches);
	return any;
}

// Weights are fitted, or equalized, by commands of their own, as the result is another model.
static const char *exhausted(const struct repair *r, remedy_fn *const *remedy)
{
	if (remedy[0] == remedy_weights || r->now.edits->tuning || r->figures.damage < MUCH)
		return "nothing pays any more";
	if (may_be_equalized(r->g))
		return "nothing pays any more; equalize or tune might: weights are as they were";
	return "nothing pays any more; tune might: it fits weights, which are as they were";
}

static enum status try_remedies(struct repair *r, remedy_fn *const *remedy, size_t n, repair_step_fn *step, void *arg, struct error *err)
{
	struct fixing f = {.r = r, .step = step, .arg = arg};
	int kept[REMEDIES_MAX] = {0}; // when each ended
	enum status st = repair_prepare(r, err);
	r->end = NULL;
	for (size_t i = 0; st == STATUS_OK && fix_may_go_on(&f) && i < n; i++) { // also behind the last one: it says why it ends
		if (!is_exhausted(remedy, kept, i, r))
			st = remedy[i](&f, err);
		kept[i] = r->kept;
	}
	if (st == STATUS_OK && !r->end)
		r->end = exhausted(r, remedy);
	if (st == STATUS_OK)
		st = repair_measure_states(r, err);
	if (st == STATUS_CANCELLED) {
		r->end = "cancelled";
		st = STATUS_OK;
	} else if (st == STATUS_OK && !repair_goal_met(r) && is_passed_by(r)) {
		r->end = repair_text(r, "%s; of the states that nothing beats one reaches the goal", r->end);
	} else if (st != STATUS_OK) {
		r->end = "an error has stopped it";
	}
	say_run_snr(r);
	runs_done(&f.ranked);
	return st;
}

enum status repair_fix(struct repair *r, repair_step_fn *step, void *arg, struct error *err)
{
	static remedy_fn *const remedy[] = {remedy_tail, remedy_divisors, remedy_own, remedy_behind, remedy_float, remedy_scales,
	    remedy_calibration, remedy_widen, remedy_scales, remedy_widen, remedy_logits};
	return try_remedies(r, remedy, sizeof remedy / sizeof *remedy, step, arg, err);
}

enum status repair_tune(struct repair *r, repair_step_fn *step, void *arg, struct error *err)
{
	static remedy_fn *const remedy[] = {remedy_weights};
	return try_remedies(r, remedy, 1, step, arg, err);
}
