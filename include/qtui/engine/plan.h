// The quantizer plan: plan = f(graph, target, edits, statistics). It gives every input and output slot of every node
// its quantizer and every node its precision; it is built in two steps, since some scales come from observed
// activations:
//   plan_new       structure: precisions, groups, states, weight quantizers; lists what must be observed
//   (the caller runs the network with quantized weights and feeds each plan->observe[] entry)
//   plan_finish    scales: from observations, then overrides, alignment, shared and passive quantizers, biases
// The plan owns everything in it and borrows graph and target. What the passes do: docs/NUMERICS.md.
#ifndef QTUI_ENGINE_PLAN_H
#define QTUI_ENGINE_PLAN_H

#include "qtui/engine/graph.h"
#include "qtui/engine/quantizer.h"
#include "qtui/engine/target.h"
#include "qtui/engine/tuning.h"

enum precision { PREC_INT8, PREC_INT16, PREC_FLOAT, PREC_COUNT };
const char *precision_name(enum precision p); // "int8" ...
bool precision_parse(enum precision *out, const char *name);

// No zero point is given: that of a quantizer which has one follows from the range that was observed.
#define ZERO_FOLLOWS INT32_MIN

// What the user asked for; an idempotent set, dense over nodes and values of the graph.
struct edits {
	int n_nodes, n_values;
	signed char *precision; // [node] enum precision, or -1: the target's own choice
	signed char *calibrator; // [node] enum calib_method of the ranges that the node's quantizers have, or -1: the plan's
	double *scale;          // [value] scale of what a node makes or the network is given, a float; or 0: none. Calibration
	                        // and alignment leave it alone
	int32_t *zero;          // [value] zero point that goes with the scale, a code of the quantizer's; or ZERO_FOLLOWS
	struct tuning *tuning;  // tuned constants, or NULL; counted
};
struct edits *edits_new(const struct graph *g);
struct edits *edits_copy(const struct edits *e);
void edits_free(struct edits **e);
void edits_give_scale(struct edits *e, int value, double scale, int32_t zero);
void edits_forget_scales(struct edits *e, const struct node *n); // of its outputs
bool edits_equal(const struct edits *a, const struct edits *b);
struct key edits_key(const struct edits *e, const struct graph *g);

enum slot_state {
	SLOT_FLOAT,      // not quantized
	SLOT_ACTIVE,     // quantized with its own scale
	SLOT_PASSIVE,    // quantized with the scale of the slot that it follows (own bits)
	SLOT_OVERLAPPED, // not quantized here: another slot (`follows`) does it for the same data
};
struct slot {
	int node, index;          // index: input number, or output number
	bool is_output;
	int value;                // value id, -1 for an absent optional input
	enum slot_state state;
	int follows;              // slot id of the dominating quantizer, -1 when independent
	bool locked;              // scale given by the user, or by tuned weights that bring theirs
	bool parameter;           // the value is a constant
	int observe;              // index into plan->observe, or -1
	struct quantizer quant;   // valid after plan_finish for ACTIVE and PASSIVE; for OVERLAPPED the one it follows
};

// A group of nodes that the target runs as one operator: its figures stand at `owner` for the tensor at the group's
// end.
enum group_kind { GROUP_NONE, GROUP_ACTIVATION /* Conv+Relu ... */, GROUP_SWISH /* Sigmoid+Mul */, GROUP_WRITTEN_OUT };
struct group {
	enum group_kind kind;
	int owner;                // node id that owns the quantizer
	int last;                 // node id whose output is the group's output
};

// What a target runs in place of a node where it is quantized: another function of the same tensor, a mean that is
// off by a factor, or a recurrence that rounds within its steps.
struct stand_in {
	const char *op;           // "HardSigmoid" or "LeakyRelu", with these attributes; NULL: the node is what it is
	float alpha, beta;
	float gain;               // its result is multiplied by this; 0: it is not
	// Sums and cell of every time step have 16 bits of this, its state the quantizer of output 0; 0: only results
	// are rounded.
	float step_scale;
};

struct observe {
	int slot;
	int value;                // tensor to observe, in the network with quantized weights
	enum calib_method method;
	int bits;
	struct key key;           // of the observer's settings; equal keys on equal data give equal scales
	float scale;              // what plan_finish was given for it; 0: nothing in the tensor is finite
	int32_t zero;
};
struct refusal {
	int node;
	const char *reason;       // a clause about the node, its name left out: "it runs as one operator with ..."; owned by the plan
};
struct plan {
	uint64_t id;                   // > 0; no two plans have the same, where one may lie at another's address
	const struct graph *g;
	const struct target *target;
	enum calib_method method;
	int n_slots;
	struct slot *slot;
	int *first_in, *first_out;     // [n_nodes] slot id of input 0 / output 0
	enum precision *precision;     // [n_nodes] effective
	struct group *group;           // [n_nodes]
	bool *quantizable;             // [n_nodes] the target quantizes this operator
	struct stand_in *stand_in;     // [n_nodes]
	int n_observe;
	struct observe *observe;
	int n_refused;
	struct refusal *refused;
	bool finished;
	struct tuning *tuning;         // of the edits, or NULL; counted
	struct plan_priv *priv; // of src/engine/plan
};
static inline struct slot *plan_in(const struct plan *p, int node, int i) { return &p->slot[p->first_in[node] + i]; }
static inline struct slot *plan_out(const struct plan *p, int node, int i) { return &p->slot[p->first_out[node] + i]; }
// The quantizer that acts on this slot's data when the plan runs; NULL when the slot itself quantizes nothing.
const struct quantizer *slot_quantizer(const struct slot *s);
static inline bool slot_quantizes(const struct slot *s) { return s->state == SLOT_ACTIVE || s->state == SLOT_PASSIVE; }

// Scale and zero point with which a quantizer covers what reaches from lo to hi, by the target's own rule (docs/NUMERICS.md).
void scale_of_range(float *scale, int32_t *zero, const struct target *t, const struct quantizer *q, double lo, double hi);

// The quantizer of a weight depends only on the weight's content and the settings: the cache keeps such quantizers
// from one plan to the next. One thread at a time may use it.
struct plan_cache;
struct plan_cache *plan_cache_new(void);
void plan_cache_free(struct plan_cache **c);

MUST_CHECK enum status plan_new(struct plan **out, const struct graph *g, const struct target *t, enum calib_method m,
    const struct edits *e, struct plan_cache *c, struct error *err);
// scale[i], zero[i]: the result of observe[i] (from observer_finish). What has a scale of 0 stays float, with all that
// would share it, unless the user gives it one. So does a constant of which (or of a channel of which) nothing is finite.
MUST_CHECK enum status plan_finish(struct plan *p, const float *scale, const int32_t *zero, const struct edits *e, struct error *err);
// Of a finished plan: leaves in float all that these slots (keep[n_slots]) do not quantize, also what the target runs in
// the place of a node whose result they do not.
void plan_quantize_only(struct plan *p, const bool *keep);
void plan_free(struct plan **p);
// The quantizer of a constant input while observers watch (its own, before alignment); NULL: it is used as it is.
// From plan_new on.
const struct quantizer *plan_calibration_quantizer(const struct plan *p, int slot);
// How many elements of the constant divisor of a Div would round to 0, so that the target would divide by 0. Where
// there are any, the plan leaves the divisor in float.
int64_t plan_lost_divisors(const struct plan *p, int node);
// The constant at a slot as it is quantized, and its key: the tuned one where there is one for the grid that this
// plan uses, else the graph's own.
const struct tensor *plan_constant(const struct plan *p, int slot);
struct key plan_content(const struct plan *p, int slot);
// An operator that the model has written out in several nodes and the target runs as one.
struct written_out {
	const char *op_type; // "LayerNormalization" ...; NULL: the node is no part of one
	int first, last;     // nodes: the first that reads its input, the one that gives its result
	int input;           // value
	int weights;         // the node that has its weights, or -1
};
// The one that the node is a part of, or NULL.
const struct written_out *plan_written_out(const struct plan *p, int node);
// A plan without edits, constants and observations, which answers what may be edited (plan_check_edit). It reads g
// and t while it lives.
struct plan *plan_bare(const struct graph *g, const struct target *t);
// The same with edits.
struct plan *plan_outline(const struct graph *g, const struct target *t, const struct edits *e);
// Would the target take this edit? STATUS_OK, or STATUS_REFUSED with the reason. The answer is immediate for an edit
// that changes no width; for any other a plan is built.
MUST_CHECK enum status plan_check_edit(const struct plan *bare, int node, enum precision want, struct error *err);
// Could the tensor, which a node makes or the network is given, have this scale (and zero point, or ZERO_FOLLOWS) where
// it is quantized? Edits may take a tensor out of a scale that it shares: where the bare plan refuses, the one with edits
// may still take it. The zero point may be a code of 16 bits if `wide`, as the tensor is or may be of 16 bits. Where the target
// wants powers of two, the reason names the one nearest to `scale`.
MUST_CHECK enum status plan_check_scale(const struct plan *p, int value, double scale, int32_t zero, bool wide, struct error *err);
// Could the node have a calibrator of its own? It finds the ranges of what the node makes and of what only the node
// itself quantizes before it reads it, as an input of the network.
MUST_CHECK enum status plan_check_calibrator(const struct plan *bare, int node, struct error *err);
// The output whose scale `value`, a node's output, has: itself (so has an input of the network), or the one that it
// shares it with;
// -1: that of a tensor as a node reads it.
int plan_scale_of(const struct plan *bare, int value);
// plan_check_edit for many nodes, each by itself: refused[i] is the answer for nodes[i]. Returns how many are
// refused; `err` has the reason of the last of them.
int plan_check_edits(const struct plan *bare, const int *nodes, int n, enum precision want, bool *refused, struct error *err);
// Some targets ask another part of an operator for its width (Relu, of ConvTranspose and Relu). Beside the edits `e`, and
// `nodes` set to `want` (-1: back to the target's choice): the other nodes of such operators, which must be set too, and
// those that were set alike. Writes ids to out[bare->g->n_nodes] and returns their number.
int plan_operator_nodes(const struct plan *bare, const struct edits *e, const int *nodes, int n, int want, int *out);
// The nodes that must go to 16 bit together so that `node` at 16 bit has an effect: its producer, a fused activation,
// nodes that share its scale. With `readers` also the nodes that read its tensor, which otherwise go on reading it at
// 8 bit; this matters where the tensor loses precision, not the node's weights. Writes ids in order to out[max] and
// returns their number; *conversions becomes the number of requantizations that the region adds at its border.
int plan_widen_region(const struct plan *p, int node, bool readers, int *out, int max, int *conversions);

// Observers: one per plan->observe[] entry. Phase 0, then phase 1 when observer_phases says 2; every sample is fed
// once a phase. observer_feed may be called from several threads; results do not depend on the order. Between the
// first feed of phase 1 and observer_finish a 16-bit KL observer holds a histogram of 4 MiB: where memory is short,
// run phase 1 for some of them at a time.
enum { OBSERVER_PHASES = 2 };
struct observer;
struct observer *observer_new(const struct plan *p, int observe, int samples);
void observer_free(struct observer **o);
size_t observer_bytes(const struct observer *o); // of memory, once it is finished
int observer_phases(const struct observer *o);
// For provisional figures: of large tensors phase 1 reads an eighth of the elements, 512 of every 4096. Ranges stay
// exact.
void observer_thin(struct observer *o);
void observer_feed(struct observer *o, int phase, int sample, const struct tensor *x); // float32, any layout
// The key of what a phase gathers: with equal keys, the same tensor and the same samples, two observers gather the
// same, so that a finished one can be adopted (observer_adopt) and this one need not be fed. False: what this phase
// gathers cannot be adopted.
bool observer_gathers(const struct observer *o, int phase, struct key *k);
void observer_adopt(struct observer *o, int phase, const struct observer *from);
// Does phase 0 gather nothing but a range? Then a tensor that is made of the elements of others (Concat, Reshape)
// need not be read: its range is theirs together, and observer_join takes in the range of one of them.
bool observer_joins(const struct observer *o);
void observer_join(struct observer *o, const struct observer *part);
// False, with a scale of 0, when the tensor has elements and none of them is finite.
bool observer_finish(struct observer *o, float *scale, int32_t *zero);

#endif
