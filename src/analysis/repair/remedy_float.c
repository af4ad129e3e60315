// Tensors that 16 bit do not mend either: logits under a mask of -1e9, powers in front of a Log. What makes and reads
// them goes to float, as far as it has no multiply-accumulates. Whether that helps, and bits do not, is measured of the
// tensor alone: in a network that is full of noise neither shows.
#include <math.h>
#include <stdlib.h>
#include "repair_impl.h"

static const double HELPS = 0.5; // of what the tensor does alone at 8 bit, and at 16: in float it must do less
enum { TRIES = 8 };              // networks measured in halves

struct freeing {
	struct fixing *f;
	const struct plan *plan; // of the edits in force
	const struct parts *parts;
	int *part, n;            // those to be freed, the most damaging first
	double *alone;           // [n]
	double least;            // what the tensor must do alone with 16 bit, too
	int tries;
};

static bool makes(const struct freeing *w, int node, int part)
{
	for (int i = 0; node >= 0 && i < w->plan->g->node[node].n_out; i++)
		if (w->parts->of_slot[w->plan->first_out[node] + i] == part)
			return true;
	return false;
}

static bool reads_codes(const struct freeing *w, int node, int part)
{
	for (int i = 0; i < w->plan->g->node[node].n_in; i++)
		if (w->parts->of_slot[w->plan->first_in[node] + i] == part)
			return true;
	return false;
}

// Also a Softmax that takes what it reads as it comes: of a tensor in float it would make codes of its own.
static bool reads(const struct freeing *w, int node, int part)
{
	const struct node *n = &w->plan->g->node[node];
	bool any = reads_codes(w, node, part);
	for (int i = 0; i < n->n_in && !any; i++)
		any = n->in[i] >= 0 && makes(w, w->plan->g->value[n->in[i]].producer, part);
	return any;
}

// The nodes without multiply-accumulates that make or read the part. False where there are none, or what has weights
// reads it too: then its codes stay.
static bool mark(const struct freeing *w, int part, bool *takes)
{
	const struct repair *r = w->f->r;
	bool any = false;
	for (int n = 0; n < r->g->n_nodes; n++) {
		bool may = w->plan->quantizable[n] && r->now.edits->precision[n] != PREC_FLOAT;
		if (may && r->macs[n] > 0 && reads_codes(w, n, part))
			return false;
		if (may && r->macs[n] == 0 && (makes(w, n, part) || reads(w, n, part)))
			takes[n] = any = true;
	}
	return any;
}

static enum status alone_with(const struct freeing *w, int part, const bool *takes, enum precision to, double *out, struct error *err)
{
	struct repair *r = w->f->r;
	struct plan *p = NULL;
	struct damage d = {0};
	struct trial t = {.edits = edits_copy(r->now.edits), .method = to == PREC_INT16 ? CALIB_MINMAX : r->now.method}; // 16 bit need no clipping
	for (int n = 0; n < r->g->n_nodes; n++)
		if (takes[n]) {
			t.edits->precision[n] = (signed char)to;
			edits_forget_scales(t.edits, &r->g->node[n]);
		}
	enum status st = scales_plan(r->scales, &p, &t, err);
	if (st == STATUS_OK) {
		parts_isolate(w->parts, p, part, part + 1, false);
		st = probe_alone(r->probe, p, &d, err);
	}
	*out = d.damage;
	plan_free(&p);
	trial_done(&t);
	return st;
}

// Is the part one that float mends and 16 bit do not?
static enum status look_at(const struct freeing *w, int part, double alone, bool *is, struct error *err)
{
	struct repair *r = w->f->r;
	bool *takes = xcalloc((size_t)r->g->n_nodes + 1, sizeof *takes);
	double left = INFINITY, wide = INFINITY;
	enum status st = STATUS_OK;
	if (w->parts->at[part].value >= 0 && mark(w, part, takes))
		st = alone_with(w, part, takes, PREC_FLOAT, &left, err);
	if (st == STATUS_OK && left < HELPS * alone) {
		parts_widen(w->parts, w->plan, part, false, takes);
		st = alone_with(w, part, takes, PREC_INT16, &wide, err);
	}
	*is = left < HELPS * fmin(alone, wide) && wide >= w->least;
	free(takes);
	return st;
}

static enum status find(struct freeing *w, const struct runs *runs, struct error *err)
{
	struct repair *r = w->f->r;
	enum status st = STATUS_OK;
	double end = repair_lend(r, 1. / 4);
	for (int i = 0; i < runs->n && st == STATUS_OK && !repair_over(r); i++) {
		const struct run *run = &runs->at[i];
		bool is = false;
		if (run->last - run->first > 1 || run->alone < w->least)
			continue;
		repair_tell(r, (double)i / runs->n, "float: %s", r->g->node[w->parts->at[run->first].node].name);
		st = look_at(w, run->first, run->alone, &is, err);
		w->part[w->n] = run->first;
		w->alone[w->n] = run->alone;
		w->n += is;
	}
	r->deadline = end;
	return st;
}

// All at once; what does not pay together is tried in halves.
static enum status try_float(struct freeing *w, int first, int n, struct error *err)
{
	struct repair *r = w->f->r;
	struct candidate c = {.kind = REPAIR_FLOAT, .trial = trial_copy(&r->now)};
	bool kept = false, *takes = xcalloc((size_t)r->g->n_nodes + 1, sizeof *takes);
	for (int i = first; i < first + n; i++) {
		mark(w, w->part[i], takes);
		c.expected += w->alone[i];
	}
	candidate_set(r, &c, takes, PREC_FLOAT);
	free(takes);
	c.reason = repair_text(r, "%s%s do%s %.4f of damage alone, which 16 bit do not mend: float for what makes and reads %s, which "
	    "costs no multiply-accumulates.", graph_output_name(r->g, w->parts->at[w->part[first]].value),
	    n > 1 ? repair_text(r, " and %d other tensor%s", n - 1, plural(n - 1)) : "", n > 1 ? "" : "es", c.expected, n > 1 ? "them" : "it");
	enum status st = fix_try(w->f, &c, &kept, err);
	w->tries--;
	for (int half = 0; half < 2 && st == STATUS_OK && !kept && n > 1 && w->tries > 0 && fix_may_go_on(w->f); half++)
		st = try_float(w, half ? first + n / 2 : first, half ? n - n / 2 : n / 2, err);
	return st;
}

// Where the target has no 16 bit, more bits are float, which remedy_widen allots.
enum status remedy_float(struct fixing *f, struct error *err)
{
	struct repair *r = f->r;
	struct plan *p = NULL;
	struct runs runs = {0};
	if (repair_wide_precision(r) == PREC_FLOAT)
		return STATUS_OK;
	enum status st = scales_plan(r->scales, &p, &r->now, err);
	if (st != STATUS_OK)
		return st;
	struct parts *parts = parts_new(p);
	st = runs_find(r, parts, &runs, err);
	const int kept = r->kept;
	struct freeing w = {.f = f, .plan = p, .parts = parts, .part = xcalloc((size_t)runs.n + 1, sizeof *w.part),
	    .alone = xcalloc((size_t)runs.n + 1, sizeof *w.alone), .least = REPAIR_SHARE * runs.total,
	    .tries = TRIES};
	if (st == STATUS_OK)
		st = find(&w, &runs, err);
	if (st == STATUS_OK && w.n > 0 && fix_may_go_on(f))
		st = try_float(&w, 0, w.n, err);
	free(w.part);
	free(w.alone);
	if (r->kept == kept)
		f->ranked = runs;
	else
		runs_done(&runs);
	parts_free(&parts);
	plan_free(&p);
	return st;
}
