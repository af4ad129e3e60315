// Private to sample.c and sample_state.c: a sample on its way through the network.
#ifndef QTUI_ENGINE_RUN_SAMPLE_STATE_H
#define QTUI_ENGINE_RUN_SAMPLE_STATE_H

#include "ahead.h"
#include "showing.h"

struct state {
	const struct runner *r;
	const struct sample *s;
	const struct sweep *sweep;   // that the sample is part of, and its pass
	const struct pass *pass;
	struct key sample_key;
	struct rep *env[SIM_COUNT];  // [n_values] what is there now; NULL, as `owed`, for simulations that nothing is read under
	int *uses[SIM_COUNT];        // [n_values] reads still to come
	bool *run[SIM_COUNT];        // [steps] executed
	bool *same;                  // [steps] alone, the step gives what it gives in the quantized network: taken from there
	struct whole *whole[SIM_COUNT]; // [places.n] results of Concats whose parts are being made
	double *owed[SIM_COUNT];     // [n_values] the work since what the store keeps
	int width;                   // threads that compute
	struct showing *showing;     // NULL: the thread that computes shows
	struct ahead *ahead;         // NULL: and prepares its kernels
	struct rep *codes[SIM_COUNT]; // [n_values] of float tensors, as the last of several nodes that read them wanted them; or NULL
	// Room for one step: what its inputs became, where they are, its outputs.
	struct rep *hold, **in, *out;
	struct error *err;
};

void state_init(struct state *st);
void state_done(struct state *st, bool whole); // `whole`: it ran to its end, and so dropped every value with its last use
void state_mark(struct state *st);             // what will run: backwards from what is wanted to what the store still has

bool state_wants(const struct state *st, enum sim sim, int v);  // in this sweep
enum sim state_source(enum sim sim);           // whose values a step reads: alone, a node reads the float network
struct key state_key(const struct state *st, enum sim sim, int v);
// A value of a simulation from the store, with the work that it is owed, and into it after so much work.
bool state_stored(struct state *st, enum sim sim, int v);
void state_keep(struct state *st, enum sim sim, int v, double work);

#endif
