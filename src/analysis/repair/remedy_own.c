// Scales set by hand, taken back: what the user has tried out and forgotten is otherwise paid for with bits elsewhere.
// One that a repair has measured and kept stays, and so does one that does no harm worth speaking of.
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "repair_impl.h"

enum { TRIES = 8 }; // of more, neighbours are tried together

static bool is_own(const struct repair *r, int value)
{
	double scale = r->now.edits->scale[value];
	return scale > 0 &&
	    !repair_memo_vouches(r->memo, r->data, target_name(r->target), graph_output_name(r->g, value), scale);
}

static enum status take_back(struct fixing *f, const int *value, int n, struct error *err)
{
	struct repair *r = f->r;
	struct candidate c = {.kind = REPAIR_SCALE, .trial = trial_copy(&r->now), .expected = NAN, .decided = true};
	double *scale = xcalloc((size_t)r->g->n_values + 1, sizeof *scale);
	memcpy(scale, r->now.edits->scale, (size_t)r->g->n_values * sizeof *scale);
	for (int i = 0; i < n; i++)
		scale[value[i]] = 0;
	candidate_scales(r, &c, scale);
	free(scale);
	const char *first = graph_output_name(r->g, *value), *last = graph_output_name(r->g, value[n - 1]);
	double scale_of_first = r->now.edits->scale[*value];
	c.reason = n == 1 ? repair_text(r, "The scale %.4g that was set on %s by hand, taken back.", scale_of_first, first)
	                  : repair_text(r, "%d scales that were set by hand, from %s to %s, taken back.", n, first, last);
	return fix_try(f, &c, NULL, err);
}

enum status remedy_own(struct fixing *f, struct error *err)
{
	const struct repair *r = f->r;
	int made, *own = graph_scalable(r->g, &made), n = 0;
	enum status st = STATUS_OK;
	for (int i = 0; i < made; i++)
		if (is_own(r, own[i]))
			own[n++] = own[i];
	int tries = n < TRIES ? n : TRIES;
	for (int i = 0; i < tries && st == STATUS_OK && fix_may_go_on(f); i++) {
		int first = n * i / tries, last = n * (i + 1) / tries;
		repair_tell(r, (double)i / tries, "scales set by hand: %s", graph_output_name(r->g, own[first]));
		st = take_back(f, own + first, last - first, err);
	}
	free(own);
	return st;
}
