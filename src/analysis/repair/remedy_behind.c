// What lies behind a selection by value and has weights of its own, as the decoder of a detector with queries has:
// hardly a box is right before most of it is, so that neither scales nor single regions can be judged there. It is
// widened as a whole and first of all, where the budget allows that and the task gains by it or else the boxes do;
// where nobody reads boxes damage does not see it, and without a task nothing would speak for it.
#include <math.h>
#include <stdlib.h>
#include "repair_impl.h"

static bool reads_any(const struct node *n, const bool *value)
{
	for (int i = 0; i < n->n_in; i++)
		if (n->in[i] >= 0 && value[n->in[i]])
			return true;
	return false;
}

bool repair_decodes_queries(const struct repair *r)
{
	bool *behind = points_behind(r->g), any = false;
	for (int i = 0; i < r->g->n_nodes && !any; i++)
		any = r->macs[i] > 0 && reads_any(&r->g->node[i], behind);
	free(behind);
	return any;
}

// Marks the operators at 8 bit behind a selection, or those without multiply-accumulates; returns their number.
static int mark_behind(const struct repair *r, const struct plan *p, bool with_macs, bool *marked)
{
	bool *behind = points_behind(r->g);
	int n = 0;
	for (int i = 0; i < r->g->n_nodes; i++) {
		marked[i] = p->quantizable[i] && p->precision[i] == PREC_INT8 && (with_macs || r->macs[i] == 0) &&
		    reads_any(&r->g->node[i], behind);
		n += marked[i];
	}
	free(behind);
	return n;
}

static enum status try_behind(struct fixing *f, const struct plan *p, bool with_macs, bool *kept, struct error *err)
{
	struct repair *r = f->r;
	bool *marked = xcalloc((size_t)r->g->n_nodes + 1, 1);
	int n = mark_behind(r, p, with_macs, marked);
	struct candidate c = {
	    .kind = REPAIR_WIDEN, .trial = trial_copy(&r->now), .expected = NAN, .by_task = r->reader && r->opt.score, .unseen = !r->reader};
	enum status st = STATUS_OK;
	candidate_set(r, &c, marked, repair_wide_precision(r));
	c.reason =
	    repair_text(r, "%d operator%s%s behind a selection by value%s", n, plural(n), with_macs ? "" : " without multiply-accumulates",
	        r->reader ? ": hardly a box is right before they are." : ", where damage does not look: the task judges them.");
	repair_tell(r, 0, "what lies behind a selection");
	if (n > 0)
		st = fix_try(f, &c, kept, err);
	else
		trial_done(&c.trial);
	free(marked);
	return st;
}

enum status remedy_behind(struct fixing *f, struct error *err)
{
	struct repair *r = f->r;
	struct plan *p = NULL;
	bool kept = false;
	if (!r->queries || (!r->opt.score && !r->reader))
		return STATUS_OK;
	enum status st = scales_plan(r->scales, &p, &r->now, err);
	if (st == STATUS_OK)
		st = try_behind(f, p, true, &kept, err);
	if (st == STATUS_OK && !kept)
		st = try_behind(f, p, false, &kept, err);
	plan_free(&p);
	return st;
}
