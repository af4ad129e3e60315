// Private to src/engine/run: a runner is what a pass prepares once for all its samples; run_sample executes it on one.
#ifndef QTUI_ENGINE_RUN_RUNNER_H
#define QTUI_ENGINE_RUN_RUNNER_H

#include "places.h"
#include "stretches.h"

struct runner {
	struct engine *e;
	const struct graph *g;
	const struct plan *plan;
	const bool *want[SIM_COUNT];
	struct steps steps;
	struct places places;
	struct key *key[SIM_COUNT]; // [n_values]; NULL for simulations that are not wanted or have no plan
	bool memo;                  // use the store
};
// The values that are wanted under any simulation, [n_values], heap.
bool *wants_union(const struct graph *g, const bool *const want[SIM_COUNT]);
// `want` and `plan` are borrowed for the runner's life.
void runner_init(struct runner *r, struct engine *e, const struct plan *plan, const bool *const want[SIM_COUNT], bool memo);
void runner_done(struct runner *r);

// One round through a stretch of the network, or through all of it.
struct sweep {
	const struct pass *pass;     // for visit, cancel, counters
	int round;
	const bool *const *want;     // [SIM_COUNT] of this round: the pass's `want` or its `second`
	int first, end;              // what these steps give is shown; -1: the inputs too
	const int *until;            // [n_values] how long what these steps give is held: see store_put; NULL: not at all
};
struct sample {
	int index, worker, width;
	const struct tensor *given;  // inputs in the order of graph.input, or NULL: load from the dataset
	const struct sweep *sweep;
};
// An engine without threads and store of its own, for a branch.
struct engine *engine_bare(const struct graph *g, const struct engine_options *opt);
// The runner of the last inference, which is kept.
void kept_free(struct kept_runner **k);
// The runner of a branch of an If node (0: then, 1: else) that gives the branch's outputs. Thread-safe.
const struct runner *engine_branch(struct engine *e, int node, int which);
// Of values that the runner wants under q->sim.
MUST_CHECK enum status runner_infer(const struct runner *r, const struct inference *q, int worker, int width, struct error *err);
MUST_CHECK enum status run_sample(const struct runner *r, const struct sample *s, struct error *err);

#endif
