// Finer steps for logits: what a Sigmoid or Softmax behind the last weights reads.
// Scores are compared with each other, the small ones too, while damage sees how large they are:
// this is asked of the task, where there is one. Logits that are far from deciding may be clipped.
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "qtui/engine/op.h"
#include "repair_impl.h"

enum { HALVINGS = 4, DEPTH = 8 }; // operators between the logits and what reads them
static const double GAIN = 0.002; // of the task metric

struct logits {
	const struct plan *p;
	bool *tail;       // [n_nodes] behind the last weights
	int64_t channels; // of the tensor that is looked at
};

static bool is_one_of(const struct node *n, const enum op_id *op, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (n->op->id == op[i])
			return true;
	return false;
}

static bool decides(const struct node *n)
{
	static const enum op_id op[] = {OP_Sigmoid, OP_Softmax, OP_LogSoftmax};
	return is_one_of(n, op, sizeof op / sizeof *op);
}

static bool parts_input(const struct node *n)
{
	static const enum op_id op[] = {OP_Split, OP_Slice, OP_Gather};
	return is_one_of(n, op, sizeof op / sizeof *op);
}

static bool has_channels(const struct logits *l, const struct shape *s)
{
	for (int d = 1; d < s->rank; d++)
		if (s->dim[d] == l->channels)
			return true;
	return false;
}

// Does the value come to such an operator by way of others that only move elements? Where boxes and classes
// were joined and are parted again, only to one that reads as many channels.
static bool is_decided_on(const struct logits *l, int value, bool parted, int depth)
{
	const struct value *v = &l->p->g->value[value];
	for (int i = 0; depth > 0 && i < v->n_consumers; i++) {
		const struct node *n = &l->p->g->node[v->consumer[i]];
		if (!l->tail[v->consumer[i]])
			continue;
		if (decides(n) && (!parted || has_channels(l, &v->shape)))
			return true;
		for (int k = 0; n->op->flags & OPF_MOVES && k < n->n_out; k++)
			if (n->out[k] >= 0 && is_decided_on(l, n->out[k], parted || parts_input(n), depth - 1))
				return true;
	}
	return false;
}

// An output of weights, with a scale of its own at 8 bit, that is decided on.
static bool is_logits(struct logits *l, const struct repair *r, int node)
{
	const struct slot *s = r->macs[node] > 0 ? plan_out(l->p, node, 0) : NULL;
	if (!s || s->state != SLOT_ACTIVE || s->quant.n != 1 || s->quant.bits != 8)
		return false;
	const struct shape *shape = &r->g->value[s->value].shape;
	l->channels = shape->rank >= 4 ? shape->dim[1] : shape->rank > 0 ? shape->dim[shape->rank - 1] : 1;
	return is_decided_on(l, s->value, false, DEPTH);
}

static double step_of(const struct logits *l, int node)
{
	return (double)plan_out(l->p, node, 0)->quant.scale[0];
}

// The coarsest step of all logits: scores of all levels stand in one order, so that all shall be as fine.
static double coarsest(struct logits *l, const struct repair *r)
{
	double step = 0;
	for (int n = 0; n < r->g->n_nodes; n++)
		if (is_logits(l, r, n))
			step = fmax(step, step_of(l, n));
	return step;
}

// scale[n_values]: those in force, of logits `step` where they are coarser. False where the target refuses it.
static bool refine(struct logits *l, const struct repair *r, double step, double *scale)
{
	memcpy(scale, r->now.edits->scale, (size_t)r->g->n_values * sizeof *scale);
	for (int n = 0; n < r->g->n_nodes; n++) {
		struct error err = {0};
		if (!is_logits(l, r, n) || step_of(l, n) <= step)
			continue;
		scale[graph_output(r->g, n)] = step;
		if (plan_check_scale(r->bare, graph_output(r->g, n), step, ZERO_FOLLOWS, false, &err) != STATUS_OK)
			return false;
	}
	return true;
}

static struct candidate candidate_of(struct repair *r, const double *scale, double step)
{
	struct candidate c = {.kind = REPAIR_LOGITS, .trial = trial_copy(&r->now), .by_task = !repair_by_boxes(r), .expected = NAN};
	candidate_scales(r, &c, scale);
	c.reason = repair_text(r, "no logits in coarser steps than %.4g: more scores differ; what lies beyond the range is clipped.", step);
	return c;
}

// What speaks against a trial: how far its boxes are apart, else the task's metric.
static enum status loss_of(struct repair *r, const struct trial *t, double *out, struct error *err)
{
	struct plan *p = NULL;
	struct damage d = {0};
	struct repair_figures f = {.score = NAN, .apart = NAN};
	enum status st = scales_plan(r->scales, &p, t, err);
	if (st == STATUS_OK && repair_by_boxes(r))
		st = probe_damage(r->probe, p, &d, err);
	else if (st == STATUS_OK)
		st = repair_score(r, p, &f, err);
	*out = repair_by_boxes(r) ? d.damage : -f.score;
	plan_free(&p);
	return st;
}

// The step with the least loss; 0: none is better than those in force.
static enum status find_best(struct fixing *f, struct logits *l, double *scale, double *best, struct error *err)
{
	struct repair *r = f->r;
	double least = repair_by_boxes(r) ? r->figures.damage : -r->figures.score - GAIN * repair_unit(r), step = coarsest(l, r);
	enum status st = STATUS_OK;
	for (int i = 0; i < HALVINGS && step > 0 && st == STATUS_OK && fix_may_go_on(f); i++) {
		double loss = NAN;
		step /= 2;
		if (!refine(l, r, step, scale))
			break;
		struct candidate c = candidate_of(r, scale, step);
		repair_tell(r, (double)i / HALVINGS, "logits: steps of %.4g", step);
		st = loss_of(r, &c.trial, &loss, err);
		trial_done(&c.trial);
		if (st == STATUS_OK && loss < least) {
			least = loss;
			*best = step;
		}
	}
	return st;
}

enum status remedy_logits(struct fixing *f, struct error *err)
{
	struct repair *r = f->r;
	struct plan *p = NULL;
	double best = 0;
	if (isnan(r->figures.score) && !repair_by_boxes(r))
		return STATUS_OK;
	struct logits l = {.tail = repair_tail(r)};
	double *scale = xcalloc((size_t)r->g->n_values + 1, sizeof *scale);
	enum status st = scales_plan(r->scales, &p, &r->now, err);
	l.p = p;
	if (st == STATUS_OK)
		st = find_best(f, &l, scale, &best, err);
	if (st == STATUS_OK && best > 0 && refine(&l, r, best, scale)) {
		struct candidate c = candidate_of(r, scale, best);
		st = fix_try(f, &c, NULL, err);
	}
	free(scale);
	free(l.tail);
	plan_free(&p);
	return st;
}
