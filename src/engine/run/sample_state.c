// What a sample's run keeps while it lasts, what it takes from the store and leaves there,
// and which steps it executes at all.
#include "sample_state.h"

#include <math.h>
#include <stdlib.h>

bool state_wants(const struct state *st, enum sim sim, int v)
{
	const struct sweep *w = st->sweep;
	const bool *want = w->want[sim];
	int step = st->r->steps.of_value[v];
	return want && want[v] && step >= w->first && step < w->end;
}

enum sim state_source(enum sim sim)
{
	return sim == SIM_ALONE ? SIM_FLOAT : sim;
}

// What only a later edit may read has to be so many times as dear to be kept as what the next pass reads.
// An edit has the float and the quantized network computed from where it is on, but of the observed one often little:
// what comes before that is worth more. And what is behind the edit is computed whatever is kept,
// so that near the outputs, where that is little, less is dear enough than at the inputs.
// What was hardly dear enough for the next pass goes with its reading, and leaves its memory to what comes.
// Where the memory itself is dear, an edit may compute more.
static const double later[SIM_COUNT] = {[SIM_FLOAT] = 5.0, [SIM_WEIGHTS] = 4.0, [SIM_FULL] = 6.0};
#define AT_OUTPUTS 0.5
#define AT_INPUTS 3.5
#define HARDLY 1.5
#define IN_DEAR_PAGES 2

struct key state_key(const struct state *st, enum sim sim, int v)
{
	return key_add_key(st->r->key[sim][v], st->sample_key);
}

bool state_stored(struct state *st, enum sim sim, int v)
{
	return store_get(
	    st->r->e->store, state_key(st, sim, v), st->pass->keep == KEEP_FOR_EDITS ? HARDLY : 0, &st->env[sim][v], &st->owed[sim][v]);
}

// How many times as dear as LEAST_WORTH a result of the step has to be to be kept behind the pass.
static double least_of(const struct state *st, enum sim sim, int step)
{
	double behind = st->r->steps.step[step].behind;
	switch (st->pass->keep) {
	case KEEP_FOR_EDITS:
		return later[sim] * (AT_OUTPUTS + (AT_INPUTS - AT_OUTPUTS) * behind) * (mem_pages_dear() ? IN_DEAR_PAGES : 1);
	case KEEP_FOR_PASS:
		return 1;
	default:
		return INFINITY;
	}
}

void state_keep(struct state *st, enum sim sim, int v, double work)
{
	const struct sweep *w = st->sweep;
	int step = st->r->steps.of_value[v];
	bool here = w->until && step >= w->first;
	bool kept = store_put(st->r->e->store, state_key(st, sim, v), &st->env[sim][v], work, least_of(st, sim, step), here ? w->until[v] : 0);
	st->owed[sim][v] = kept ? 0 : work;
}

static void use_inputs(struct state *st, enum sim sim, const struct step *s)
{
	const struct graph *g = st->r->g;
	for (int i = 0; i < step_n_in(g, s); i++)
		if (step_in(g, s, i) >= 0)
			st->uses[state_source(sim)][step_in(g, s, i)]++;
}

// Takes from the store all outputs of the step that will be read; false when one is missing.
static bool from_store(struct state *st, enum sim sim, const struct step *s)
{
	const struct graph *g = st->r->g;
	if (!st->r->memo || sim == SIM_ALONE)
		return false;
	for (int i = 0; i < step_n_out(g, s); i++) {
		int v = step_out(g, s, i);
		if (v >= 0 && st->uses[sim][v] > 0 && !state_stored(st, sim, v)) {
			while (i-- > 0)
				if (step_out(g, s, i) >= 0)
					rep_drop(&st->env[sim][step_out(g, s, i)]);
			return false;
		}
	}
	return true;
}

static bool read_later(const struct state *st, enum sim sim, const struct step *s)
{
	for (int i = 0; i < step_n_out(st->r->g, s); i++)
		if (step_out(st->r->g, s, i) >= 0 && st->uses[sim][step_out(st->r->g, s, i)] > 0)
			return true;
	return false;
}

// Nothing before the step is quantized: its results alone have the keys that they have
// in the quantized network, and are read from there.
static bool take_full(struct state *st, const struct step *s)
{
	const struct runner *r = st->r;
	if (!r->key[SIM_ALONE] || !st->env[SIM_FULL])
		return false;
	for (int i = 0; i < step_n_out(r->g, s); i++) {
		int v = step_out(r->g, s, i);
		if (v >= 0 && st->uses[SIM_ALONE][v] > 0 && !key_equal(r->key[SIM_ALONE][v], r->key[SIM_FULL][v]))
			return false;
	}
	for (int i = 0; i < step_n_out(r->g, s); i++) {
		int v = step_out(r->g, s, i);
		if (v >= 0 && st->uses[SIM_ALONE][v] > 0)
			st->uses[SIM_FULL][v]++;
	}
	return true;
}

void state_mark(struct state *st)
{
	const struct runner *r = st->r;
	for (int sim = 0; sim < SIM_COUNT; sim++)
		for (int v = 0; v < r->g->n_values; v++)
			st->uses[sim][v] = state_wants(st, (enum sim)sim, v);
	for (int i = st->sweep->end - 1; i >= 0; i--) {
		const struct step *s = &r->steps.step[i];
		for (int sim = SIM_COUNT - 1; sim >= 0; sim--) { // SIM_ALONE first: it adds reads of SIM_FLOAT
			if (!read_later(st, (enum sim)sim, s))
				continue;
			if (sim == SIM_ALONE && (st->same[i] = take_full(st, s)))
				continue;
			if (from_store(st, (enum sim)sim, s)) {
				if (st->pass->reused)
					atomic_fetch_add(st->pass->reused, 1);
				continue;
			}
			st->run[sim][i] = true;
			use_inputs(st, (enum sim)sim, s);
		}
	}
}

// Alone, nodes read the float network.
static bool is_read(const struct runner *r, enum sim sim)
{
	return r->want[sim] || (sim == SIM_FLOAT && r->want[SIM_ALONE]);
}

static void make_room(struct state *st)
{
	const struct graph *g = st->r->g;
	int in = 1, out = 1;
	for (int n = 0; n < g->n_nodes; n++) {
		in = g->node[n].n_in > in ? g->node[n].n_in : in;
		out = g->node[n].n_out > out ? g->node[n].n_out : out;
	}
	st->hold = xcalloc((size_t)in, sizeof *st->hold);
	st->in = xcalloc((size_t)in, sizeof *st->in);
	st->out = xcalloc((size_t)out, sizeof *st->out);
}

void state_init(struct state *st)
{
	const struct runner *r = st->r;
	size_t values = (size_t)r->g->n_values + 1;
	make_room(st);
	for (int sim = 0; sim < SIM_COUNT; sim++) {
		st->uses[sim] = xcalloc(values, sizeof **st->uses);
		st->run[sim] = xcalloc((size_t)r->steps.n + 1, sizeof **st->run);
		if (!is_read(r, (enum sim)sim))
			continue;
		st->env[sim] = xcalloc(values, sizeof **st->env);
		st->owed[sim] = xcalloc(values, sizeof **st->owed);
		st->codes[sim] = xcalloc(values, sizeof **st->codes);
		st->whole[sim] = xcalloc((size_t)r->places.n + 1, sizeof **st->whole);
	}
	st->same = xcalloc((size_t)r->steps.n + 1, sizeof *st->same);
}

static void reps_free(struct rep *rep, int n)
{
	for (int v = 0; rep && v < n; v++)
		rep_drop(&rep[v]);
	free(rep);
}

void state_done(struct state *st, bool whole)
{
	int left = whole ? 0 : st->r->g->n_values;
	for (int sim = 0; sim < SIM_COUNT; sim++) {
		reps_free(st->env[sim], left);
		reps_free(st->codes[sim], left);
		free(st->uses[sim]);
		free(st->run[sim]);
		free(st->owed[sim]);
		for (int i = 0; st->whole[sim] && i < st->r->places.n; i++)
			rep_drop(&st->whole[sim][i].rep);
		free(st->whole[sim]);
	}
	free(st->same);
	free(st->hold);
	free(st->in);
	free(st->out);
}
