// Private to src/cli: what qtui run gives the network.
#ifndef QTUI_CLI_INPUTS_H
#define QTUI_CLI_INPUTS_H

#include "qtui/cli/options.h"

struct inputs {
	const struct graph *g;     // borrowed, as the study
	const struct study *study; // of the quantized network, else NULL
	struct tensor *in;         // [g->n_inputs]; owned
	int64_t stack;             // samples in each input that is a stack of them; 0: none is
};
// Whether a file is named behind each -i.
MUST_CHECK enum status inputs_check(const struct options *o, struct error *err);
// Are there files that have no shape of their own: pictures, raw data?
bool inputs_lack_shape(const struct options *o);
// The float network, with the shapes that these files have.
MUST_CHECK enum status inputs_load_graph(struct graph **out, const struct options *o, struct error *err);
// Reads what -i names; x->g and x->study are set. Every input has its shape then, or is a stack of samples (stack.h).
MUST_CHECK enum status inputs_read(struct inputs *x, const struct options *o, struct error *err);
// What the k-th sample has for an input; its bytes are those of x.
struct tensor inputs_sample(const struct inputs *x, int input, int64_t k);
void inputs_done(struct inputs *x);

#endif
