// Private to src/analysis/findings: what a rule looks at and how it speaks.
#ifndef QTUI_ANALYSIS_FINDINGS_RULE_H
#define QTUI_ANALYSIS_FINDINGS_RULE_H

#include "qtui/analysis/findings.h"
#include "qtui/analysis/study.h"
#include "qtui/engine/op.h"

// What the network is for: its outputs, of a joint what it joins, and what a selection by value reads.
struct results {
	int n;
	double noise;                // over signal, at most 1 of each, the mean of all
};
struct look {
	const struct study *study;   // may be NULL; what it decides by now need not be what the snapshot shows
	const struct dataset *samples; // that the snapshot is of; NULL without a study
	struct survey *survey;       // of these samples; NULL: none was made
	const struct snapshot *s;
	const struct graph *g;
	const struct plan *plan;     // NULL before the first run, or in a snapshot made by hand
	struct plan *bare;           // likewise; what it says may be edited
	bool **refused;              // [PREC_COUNT][n_nodes] what it refuses, of all nodes at once; NULL: nobody has asked yet
	const struct site **at;      // [n_values] where the value is quantized first, NULL: nowhere
	bool *tail;                  // [n_nodes] no weights in it nor behind it
	int *decision;               // [n_values] find_decisions
	bool *mask;                  // [n_nodes] find_masks: makes a mask of logits
	double noise;                // summed over the nodes by their own figures; all_noise in findings.c adds what these do not show
	struct results results;
	double *made;                // [n_values] trace_noise: of their noise what arose where the value is made
	double macs;                 // of all nodes
	struct findings *out;
	enum finding_rule rule;      // that runs
};
#define RULE(id, ...) void rule_##id(struct look *l);
#include "qtui/analysis/findings.def"
#undef RULE

// ---- looking

bool is_op(const struct node *n, enum op_id id);
bool is_weighted(const struct node *n);
bool is_mover(const struct node *n);                  // one tensor in, its elements out
bool is_cast(const struct slot *s);                   // it quantizes to floats of 16 bits, which have no step
bool reads_any(const struct node *n, const bool *value); // [n_values] some of what it reads
// Whether the node only moves elements that lie on its grid already: the noise in them arose where they were made.
bool only_moves(const struct look *l, int node);
const struct site *site_of(const struct look *l, int value);
// The tensor in front of the QuantizeLinear and DequantizeLinear that a quantized file holds;
// where there are none the same one.
int value_behind(const struct look *l, int value);
const struct site *site_behind(const struct look *l, int value);
// Whether a tensor is lost on the grid that it shares with wider ones:
// codes it has there, codes of the widest, SNR in dB.
enum { JOINT_MANY_CODES = 64 };
bool is_lost_in_joint(double codes, double widest, double snr);
int site_index(const struct look *l, const struct site *s);
// One scale of its own, figures known: a tensor whose scale can be changed by itself.
bool site_has_scale(const struct site *s);
bool site_is_free(const struct site *s); // and 8 bit
double site_snr(const struct site *s);                // of the node alone, in dB; INFINITY: exact, NAN: not known
double site_damage(const struct site *s);             // noise over signal of the node alone, at most 1
// The same; but of a mean that only sums read: noise over the signal of those sums.
double made_damage(const struct look *l, const struct site *s);
// What the site adds to the sum over all nodes: made_damage; 0 where the noise arose elsewhere,
// and 0 of decisions, whose noise is mostly harmless clipping far below zero.
double counted_damage(const struct look *l, const struct site *s);
double site_lower_end(const struct site *s, double scale); // the values of its lowest and its highest code at this scale
double site_upper_end(const struct site *s, double scale);
double site_span(const struct site *s);               // max - min of the float tensor
// The step of the grid on which a node reads input i; 0: float, or a scale for each channel.
double input_step(const struct look *l, int node, int i);
double output_step(const struct look *l, int node);
double predicted_snr(const struct look *l, const struct site *s, double scale); // NAN: not known
// dB that another scale gains at the node: beside what its histogram predicts of both stands what else it
// loses (its weights, what it reads), which no scale takes away. NAN: not known.
double predicted_gain(const struct look *l, const struct site *s, double scale);
// Whether what lies in lo .. hi is still good on a wider scale. Where few large values stand beside many small ones
// (an outlying channel), energy speaks for the large ones alone, and the network's outputs do not agree with it.
// Of probabilities the large ones count.
bool keeps_inner(const struct look *l, const struct site *s, double lo, double hi, double wider);
bool keeps_most(const struct look *l, const struct site *s, double wider); // the same of all but the few largest elements
// The node whose output's scale governs this site (the end of the chain of shared scales).
int scale_owner(const struct look *l, const struct site *s);
// The values are decisions: they reach a Sigmoid, a Softmax or the network's output by way of movers alone.
bool is_decision(const struct look *l, int value);
void find_decisions(struct look *l); // fills l->decision for all values, in one walk
void find_masks(struct look *l);     // and what the findings hide
bool is_probability(const struct look *l, const struct site *s); // their large values are what counts
// The finding of an earlier rule about this node.
bool is_explained(const struct look *l, int node, enum finding_rule by);
// The finding's damage is that of a narrow input of a Concat, which the figures of the Concat do not show. A sum has its terms' noise.
bool is_of_hidden_input(const struct look *l, const struct finding *f);
// A search has set the site's scale and seen that the outputs gain by it: what the tensor by itself says does not count.
bool was_measured(const struct look *l, const struct site *s);

// Where what the node must not find to be 0, a divisor or what a Log reads, is quantized such that some of it is
// (rounds_to_zero.c); NULL: nowhere.
const struct site *lost_divisor(const struct look *l, int node);
// Follows the noise of the results to where it arose (trace.c). [n_values], heap.
double *trace_noise(const struct look *l, struct results *r);
double node_made(const struct look *l, int node); // the sum over what the node makes
double input_part(const struct look *l, const struct site *input); // of what its node makes, what it rounds or clips there; 0..1
// Of what the node makes, that of its rounded bias: 0..1. Behind an activation that runs with it, it is known to be at most
// that, and `exact` false.
double bias_part(const struct look *l, int node, bool *exact);

// ---- speaking

// A finding about `node` (-1: the run). The pointer is valid until the next one is added.
struct finding *finding_add(struct look *l, int node, double damage);
void finding_about(struct finding *f, int node);      // names another node
// It explains only a part (0..1) of what its node makes: that of one input, of the bias.
void finding_is_part(struct finding *f, const struct look *l, double part);
void finding_say(struct finding *f, const char *fmt, ...) PRINTF(2, 3);
void finding_advise(struct finding *f, const char *fmt, ...) PRINTF(2, 3);
void finding_prove(struct finding *f, const char *name, double value); // left out when not finite
// The edit, when the target allows it; false: it does not, and the finding has none. Nodes that refuse are left out.
bool finding_set(struct finding *f, const struct look *l, const int *nodes, int n, enum precision p);
// The edit takes away what all these nodes make, not only the first that the finding is about.
void finding_takes(struct finding *f, const struct look *l, const int *nodes, int n);
bool can_widen(const struct look *l, int node); // the target has 16 bit for it
bool can_widen_weights(const struct look *l, int node); // and for its weights
// To 16 bit with its region and those who read its output, which else lose there what it keeps,
// or float where there is none, of the node and those who read its output. Of a finding that is too small to be kept: false, it
// needs no edit.
bool finding_widen(struct finding *f, const struct look *l, int node);
bool finding_widen_region(struct finding *f, const struct look *l, int node); // without the readers: the step of what it reads is too coarse
bool finding_free_region(struct finding *f, const struct look *l, int node); // the same nodes to float
// All these nodes, each with those that make what it reads.
bool finding_set_chain(struct finding *f, const struct look *l, const int *nodes, int n, enum precision p);
// As finding_widen_region where the node's weights are what loses; float where those keep their bits at 16 bit.
bool finding_widen_weights(struct finding *f, const struct look *l, int node);
// Leaves the node and all that follows in float; for nodes of the tail.
bool finding_free_behind(struct finding *f, const struct look *l, int node);
bool finding_scale(struct finding *f, const struct look *l, const struct site *s, double scale);
const char *scale_phrase(char out[SCALE_TEXT], double scale); // "2^-4" or "0.0613"
const char *range_phrase(char out[RANGE_TEXT], const struct site *s); // "-4 .. 6.5": of the float tensor

// ---- afterwards

void finding_prepare(struct finding *f, const char *options); // pictures otherwise
void finding_take_samples(struct finding *f, int n);
bool finding_is_small(const struct finding *f, double noise); // of that much noise: not worth what its edit costs
void finding_done(struct finding *f);
void findings_merge(struct findings *f);

#endif
