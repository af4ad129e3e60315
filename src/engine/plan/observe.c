// Which tensors must be observed: only those whose range decides a scale in the end.
// Slots that read the same tensor in the same way share an observation.
#include <math.h>
#include "qtui/engine/op.h"
#include "plan_impl.h"

// By bits, not by node: an activation that was promoted has the bits of another width than its node's.
static int kl_bins(const struct target *t, int bits)
{
	return t->width[t->width[1].present && t->width[1].activation == bits ? 1 : 0].kl_bins;
}

static bool is_gate(const struct node *n)
{
	return n->op->id == OP_Sigmoid || n->op->id == OP_HardSigmoid;
}

// Where gates, or a gate and the Mul that it gates, are all that reads a tensor,
// what is far below 0 is all the same to them.
static double floor_of(const struct plan *p, const struct slot *s)
{
	const struct value *x = &p->g->value[s->value];
	const struct node *gate = NULL, *mul = NULL;
	if (p->target->calibration.gate_reach <= 0 || !s->is_output)
		return -INFINITY;
	for (int i = 0; i < x->n_consumers; i++) {
		const struct node *n = &p->g->node[x->consumer[i]];
		if (is_gate(n) && (!gate || gate->op == n->op))
			gate = gate ? gate : n;
		else if (n->op->id == OP_Mul)
			mul = n;
		else
			return -INFINITY;
	}
	if (!gate || (mul && x->n_consumers != 2))
		return -INFINITY;
	if (gate->op->id == OP_Sigmoid)
		return -p->target->calibration.gate_reach;
	const struct act_attrs *a = gate->attrs;
	bool gated = !mul || mul->in[0] == gate->out[0] || mul->in[1] == gate->out[0];
	return gated && a->alpha > 0 ? -(double)a->beta / a->alpha : -INFINITY;
}

// The slot's own calibrator, or that of what it shares its scale with.
static enum calib_method method_of(const struct plan *p, int slot)
{
	const struct slot_plan *v = p->priv->slot;
	int root = plan_root(p, slot), chosen = v[slot].calibrator >= 0 ? v[slot].calibrator : v[root].calibrator;
	return chosen >= 0 ? (enum calib_method)chosen : p->method;
}

static struct observer_setup setup_of(const struct plan *p, const struct slot *s, enum calib_method m, int samples)
{
	return (struct observer_setup){.target = p->target, .quant = scale_chosen_for(p->target, &s->quant), .method = m,
		.kl_bins = kl_bins(p->target, s->quant.bits), .samples = samples, .floor = floor_of(p, s)};
}

static bool wants_observation(const struct plan *p, int i)
{
	const struct plan_priv *v = p->priv;
	const struct slot *s = &p->slot[i];
	if (s->parameter || s->quant.kind != QUANT_LINEAR || v->slot[i].from == SCALE_FIXED)
		return false;
	if (s->locked && s->quant.symmetric)
		return false;
	bool decides = plan_root(p, i) == i && s->state == SLOT_ACTIVE && v->slot[i].from != SCALE_DERIVED;
	return decides || v->slot[i].needed;
}

static int add_observation(struct plan *p, int slot, enum calib_method m, struct key k)
{
	struct plan_priv *v = p->priv;
	const struct slot *s = &p->slot[slot];
	p->observe = xgrow(p->observe, &v->observe_cap, (size_t)p->n_observe + 1, sizeof *p->observe);
	p->observe[p->n_observe] = (struct observe){.slot = slot, .value = s->value, .method = m,
		.bits = s->quant.bits, .key = k};
	return p->n_observe++;
}

void plan_list_observations(struct plan *p)
{
	struct keymap *known = keymap_new(); // value and settings -> index + 1
	for (int i = 0; i < p->n_slots; i++) {
		if (!wants_observation(p, i))
			continue;
		enum calib_method m = method_of(p, i);
		struct observer_setup setup = setup_of(p, &p->slot[i], m, 0);
		struct key k = observer_setup_key(&setup), with_value = key_add_int(k, p->slot[i].value);
		intptr_t index = (intptr_t)keymap_get(known, with_value);
		if (!index) {
			index = add_observation(p, i, m, k) + 1;
			keymap_put(known, with_value, (void *)index);
		}
		p->slot[i].observe = (int)index - 1;
	}
	keymap_free(&known);
}

struct observer *observer_new(const struct plan *p, int observe, int samples)
{
	const struct observe *o = &p->observe[observe];
	struct observer_setup setup = setup_of(p, &p->slot[o->slot], o->method, samples);
	return observer_make(&setup);
}
