// The states that a repair looks at: those that nothing beats are kept,
// and measured in the end as their own runs would be.
#include "repair_impl.h"

void repair_look(struct repair *r, const struct repair_state *s)
{
	struct frontier *more = frontier_with(r->frontier, s, &r->basis);
	if (!more)
		return;
	frontier_drop(&r->frontier);
	r->frontier = more;
	if (r->opt.looked)
		r->opt.looked(r->opt.tell_arg, frontier_take(more));
}

// What earlier repairs have measured stays in the list: it took minutes, and holds whatever is asked for now.
void repair_look_earlier(struct repair *r)
{
	for (int i = 0; r->earlier && i < r->earlier->n; i++) {
		struct repair_state s = r->earlier->at[i];
		s.steps = FRONTIER_EARLIER;
		repair_look(r, &s);
	}
}

// With scales that are observed in its own network, and by the task.
static enum status measure_state(struct repair *r, const struct repair_state *s, struct error *err)
{
	struct trial t = {.edits = edits_copy(s->edits), .method = s->method};
	struct scales *scales = scales_new(r->g, r->target, r->engine, dataset_count(r->data), r->opt.cancel);
	struct repair_state known = {.steps = s->steps, .as_run = true, .edits = t.edits, .method = t.method};
	struct plan *p = NULL;
	enum status st = repair_measure(r, &t, scales, &p, &known.figures, err);
	if (st == STATUS_OK)
		st = repair_score(r, p, &known.figures, err);
	if (st == STATUS_OK)
		repair_look(r, &known);
	plan_free(&p);
	scales_free(&scales);
	trial_done(&t);
	return st;
}

static int first_estimate(const struct frontier *f)
{
	for (int i = 0; i < f->n; i++)
		if (!f->at[i].as_run)
			return i;
	return -1;
}

enum status repair_measure_states(struct repair *r, struct error *err)
{
	enum status st = STATUS_OK;
	for (int i; st == STATUS_OK && (i = first_estimate(r->frontier)) >= 0 && !repair_over(r);) {
		repair_tell(r, (double)i / r->frontier->n, "states that nothing beats: %d of %d", i + 1, r->frontier->n);
		st = measure_state(r, &r->frontier->at[i], err); // it is known now, or gone
	}
	return st;
}
