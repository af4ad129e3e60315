// What comes behind the last weights (decoding of boxes, selection) is no work for 8 bits and costs nothing in float:
// its tensors join pixels and probabilities on one grid.
#include <math.h>
#include <stdlib.h>
#include "repair_impl.h"

static bool leads_to_weights(const struct repair *r, const bool *tail, const struct node *n)
{
	for (int i = 0; i < n->n_out; i++) {
		const struct value *v = n->out[i] < 0 ? NULL : &r->g->value[n->out[i]];
		for (int k = 0; v && k < v->n_consumers; k++)
			if (!tail[v->consumer[k]])
				return true;
	}
	return false;
}

bool *repair_tail(const struct repair *r)
{
	bool *tail = xcalloc((size_t)r->g->n_nodes + 1, 1);
	for (int n = r->g->n_nodes - 1; n >= 0; n--)
		tail[n] = r->macs[n] == 0 && !leads_to_weights(r, tail, &r->g->node[n]);
	return tail;
}

// An activation that is one operator with what is in front of it stays there, its other half included.
static void leave_groups_whole(const struct plan *p, bool *tail)
{
	for (int n = 0; n < p->g->n_nodes; n++)
		for (int k = 0; p->group[n].kind != GROUP_NONE && !tail[n] && k < p->g->n_nodes; k++)
			if (p->group[k].kind != GROUP_NONE && p->group[k].last == p->group[n].last)
				tail[k] = false;
}

static bool reaches_behind(const struct repair *r, const bool *tail)
{
	bool *behind = points_behind(r->g), any = false;
	for (int n = 0; n < r->g->n_nodes && !any; n++)
		any = tail[n] && r->g->node[n].n_out > 0 && r->g->node[n].out[0] >= 0 && behind[r->g->node[n].out[0]];
	free(behind);
	return any;
}

// A target may leave what a Softmax makes in float and quantize what it reads.
static bool is_float(const struct plan *p, int node)
{
	bool is = p->precision[node] == PREC_FLOAT;
	for (int i = 0; is && i < p->g->node[node].n_in; i++)
		is = plan_in(p, node, i)->state == SLOT_FLOAT;
	return is;
}

enum status remedy_tail(struct fixing *f, struct error *err)
{
	struct repair *r = f->r;
	struct plan *p = NULL;
	enum status st = scales_plan(r->scales, &p, &r->now, err);
	if (st != STATUS_OK)
		return st;
	bool *tail = repair_tail(r);
	struct candidate c = {.kind = REPAIR_TAIL, .trial = trial_copy(&r->now), .expected = NAN};
	int count = 0;
	leave_groups_whole(p, tail);
	for (int n = 0; n < r->g->n_nodes; n++) {
		tail[n] = tail[n] && p->quantizable[n] && !is_float(p, n);
		count += tail[n];
	}
	candidate_set(r, &c, tail, PREC_FLOAT);
	c.harmless = r->reader != NULL;
	c.unseen = !r->reader && reaches_behind(r, tail);
	c.reason = repair_text(r, "%d operator%s behind the last weights: post-processing, which costs no multiply-accumulates in float.",
	    count, plural(count));
	repair_tell(r, 0, "post-processing in float");
	if (count > 0)
		st = fix_try(f, &c, NULL, err);
	else
		trial_done(&c.trial);
	free(tail);
	plan_free(&p);
	return st;
}
