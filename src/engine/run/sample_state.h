// Private to sample.c and sample_state.c: a sample on its way through the network.
#ifndef QTUI_ENGINE_RUN_SAMPLE_STATE_H
#define QTUI_ENGINE_RUN_SAMPLE_STATE_H

#include "ahead.h"
#include "showing.h"

struct state {
	const struct runner *r;
	const struct sample *s;
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

bool state_wants(const struct runner *r, enum sim sim, int v);
enum sim state_source(enum sim sim);           // whose values a step reads: alone, a node reads the float network
bool is_activation(const struct graph *g, int v);
// The store's: a value of a simulation, and one that has taken so much work.
struct key state_key(const struct state *st, enum sim sim, int v);
bool state_stored(const struct state *st, struct key k, struct rep *out);
bool state_keep(const struct state *st, struct key k, const struct rep *r, double work); // true: it is in the store

#endif
