// Scales (with their zero points) and calibrators given by the user: where they act, and what locks them.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include "plan_impl.h"

// A fused operator has one output quantizer, the one at its end, which stands for what its parts give.
static int slot_of(const struct plan *p, int value)
{
	int node = p->g->value[value].producer, i = 0;
	if (p->group[node].kind != GROUP_NONE && p->group[node].last != node)
		return p->first_out[p->group[node].last];
	while (p->g->node[node].out[i] != value)
		i++;
	return p->first_out[node] + i;
}

enum { OUTPUT_TEXT = 120 };

// "output", and its name where the node has several.
static const char *output_text(char out[OUTPUT_TEXT], const struct plan *p, int value)
{
	bool further = graph_is_further(p->g, value);
	snprintf(out, OUTPUT_TEXT, "output%s%.100s", further ? " " : "", further ? p->g->value[value].name : "");
	return out;
}

// `what` the user gives: a scale or a calibrator.
static int refuse_shared(const struct plan *p, const char *what, const char *output, int master, char *reason, size_t size)
{
	const struct slot *s = &p->slot[master];
	const char *tensor = p->g->value[s->value].name, *node = p->g->node[s->node].name;
	if (!s->is_output)
		snprintf(reason, size, "its %s shares the scale on which %.100s reads tensor %.100s, which is the target's own",
		    output, node, tensor);
	else if (!graph_is_further(p->g, s->value))
		snprintf(reason, size, "its %s shares the scale of tensor %.100s: give the %s to node %.100s", output, tensor,
		    what, node);
	else
		snprintf(reason, size, "its %s shares the scale of tensor %.100s: give it the %s", output, tensor, what);
	return -1;
}

static int override_slot(const struct plan *p, const char *what, int value, char *reason, size_t size)
{
	char output[OUTPUT_TEXT];
	int slot = slot_of(p, value), root = plan_root(p, slot);
	const struct slot *s = &p->slot[slot];
	output_text(output, p, value);
	if (p->priv->node[s->node].platform == PLATFORM_FLOAT || s->state == SLOT_FLOAT) {
		snprintf(reason, size, "its %s stays float, so it has no scale", output);
		return -1;
	}
	if (root != slot)
		return refuse_shared(p, what, output, root, reason, size);
	if (p->target->kind != TARGET_LINEAR) {
		snprintf(reason, size, "target %s casts and has no scales", p->target->name);
		return -1;
	}
	root = plan_states_master(p, slot);
	if (root != slot)
		return refuse_shared(p, what, output, root, reason, size);
	if (slot_has_step_scale(p, s)) {
		snprintf(reason, size, "target %s fixes the scale of its %s: that of the recurrence's steps", p->target->name,
		    output);
		return -1;
	}
	return slot;
}

int plan_scale_of(const struct plan *p, int value)
{
	if (p->g->value[value].producer < 0)
		return value;
	int slot = slot_of(p, value), root = plan_root(p, slot);
	if (root == slot)
		root = plan_states_master(p, slot);
	return p->slot[root].is_output ? p->slot[root].value : -1;
}

// An input slot whose tensor nobody quantizes before it: an input of the network, or what a node in float makes.
static bool quantizes_first(const struct plan *p, int slot)
{
	const struct slot *s = &p->slot[slot];
	return s->value >= 0 && !s->parameter && s->state == SLOT_ACTIVE && plan_root(p, slot) == slot && s->quant.kind == QUANT_LINEAR &&
	    p->target->kind == TARGET_LINEAR;
}

static int quantized_inputs(const struct plan *p, int node)
{
	int n = 0;
	for (int i = 0; i < p->g->node[node].n_in; i++)
		n += plan_in(p, node, i)->state != SLOT_FLOAT && !plan_in(p, node, i)->parameter;
	return n;
}

// Where the node's inputs share a scale, none of them has one by hand.
static bool takes_scale(const struct plan *p, int slot, int value)
{
	const struct slot *s = &p->slot[slot];
	enum align_mode align = p->priv->node[s->node].rule->align;
	bool alone = align == ALIGN_NONE || (align == ALIGN_FIRST && s->index != RNN_STATE) || quantized_inputs(p, s->node) == 1;
	return alone && s->value == value && quantizes_first(p, slot);
}

// The slots of all that read an input of the network, -1 behind them (heap).
static int *reading_slots(const struct plan *p, int value)
{
	const struct value *x = &p->g->value[value];
	int *slot = NULL, n = 0;
	for (int c = 0; c < x->n_consumers; c++) {
		int node = x->consumer[c];
		if (c > 0 && node == x->consumer[c - 1])
			continue;
		slot = xrealloc(slot, ((size_t)n + (size_t)p->g->node[node].n_in + 1) * sizeof *slot);
		for (int i = 0; i < p->g->node[node].n_in; i++)
			if (takes_scale(p, p->first_in[node] + i, value))
				slot[n++] = p->first_in[node] + i;
	}
	slot = xrealloc(slot, ((size_t)n + 1) * sizeof *slot);
	slot[n] = -1;
	return slot;
}

// Of an input of the network, and of what an operator makes in float: these get the scale on which they are read.
static bool comes_as_float(const struct plan *p, int value)
{
	if (p->g->value[value].producer < 0)
		return true;
	const struct slot *s = &p->slot[slot_of(p, value)];
	return p->priv->node[s->node].platform == PLATFORM_FLOAT || s->state == SLOT_FLOAT;
}

static int *scaled_slots(const struct plan *p, int value, char *reason, size_t size)
{
	if (comes_as_float(p, value)) {
		bool made = p->g->value[value].producer >= 0;
		snprintf(reason, size, "%sno node quantizes it by itself: it is read as it is, or on a scale that other tensors share",
		    made ? "its output stays float, and " : "");
		return reading_slots(p, made ? p->slot[slot_of(p, value)].value : value);
	}
	int *slot = xcalloc(2, sizeof *slot);
	slot[0] = override_slot(p, "scale", value, reason, size);
	slot[1] = -1;
	return slot;
}

// A grid that the user gives.
struct wanted {
	double scale;
	int32_t zero;   // or ZERO_FOLLOWS
	bool wide;      // it is to be one of 16 bits, whatever the width in this plan
};

static bool takes_zero(const struct plan *p, const struct quantizer *q, const struct wanted *want, char *reason, size_t size)
{
	bool wide = want->wide && target_has_precision(p->target, 16);
	int64_t least = !wide ? q->qmin : q->qmin < 0 ? INT16_MIN : 0, most = !wide ? q->qmax : q->qmin < 0 ? INT16_MAX : UINT16_MAX;
	if (want->zero == ZERO_FOLLOWS || (q->symmetric ? want->zero == scale_middle(q) : want->zero >= least && want->zero <= most))
		return true;
	if (q->symmetric)
		snprintf(reason, size, "target %s has no zero points: that of all its tensors is %d", p->target->name, (int)scale_middle(q));
	else
		snprintf(reason, size, "a zero point is a code, from %lld to %lld", (long long)least, (long long)most);
	return false;
}

static bool takes_grid(const struct plan *p, const struct quantizer *q, const struct wanted *want, char *reason, size_t size)
{
	if (!q->pow2 || scale_is_pow2((float)want->scale)) // the text of a small one may have too few digits
		return takes_zero(p, q, want, reason, size);
	snprintf(reason, size, "target %s takes only powers of two as scales: the nearest is 2^%d", p->target->name,
	    (int)log2(scale_nearest_pow2(want->scale)));
	return false;
}

// The slots that a scale of `value` is given to, -1 behind them (heap). Where there are none, or one of them cannot have
// it, the list is empty and there is a reason.
static int *slots_for(const struct plan *p, int value, const struct wanted *want, char *reason, size_t size)
{
	int *slot = scaled_slots(p, value, reason, size);
	bool taken = isfinite(want->scale) && want->scale >= 0x1p-120 && want->scale <= 0x1p120;
	if (!taken)
		snprintf(reason, size, "a scale must be between 2^-120 and 2^120");
	for (int i = 0; taken && slot[i] >= 0; i++)
		taken = takes_grid(p, &p->slot[slot[i]].quant, want, reason, size);
	if (!taken)
		slot[0] = -1;
	return slot;
}

bool plan_takes_scale(const struct plan *p, int value, double scale, int32_t zero, bool wide, char *reason, size_t size)
{
	int *slot = slots_for(p, value, &(struct wanted){scale, zero, wide}, reason, size);
	bool taken = slot[0] >= 0;
	free(slot);
	return taken;
}

static void lock(struct plan *p, int value, const struct wanted *want)
{
	char reason[400];
	int *slot = slots_for(p, value, want, reason, sizeof reason), node = graph_node_of(p->g, value);
	bool given = p->g->value[value].producer < 0;
	if (slot[0] < 0 && node >= 0)
		plan_refuse(p, node, "%s%s%s", given ? p->g->value[value].name : "", given ? ": " : "", reason);
	for (int i = 0; slot[i] >= 0; i++)
		p->slot[slot[i]].locked = true;
	free(slot);
}

// In the order of nodes: those of one fused operator share a slot, and the edit of the last one counts.
static void each_override(struct plan *p, const struct edits *e, void (*act)(struct plan *p, int value, const struct wanted *want))
{
	int n, *made = graph_scalable(p->g, &n);
	for (int i = 0; e && i < n; i++)
		if (e->scale[made[i]] != 0)
			act(p, made[i], &(struct wanted){e->scale[made[i]], e->zero[made[i]], false});
	free(made);
}

void plan_lock(struct plan *p, const struct edits *e)
{
	each_override(p, e, lock);
}

// An asymmetric quantizer with a coarser scale keeps the lower end of the range that was observed;
// with a finer one its zero point, so that both ends come in: did only the upper one,
// a grid that is narrower than the negatives would hold nothing else.
static int32_t zero_for(const struct quantizer *q, float observed, int32_t zero, double scale)
{
	if (q->symmetric || !(observed > 0) || scale < (double)observed)
		return zero;
	double shifted = (double)q->qmin + nearbyint(((double)zero - (double)q->qmin) * (double)observed / scale);
	return (int32_t)fmin(fmax(shifted, (double)q->qmin), (double)q->qmax);
}

static void give_scale(struct plan *p, int slot, const struct wanted *want)
{
	struct slot_plan *v = &p->priv->slot[slot];
	const struct quantizer *q = &p->slot[slot].quant;
	if (want->zero != ZERO_FOLLOWS)
		v->zero = want->zero;
	else
		v->zero = q->symmetric ? scale_middle(q) : zero_for(q, v->scale, v->zero, want->scale);
	v->scale = (float)want->scale;
}

static void apply(struct plan *p, int value, const struct wanted *want)
{
	char reason[400];
	int *slot = slots_for(p, value, want, reason, sizeof reason);
	for (int i = 0; slot[i] >= 0; i++)
		if (p->slot[slot[i]].locked)
			give_scale(p, slot[i], want);
	free(slot);
}

void plan_apply_overrides(struct plan *p, const struct edits *e)
{
	each_override(p, e, apply);
}

// Is the range known before anything is observed?
static bool is_given(const struct plan *p, const struct slot *s)
{
	const struct op_rule *rule = p->priv->node[s->node].rule;
	return s->is_output && s->index == 0 && (rule->fixed_range.known || rule->fixed_scale.scale > 0);
}

static int calibrated_output(const struct plan *p, int value, char *reason, size_t size)
{
	int slot = override_slot(p, "calibrator", value, reason, size);
	if (slot < 0 || !is_given(p, &p->slot[slot]))
		return slot;
	snprintf(reason, size, "target %s knows the range of its output, which is not calibrated", p->target->name);
	return -1;
}

int plan_calibrated_slots(const struct plan *p, int node, int *slot, char *reason, size_t size)
{
	const struct node *n = &p->g->node[node];
	int count = 0;
	snprintf(reason, size, "it has no quantizer of its own");
	for (int i = 0; i < n->n_out; i++) {
		int out = n->out[i] < 0 ? -1 : calibrated_output(p, n->out[i], reason, size);
		if (out >= 0)
			slot[count++] = out;
	}
	for (int i = 0; i < n->n_in; i++)
		if (quantizes_first(p, p->first_in[node] + i))
			slot[count++] = p->first_in[node] + i;
	return count;
}

// In the order of nodes, as overrides.
void plan_give_calibrators(struct plan *p, const struct edits *e)
{
	for (int n = 0; e && n < p->g->n_nodes; n++) {
		char reason[400];
		if (e->calibrator[n] < 0)
			continue;
		int *slot = xcalloc((size_t)p->g->node[n].n_in + (size_t)p->g->node[n].n_out + 1, sizeof *slot);
		int count = plan_calibrated_slots(p, n, slot, reason, sizeof reason);
		for (int i = 0; i < count; i++)
			p->priv->slot[slot[i]].calibrator = e->calibrator[n];
		if (!count)
			plan_refuse(p, n, "%s", reason);
		free(slot);
	}
}
