// Scales given by the user: where they act, and what locks them.
#include <math.h>
#include <stdio.h>
#include "plan_impl.h"

// A fused operator has one output quantizer: the one at its end.
static int last_node(const struct plan *p, int node)
{
	return p->group[node].kind == GROUP_NONE ? node : p->group[node].last;
}

static int override_slot(const struct plan *p, int node, char *reason, size_t size)
{
	int last = last_node(p, node);
	if (p->g->node[last].n_out < 1 || p->priv->node[last].platform == PLATFORM_FLOAT ||
	    plan_out(p, last, 0)->state == SLOT_FLOAT) {
		snprintf(reason, size, "its output stays float, so it has no scale");
		return -1;
	}
	int slot = p->first_out[last], root = plan_root(p, slot);
	if (root != slot) {
		snprintf(reason, size, "its output shares the scale of tensor %s: give the scale to node %s",
		    p->g->value[p->slot[root].value].name, p->g->node[p->slot[root].node].name);
		return -1;
	}
	if (p->target->kind != TARGET_LINEAR) {
		snprintf(reason, size, "target %s casts and has no scales", p->target->name);
		return -1;
	}
	return slot;
}

int plan_check_scale(const struct plan *p, int node, double scale, char *reason, size_t size)
{
	if (!isfinite(scale) || scale < 0x1p-120 || scale > 0x1p120) {
		snprintf(reason, size, "a scale must be between 2^-120 and 2^120");
		return -1;
	}
	int slot = override_slot(p, node, reason, size);
	if (slot >= 0 && p->slot[slot].quant.pow2 && !scale_is_pow2(scale)) {
		snprintf(reason, size, "target %s takes only powers of two as scales: the nearest is 2^%d", p->target->name,
		    (int)log2(scale_nearest_pow2(scale)));
		return -1;
	}
	return slot;
}

void plan_lock(struct plan *p, const struct edits *e)
{
	char reason[400];
	for (int i = 0; e && i < p->g->n_nodes; i++) {
		if (e->scale[i] == 0)
			continue;
		int slot = plan_check_scale(p, i, e->scale[i], reason, sizeof reason);
		if (slot < 0)
			plan_refuse(p, i, "%s", reason);
		else
			p->slot[slot].locked = true;
	}
}

// An asymmetric quantizer with a coarser scale keeps the lower end of the range that was observed; with a finer one its zero point, so that
// both ends come in: did only the upper one, a grid that is narrower than the negatives would hold nothing else.
static int32_t zero_for(const struct quantizer *q, float observed, int32_t zero, double scale)
{
	if (q->symmetric || !(observed > 0) || scale < (double)observed)
		return zero;
	double shifted = (double)q->qmin + nearbyint(((double)zero - (double)q->qmin) * (double)observed / scale);
	return (int32_t)fmin(fmax(shifted, (double)q->qmin), (double)q->qmax);
}

// Nodes of one fused operator share a slot: the edit of the last one counts.
void plan_apply_overrides(struct plan *p, const struct edits *e)
{
	struct plan_priv *v = p->priv;
	for (int i = 0; e && i < p->g->n_nodes; i++) {
		const struct node *n = &p->g->node[last_node(p, i)];
		if (e->scale[i] == 0 || n->n_out < 1)
			continue;
		int slot = p->first_out[last_node(p, i)];
		const struct quantizer *q = &p->slot[slot].quant;
		if (!p->slot[slot].locked || (q->pow2 && !scale_is_pow2(e->scale[i])))
			continue;
		v->slot[slot].zero = q->symmetric ? scale_middle(q) : zero_for(q, v->slot[slot].scale, v->slot[slot].zero, e->scale[i]);
		v->slot[slot].scale = (float)e->scale[i];
	}
}
