// The executor and its memo. An engine owns worker threads, prepared kernels and the store of computed tensors for
// one graph and one dataset (both borrowed). It runs the network over samples under several simulations side by side
// and shows each wanted tensor to a visitor while it is still in cache. Results already in the store are not computed
// again: every result is named by a key, the hash of (operator, attributes, weights, quantizers, keys of its inputs)
// plus the sample's key.
#ifndef QTUI_ENGINE_RUN_H
#define QTUI_ENGINE_RUN_H

#include "qtui/engine/data.h"
#include "qtui/engine/kernel.h"
#include "qtui/engine/plan.h"

enum sim {
	SIM_FLOAT,   // the float network
	SIM_WEIGHTS, // weights rounded, activations and biases float: what observers see
	SIM_FULL,    // everything quantized by the plan ("graphwise")
	SIM_ALONE,   // one node (group) quantized, its inputs from the float network ("layerwise")
	SIM_COUNT,
};

// A tensor as it was computed: float, integers of the model, or codes of the quantizer `q`.
struct rep {
	struct tensor t;
	bool coded;
	struct quantizer q;  // per tensor; its arrays point at scale and zero below: use rep_quantizer
	float scale;
	int32_t zero;
	struct buf *origin;  // of 8-bit codes: which ones they are a function of (a struct byte_origin), if that is known
};
const struct quantizer *rep_quantizer(struct rep *r); // NULL when not coded
struct rep rep_share(const struct rep *r);
struct rep rep_move(struct rep *r); // leaves *r empty
void rep_drop(struct rep *r);
// rep_to_float: as floats. rep_apply: rounded by a quantizer, as codes where it has one scale and at most 16 bits,
// else as floats. *out has its own count.
MUST_CHECK enum status rep_to_float(struct rep *out, struct rep *r, int width, struct error *err);
MUST_CHECK enum status rep_apply(struct rep *out, struct rep *r, const struct quantizer *q, int width, struct error *err);
// In the layout `l`; rep_to_float_layout: as floats too.
MUST_CHECK enum status rep_to_layout(struct rep *out, struct rep *r, enum layout l, int width, struct error *err);
MUST_CHECK enum status rep_to_float_layout(struct rep *out, struct rep *r, enum layout l, int width, struct error *err);

struct engine_options {
	enum kernel_backend backend;
	int threads;
	size_t memory;       // budget of the store and of packed weights, bytes; 0: no store, and all weights stay packed
};
struct engine;
struct engine *engine_new(const struct graph *g, const struct dataset *d, const struct engine_options *opt);
void engine_free(struct engine **e);

// What a visitor sees of one value on one sample. Reps may be read until the call returns. Values of a simulation
// that was not asked for are NULL. Called from worker threads; calls for one (sample) come in order of nodes from one
// thread.
struct sighting {
	int sample, value, worker, width, round;
	struct rep *rep[SIM_COUNT];
};
// What a pass adds to the store.
enum pass_keep {
	KEEP_FOR_EDITS, // results that are dear to compute: after an edit only the cheap ones are computed again
	KEEP_FOR_PASS,  // results that are less dear as well, since the next pass reads the same tensors
	KEEP_SAMPLES,   // the network's inputs: the next pass reads other tensors of the same samples, and no edit follows
	KEEP_NOTHING,
};
struct pass {
	const struct plan *plan;         // NULL when only SIM_FLOAT is wanted
	const bool *want[SIM_COUNT];     // [n_values] values to show; NULL: none
	// [n_values] values that are shown a second time (round 1), for a visitor that must read twice. Round 1 of a
	// value comes after round 0, on all samples, of this value and of those that it is computed from, as far as
	// they are wanted. Between other values the order of rounds is open. NULL: one round only.
	const bool *second[SIM_COUNT];
	int first, last;                 // samples first..last-1
	const int *sample;               // not NULL: these are positions in this list of samples
	const struct dataset *data;      // the samples; NULL: the engine's own
	enum pass_keep keep;
	void (*visit)(void *arg, const struct sighting *s);
	void *arg;
	const atomic_bool *cancel;       // may be NULL
	atomic_long *done;               // counts finished steps, for progress; may be NULL
	atomic_int *computed, *reused;   // results computed, results taken from the store; may be NULL
	atomic_long *busy_ns;            // [SIM_COUNT] worker time per simulation; may be NULL
};
MUST_CHECK enum status engine_pass(struct engine *e, const struct pass *p, struct error *err);
// How many steps the pass would run for each sample, in all rounds, if nothing were in the store: what `done` counts
// towards, per sample.
long engine_pass_steps(struct engine *e, const struct pass *p);

// Keys of all values under a simulation of a plan, samples left out: out[n_values]. SIM_ALONE: of the node's output.
void engine_keys(const struct graph *g, const struct plan *plan, enum sim sim, struct key *out);
// The value at which the figures of value v stand: the end of the fused group that reads it; v itself mostly.
int engine_group_value(const struct graph *g, const struct plan *plan, int v);

// One run on given inputs, without memo. Operators are fused as far as `want` allows.
struct inference {
	enum sim sim;            // SIM_FLOAT or SIM_FULL
	const struct tensor *in; // in the order of graph.input, plain
	const int *want;         // [n_want] values
	int n_want;
	bool codes;              // what is codes stays codes; else all are floats
	struct tensor *out;      // [n_want] plain; the caller drops them
};
// `plan`: of SIM_FULL.
MUST_CHECK enum status engine_infer(struct engine *e, const struct plan *plan, const struct inference *q, struct error *err);

struct jobs *engine_jobs(struct engine *e); // the workers, for other work on the same graph while no pass runs
void engine_yield(struct engine *e); // see jobs_yield
// Drops stored tensors, those of the least worth first, until the store has at most `bytes`; what a running pass
// holds stays.
void engine_trim(struct engine *e, size_t bytes);
// What the options said is another amount from here on; kernels that are packed already stay. While no pass runs.
void engine_set_memory(struct engine *e, size_t bytes);

#endif
