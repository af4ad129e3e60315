// What the parts of the planner share, in the order of the passes (plan.c).
#ifndef QTUI_ENGINE_PLAN_PLAN_IMPL_H
#define QTUI_ENGINE_PLAN_PLAN_IMPL_H

#include "qtui/base/mem.h"
#include "qtui/engine/plan.h"
#include "target/target_impl.h"

// Where a root quantizer's scale comes from.
enum origin_of_scale { SCALE_NONE, SCALE_OBSERVED, SCALE_CONSTANT, SCALE_FIXED, SCALE_DERIVED /* the larger of several */ };
enum { RNN_BIAS = 3, RNN_STATE = 5, RNN_HIDDEN = 1, RNN_CELL = 2 }; // inputs and outputs of GRU and LSTM
enum { PLATFORM_FLOAT = -1 }; // else an index into target.width (ORDER PRECISION)

// A slot as calibration sees it, that is before alignment.
struct slot_before {
	enum slot_state state;
	int dominator;
	float scale;
	int32_t zero;
};
// What the planner keeps of a node beside what it tells of it.
struct node_plan {
	const struct op_rule *rule;
	int platform;   // what the node is sent to: width index or PLATFORM_FLOAT
	int merged;     // the other half of a merged Swish, or -1
	struct written_out written; // whose rule the node has then
	int readers;    // operators that read the node's outputs, a merged Swish once
	int fused_next; // the activation that runs with this node as one operator, or -1
	int pulled_by;  // scratch of the alignment: whose scale its slots were last asked to take
	bool reached;   // from a computing operator
};
struct slot_plan {
	int dominator; // the slot that it follows, up to a root that follows itself: union-find, as PPQ does it
	enum origin_of_scale from;
	float scale;   // of roots that have one for the whole tensor, and their zero point
	int32_t zero;
	bool needed;   // its observation decides something
	signed char calibrator; // that the user gives it, or -1
	const struct quantizer *calibration; // of a constant while observers watch, or NULL
};
struct plan_priv {
	struct arena *arena;
	struct node_plan *node;     // [n_nodes]
	struct slot_plan *slot;     // [n_slots]
	struct slot_before *before; // [n_slots]
	size_t observe_cap, refused_cap;
};

static inline const struct width *node_width(const struct plan *p, int node)
{
	return &p->target->width[p->priv->node[node].platform];
}

// Does the target quantize this type of operator, or this type by a constant as this node has one?
static inline bool plan_quantizes(const struct plan *p, int node)
{
	const struct node *n = &p->g->node[node];
	unsigned flags = p->priv->node[node].rule->flags;
	bool by_constant = (flags & RULE_BY_CONSTANT) && n->n_in == 2 && n->in[1] >= 0 && p->g->value[n->in[1]].constant;
	return p->target->all_types || (flags & RULE_QUANTIZED) || by_constant;
}

// slots.c: a Pad by a constant that is another value than 0, or is not known.
bool plan_adds_value(const struct plan *p, int node);

static inline bool is_passive(const struct plan *p, int node)
{
	const struct op_rule *rule = p->priv->node[node].rule;
	return (rule->flags & RULE_PASSIVE) && p->g->opset >= rule->passive_since &&
	       !(rule->flags & RULE_ONLY_ZEROS && plan_adds_value(p, node));
}

// written_out.c: fills `written` and what it says of the rules.
void plan_find_written_out(struct plan *p);
// dispatch.c: which node goes where. Fills platform, merged, quantizable.
void plan_dispatch(struct plan *p, const struct edits *e);
// slots.c: a quantizer template and a state for every slot.
void plan_make_slots(struct plan *p);
bool slot_is_bias(const struct plan *p, const struct slot *s);
bool slot_has_fixed_scale(const struct plan *p, const struct slot *s); // which the target gives it
// A bias or the cell of a recurrence whose steps have a scale of their own.
bool slot_has_step_scale(const struct plan *p, const struct slot *s);
// fuse.c
int plan_root(const struct plan *p, int slot);
void plan_master(struct plan *p, int slot, int master); // slot takes the scale of master and still quantizes (PASSIVE)
void plan_fuse(struct plan *p);
void plan_simplify(struct plan *p);
// params.c: quantizers of constants; biases and the inputs that follow input 0 once scales are known.
MUST_CHECK enum status plan_constants(struct plan *p, struct plan_cache *c, struct error *err);
void plan_passive(struct plan *p);
void plan_bias_scales(struct plan *p);
// align.c
void plan_align(struct plan *p);
// Of states that a recurrence gives, the slot whose scale they have; of all else `slot` itself.
int plan_states_master(const struct plan *p, int slot);
// stand_in.c: what runs in a node's place where it is quantized.
struct stand_in plan_stand_in(const struct graph *g, const struct node *n, const struct op_rule *rule);
bool plan_is_gate(const struct node *n); // a HardSigmoid as AMD's NPU has it: x / 6 + 1/2
bool plan_is_image_mean(const struct shape *x, const struct shape *y); // rows and columns gone, their dimensions kept
// refine.c: once all scales are known.
void plan_refine(struct plan *p);
// override.c: the user's scales and calibrators.
// Can the tensor have this scale? Where it cannot there is a reason, a clause about its node or about the input of the
// network that it is.
bool plan_takes_scale(const struct plan *p, int value, double scale, int32_t zero, bool wide, char *reason, size_t size);
void plan_lock(struct plan *p, const struct edits *e);
void plan_apply_overrides(struct plan *p, const struct edits *e);
// How many of the node's quantizers have ranges that a calibrator finds; of 0 a reason, as above.
int plan_calibrated_slots(const struct plan *p, int node, int *slot /* [inputs and outputs] */, char *reason, size_t size);
void plan_give_calibrators(struct plan *p, const struct edits *e);
// observe.c
void plan_list_observations(struct plan *p);
// describe.c: groups, effective precisions, refusals.
void plan_describe(struct plan *p, const struct edits *e);
// The precisions again, where tensors stay float as nothing in them is finite.
void plan_describe_unranged(struct plan *p, const struct edits *e);
void plan_refuse(struct plan *p, int node, const char *fmt, ...) PRINTF(3, 4);

// scale.c: beside scale_of_range.
bool scale_is_pow2(double scale);
double scale_nearest_pow2(double scale);
int32_t scale_middle(const struct quantizer *q); // zero point of a symmetric quantizer
int32_t scale_clamp_zero(const struct quantizer *q, double zero); // to a code
double scale_at_least(const struct target *t, double scale);
// The scale as a float at which no code stands for infinity:
// exporters mask with the lowest float there is, and 0 * infinity were NaN.
float scale_finite(const struct quantizer *q, double scale, int32_t zero);
// The quantizer that scales are chosen for: without the lowest code where the target's activations are balanced.
struct quantizer scale_chosen_for(const struct target *t, const struct quantizer *q);
// From a scale wanted (KL's threshold / levels): power of two by the target's rule for KL, symmetric.
void scale_of_kl(float *scale, int32_t *zero, const struct target *t, const struct quantizer *q, double wanted);

// observer.c: an observer outside a plan, for constants.
struct observer_setup {
	const struct target *target;
	struct quantizer quant;
	enum calib_method method;
	int kl_bins;
	int samples;
	double floor; // what is below is not observed (joint search); -INFINITY: all is
};
struct observer *observer_make(const struct observer_setup *s);
struct key observer_setup_key(const struct observer_setup *s);

#endif
