// Which tensors must be observed: only those whose range decides a scale in the end. Slots that read the same tensor in the
// same way share an observation.
#include <stdlib.h>
#include "plan_impl.h"

// By bits, not by node: an activation that was promoted has the bits of another width than its node's.
static int kl_bins(const struct target *t, int bits)
{
	return t->width[t->width[1].present && t->width[1].activation == bits ? 1 : 0].kl_bins;
}

static struct observer_setup setup_of(const struct plan *p, const struct slot *s, int samples)
{
	return (struct observer_setup){ .target = p->target, .quant = scale_chosen_for(p->target, &s->quant), .method = p->method,
		.kl_bins = kl_bins(p->target, s->quant.bits), .samples = samples };
}

static bool wants_observation(const struct plan *p, int i)
{
	const struct plan_priv *v = priv(p);
	const struct slot *s = &p->slot[i];
	if (s->parameter || s->quant.kind != QUANT_LINEAR || v->from[i] == SCALE_FIXED)
		return false;
	if (s->locked && s->quant.symmetric)
		return false;
	bool decides = plan_root(p, i) == i && s->state == SLOT_ACTIVE && v->from[i] != SCALE_DERIVED;
	return decides || v->needed[i];
}

static int add_observation(struct plan *p, int slot, struct key k)
{
	struct plan_priv *v = priv(p);
	const struct slot *s = &p->slot[slot];
	p->observe = xgrow(p->observe, &v->observe_cap, (size_t)p->n_observe + 1, sizeof *p->observe);
	p->observe[p->n_observe] = (struct observe){ .slot = slot, .value = s->value, .method = p->method,
		.bits = s->quant.bits, .key = k };
	return p->n_observe++;
}

void plan_list_observations(struct plan *p)
{
	struct keymap *known = keymap_new(); // value and settings -> index + 1
	for (int i = 0; i < p->n_slots; i++) {
		if (!wants_observation(p, i))
			continue;
		struct observer_setup setup = setup_of(p, &p->slot[i], 0);
		struct key k = observer_setup_key(&setup), with_value = key_add_int(k, p->slot[i].value);
		intptr_t index = (intptr_t)keymap_get(known, with_value);
		if (!index) {
			index = add_observation(p, i, k) + 1;
			keymap_put(known, with_value, (void *)index);
		}
		p->slot[i].observe = (int)index - 1;
	}
	keymap_free(&known);
}

struct observer *observer_new(const struct plan *p, int observe, int samples)
{
	struct observer_setup setup = setup_of(p, &p->slot[p->observe[observe].slot], samples);
	return observer_make(&setup);
}
