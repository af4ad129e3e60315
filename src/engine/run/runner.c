// What a pass prepares once for all its samples.
#include <stdlib.h>
#include <string.h>
#include "runner.h"

bool *wants_union(const struct graph *g, const bool *const want[SIM_COUNT])
{
	bool *keep = xcalloc((size_t)g->n_values + 1, sizeof *keep);
	for (int sim = 0; sim < SIM_COUNT; sim++)
		for (int v = 0; want[sim] && v < g->n_values; v++)
			keep[v] |= want[sim][v];
	return keep;
}

void runner_init(struct runner *r, struct engine *e, const struct plan *plan, const bool *const want[SIM_COUNT], bool memo)
{
	*r = (struct runner){.e = e, .g = e->g, .plan = plan, .memo = memo};
	memcpy(r->want, want, sizeof r->want);
	bool *keep = wants_union(e->g, want);
	steps_build(&r->steps, e->g, plan, keep, !memo && !plan, e->quantized_file);
	places_build(&r->places, e->g);
	free(keep);
	for (int sim = 0; memo && sim < SIM_COUNT; sim++) {
		if (sim != SIM_FLOAT && !plan)
			continue;
		if (sim == SIM_ALONE && !want[sim])
			continue;
		r->key[sim] = xcalloc((size_t)e->g->n_values + 1, sizeof **r->key);
		engine_keys(e->g, plan, (enum sim)sim, r->key[sim]);
	}
}

void runner_done(struct runner *r)
{
	steps_done(&r->steps);
	places_done(&r->places);
	for (int sim = 0; sim < SIM_COUNT; sim++)
		free(r->key[sim]);
}
