// Weights by reconstruction, without gradients. For every node with constant weights W and bias b, upstream before
// downstream, with x the rows of its input in the float network and x^ the same rows as the quantized network
// delivers them, everything upstream tuned already:
//   W', b' = argmin |W x + b - W' x^ - b'|^2 + damping |W' - W|^2                                   (least squares)
//   Q      = argmin over the weight's own grid of |(W' - Q) x^|^2, one column after the other, the error of each
//            carried over to the columns that are not rounded yet; then b' anew for Q in closed form.
// The first makes weights and bias absorb what upstream quantization does to their input on average; the second makes
// rounding errors cancel where inputs go together. Scales do not move: the elements that set a range stay what they
// are. Half of the samples fit, the other half judges: an output keeps its weights where no candidate does better
// there.
//
// Literature: least squares against the input that is really delivered, layer by layer: He, Zhang and Sun, "Channel
// Pruning for Accelerating Very Deep Neural Networks" (2017), and Hubara et al., "AdaQuant" (2020); rounding with the
// error carried over: Hassibi and Stork, "Optimal Brain Surgeon" (1993), Frantar and Alistarh, "Optimal Brain
// Compression" (2022), Frantar et al., "GPTQ" (2022), which is Babai's nearest plane (1986) in the metric of the
// inputs; biases: Nagel et al., "Data-Free Quantization" (2019).
#ifndef QTUI_ENGINE_TUNE_H
#define QTUI_ENGINE_TUNE_H

#include "qtui/engine/run.h"
#include "qtui/engine/tuning.h"

struct tune_options {
	const int *sample;           // [samples] of the data set, rising; NULL: the first ones. Borrowed as long as the tuner lives
	int samples;                 // at least 2; every other one fits, the rest judges
	size_t memory;               // for rows and sums; 0: 1 GiB. A node that needs more than half is left alone
	const atomic_bool *cancel;   // may be NULL
	// What is under way, for people: a node's name and the share that is done. May be NULL.
	void (*tell)(void *arg, const char *node, double progress);
	void *tell_arg;
};
// What became of one node: energies on the judging half, of the float output about its mean, and of the error before
// and after.
struct tune_row {
	int node;
	double signal, before, after;
	int outputs, changed;        // output channels, and those with new weights
};
struct tuner;
// Runs the float network once. The finished plan is borrowed, and its tuning is replaced as nodes are tuned.
MUST_CHECK enum status tuner_open(struct tuner **out, struct engine *e, struct plan *p, const struct tune_options *opt, struct error *err);
void tuner_free(struct tuner **t);
int tuner_nodes(const struct tuner *t); // that can be tuned; in an order in which each comes after those upstream of it
// How many others were left alone; which of them needs most, and the `memory` that lets all be tuned.
int tuner_left(const struct tuner *t, int *node, size_t *memory);
// Tunes the nodes first..last-1 of that order, in the network as the plan has it by now. row[last - first] may be NULL.
MUST_CHECK enum status tuner_run(struct tuner *t, int first, int last, struct tune_row *row, struct error *err);
// The tuning in force, to go back to later; the caller drops it.
struct tuning *tuner_state(const struct tuner *t);
void tuner_go_back(struct tuner *t, struct tuning *to); // takes a count of its own

#endif
