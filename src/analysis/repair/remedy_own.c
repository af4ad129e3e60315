// Scales set by hand, taken back: what the user has tried out and forgotten is otherwise paid for with bits elsewhere. One that a repair
// has measured and kept stays, and so does one that does no harm worth speaking of.
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "repair_impl.h"

enum { TRIES = 8 }; // of more, neighbours are tried together

static bool is_own(const struct repair *r, int node)
{
	double scale = r->now.edits->scale[node];
	return scale > 0 && !repair_memo_vouches(r->memo, r->data, target_name(r->target), r->g->node[node].name, scale);
}

static enum status take_back(struct fixing *f, const int *node, int n, struct error *err)
{
	struct repair *r = f->r;
	struct candidate c = {.kind = REPAIR_SCALE, .trial = trial_copy(&r->now), .expected = NAN, .decided = true};
	double *scale = xcalloc((size_t)r->g->n_nodes + 1, sizeof *scale);
	memcpy(scale, r->now.edits->scale, (size_t)r->g->n_nodes * sizeof *scale);
	for (int i = 0; i < n; i++)
		scale[node[i]] = 0;
	candidate_scales(r, &c, scale);
	free(scale);
	const char *first = r->g->node[*node].name, *last = r->g->node[node[n - 1]].name;
	c.reason = n == 1 ? repair_text(r, "The scale %.4g that was set on %s by hand, taken back.", r->now.edits->scale[*node], first)
	                  : repair_text(r, "%d scales that were set by hand, from %s to %s, taken back.", n, first, last);
	return fix_try(f, &c, NULL, err);
}

enum status remedy_own(struct fixing *f, struct error *err)
{
	const struct repair *r = f->r;
	int *own = xcalloc((size_t)r->g->n_nodes + 1, sizeof *own), n = 0;
	enum status st = STATUS_OK;
	for (int i = 0; i < r->g->n_nodes; i++)
		if (is_own(r, i))
			own[n++] = i;
	int tries = n < TRIES ? n : TRIES;
	for (int i = 0; i < tries && st == STATUS_OK && fix_may_go_on(f); i++) {
		int first = n * i / tries, last = n * (i + 1) / tries;
		repair_tell(r, (double)i / tries, "scales set by hand: %s", r->g->node[own[first]].name);
		st = take_back(f, own + first, last - first, err);
	}
	free(own);
	return st;
}
