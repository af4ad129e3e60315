// Finer steps for logits: what a Sigmoid or Softmax behind the last weights reads. Scores are compared with each other, the small
// ones too, while damage sees how large they are: this is asked of the task, where there is one. Logits that are far from deciding may be clipped.
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

// Does the value come to such an operator by way of others that only move elements? Where boxes and classes were joined and are parted
// again, only to one that reads as many channels.
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

// scale[n_nodes]: those in force, of logits halved so many times; false where there are none, or the target refuses.
static bool halve(const struct repair *r, struct logits *l, int times, double *scale)
{
	int count = 0;
	memcpy(scale, r->now.edits->scale, (size_t)r->g->n_nodes * sizeof *scale);
	for (int n = 0; n < r->g->n_nodes; n++) {
		struct error err = {0};
		if (!is_logits(l, r, n))
			continue;
		scale[n] = ldexp((double)plan_out(l->p, n, 0)->quant.scale[0], -times);
		if (plan_check_edit(r->g, r->target, n, PREC_INT8, scale[n], &err) != STATUS_OK)
			return false;
		count++;
	}
	return count > 0;
}

static struct candidate candidate_of(struct repair *r, const double *scale, int times)
{
	struct candidate c = {.kind = REPAIR_LOGITS, .trial = trial_copy(&r->now), .by_task = true, .expected = NAN};
	candidate_scales(r, &c, scale);
	c.reason = repair_text(r, "the logits in steps %d times as fine: more scores differ; what lies beyond the range is clipped.", 1 << times);
	return c;
}

static enum status score_of(struct repair *r, const struct trial *t, double *out, struct error *err)
{
	struct plan *p = NULL;
	enum status st = scales_plan(r->scales, &p, t, err);
	if (st == STATUS_OK)
		st = repair_score(r, p, out, err);
	plan_free(&p);
	return st;
}

// How many halvings the task likes best; 0: none of them.
static enum status find_best(struct fixing *f, struct logits *l, double *scale, int *best, struct error *err)
{
	struct repair *r = f->r;
	double most = r->figures.score + GAIN;
	enum status st = STATUS_OK;
	for (int times = 1; times <= HALVINGS && halve(r, l, times, scale) && st == STATUS_OK && fix_may_go_on(f, err); times++) {
		double score = NAN;
		struct candidate c = candidate_of(r, scale, times);
		repair_tell(r, (double)(times - 1) / HALVINGS, "logits: steps %d times as fine", 1 << times);
		st = score_of(r, &c.trial, &score, err);
		trial_done(&c.trial);
		if (st == STATUS_OK && score > most) {
			most = score;
			*best = times;
		}
	}
	return st;
}

enum status remedy_logits(struct fixing *f, struct error *err)
{
	struct repair *r = f->r;
	struct plan *p = NULL;
	int best = 0;
	if (isnan(r->figures.score))
		return STATUS_OK;
	struct logits l = {.tail = repair_tail(r)};
	double *scale = xcalloc((size_t)r->g->n_nodes + 1, sizeof *scale);
	enum status st = scales_plan(r->scales, &p, &r->now, err);
	l.p = p;
	if (st == STATUS_OK)
		st = find_best(f, &l, scale, &best, err);
	if (st == STATUS_OK && best > 0 && halve(r, &l, best, scale)) {
		struct candidate c = candidate_of(r, scale, best);
		st = fix_try(f, &c, NULL, err);
	}
	free(scale);
	free(l.tail);
	plan_free(&p);
	return st;
}
