// Sharing of quantizers inside fused operators, through passive operators, and from producer to consumer.
#include <math.h>
#include "qtui/engine/op.h"
#include "plan_impl.h"

int plan_root(const struct plan *p, int slot)
{
	struct slot_plan *s = p->priv->slot;
	int root = slot;
	while (s[root].dominator != root)
		root = s[root].dominator;
	while (s[slot].dominator != root && slot != root) { // shorter next time
		int next = s[slot].dominator;
		s[slot].dominator = root;
		slot = next;
	}
	return root;
}

// `slot` and whatever it followed so far stop quantizing: `by` does it.
static void dominate(struct plan *p, int slot, int by)
{
	int root = plan_root(p, slot), top = plan_root(p, by);
	if (root == top)
		return;
	p->priv->slot[root].dominator = p->priv->slot[slot].dominator = top;
	p->slot[root].state = p->slot[slot].state = SLOT_OVERLAPPED;
}

void plan_master(struct plan *p, int slot, int master)
{
	if (plan_root(p, master) == slot)
		return;
	p->priv->slot[slot].dominator = master;
	p->slot[slot].state = SLOT_PASSIVE;
}

static bool same_scheme(const struct quantizer *a, const struct quantizer *b)
{
	return a->kind == b->kind && a->bits == b->bits && a->qmin == b->qmin && a->qmax == b->qmax && a->axis == b->axis &&
	    a->symmetric == b->symmetric && a->pow2 == b->pow2 && a->rounding == b->rounding;
}

static bool quantized_node(const struct plan *p, int node)
{
	return node >= 0 && p->priv->node[node].platform != PLATFORM_FLOAT;
}

// By an edit, where the target goes on as if it were quantized.
static bool left_in_float(const struct plan *p, int node)
{
	return p->target->behind_float && node >= 0 && p->quantizable[node] && !quantized_node(p, node);
}

// Inputs of a node that other nodes compute.
static int count_producers(const struct plan *p, int node)
{
	const struct node *n = &p->g->node[node];
	int count = 0;
	for (int i = 0; i < n->n_in; i++)
		count += n->in[i] >= 0 && p->g->value[n->in[i]].producer >= 0;
	return count;
}

// The node in front of `act` when the two can run as one operator; -1 otherwise.
static int fusable_producer(const struct plan *p, int act)
{
	const struct value *x = &p->g->value[p->g->node[act].in[0]];
	int producer = x->producer;
	if (!quantized_node(p, act) || !quantized_node(p, producer) || (p->target->outputs_end && x->is_output))
		return -1;
	return p->priv->node[producer].readers == 1 && count_producers(p, act) == 1 ? producer : -1;
}

static void fuse_pair(struct plan *p, int producer, int act)
{
	int end = p->first_out[act];
	dominate(p, p->first_out[producer], end);
	dominate(p, p->first_in[act], end);
	p->priv->node[producer].fused_next = act;
}

// Some targets fuse a Clip only with the limits of ReLU6 and the like.
static bool clips_like_activation(const struct plan *p, int act)
{
	const struct node *n = &p->g->node[act];
	if (n->op->id != OP_Clip || p->target->n_clips == 0)
		return true;
	float limit[2];
	for (int i = 0; i < 2; i++) {
		const struct value *v = i + 1 < n->n_in && n->in[i + 1] >= 0 ? &p->g->value[n->in[i + 1]] : NULL;
		if (!v || !v->constant || v->constant->type != DT_F32 || tensor_count(v->constant) != 1)
			return false;
		limit[i] = *(const float *)v->constant->data;
	}
	for (int i = 0; i < p->target->n_clips; i++)
		if (fabsf(limit[0] - p->target->clip[i][0]) < 1e-6f && fabsf(limit[1] - p->target->clip[i][1]) < 1e-6f)
			return true;
	return false;
}

static void fuse_activations(struct plan *p)
{
	const struct plan_priv *v = p->priv;
	for (int act = 0; act < p->g->n_nodes; act++) {
		if (!(v->node[act].rule->flags & RULE_ACTIVATION) || !p->quantizable[act])
			continue;
		int producer = fusable_producer(p, act);
		bool takes = producer >= 0 && (v->node[producer].rule->flags & (RULE_COMPUTING | RULE_FRONT));
		if (takes && v->node[producer].platform == v->node[act].platform && clips_like_activation(p, act))
			fuse_pair(p, producer, act);
	}
}

// Computing operator -> Sigmoid, and Mul of both: all of it under the quantizer of the Mul's output.
static bool swish_behind(const struct plan *p, int sigmoid, int *producer, int *mul)
{
	const struct graph *g = p->g;
	const struct node *s = &g->node[sigmoid];
	if (s->op->id != OP_Sigmoid || g->value[s->out[0]].n_consumers != 1)
		return false;
	*producer = g->value[s->in[0]].producer;
	*mul = g->value[s->out[0]].consumer[0];
	const struct node *m = &g->node[*mul];
	if (*producer < 0 || !(p->priv->node[*producer].rule->flags & RULE_COMPUTING) || m->op->id != OP_Mul)
		return false;
	return m->n_in == 2 && (m->in[0] == s->in[0] || m->in[1] == s->in[0]);
}

static void fuse_swish(struct plan *p)
{
	const struct node_plan *v = p->priv->node;
	int producer, mul;
	for (int i = 0; i < p->g->n_nodes; i++) {
		if (!swish_behind(p, i, &producer, &mul) || !quantized_node(p, i))
			continue;
		if (v[producer].platform != v[i].platform || v[mul].platform != v[i].platform)
			continue;
		int end = p->first_out[mul];
		dominate(p, p->first_out[producer], end);
		dominate(p, p->first_in[i], end);
		dominate(p, p->first_out[i], end);
		dominate(p, p->first_in[mul], end);
		dominate(p, p->first_in[mul] + 1, end);
		p->priv->node[producer].fused_next = i;
		p->priv->node[i].fused_next = mul;
	}
}

// Computing operator -> merged Swish, which nothing else reads past: its input has no quantizer.
static void fuse_merged(struct plan *p)
{
	const struct plan_priv *v = p->priv;
	for (int i = 0; i < p->g->n_nodes; i++) {
		int mul = v->node[i].merged, producer = mul > i ? fusable_producer(p, i) : -1;
		if (producer < 0 || !(v->node[producer].rule->flags & RULE_COMPUTING) || v->node[producer].platform != v->node[i].platform)
			continue;
		dominate(p, p->first_out[producer], p->first_out[mul]);
		dominate(p, p->first_in[i], p->first_out[mul]);
		p->priv->node[producer].fused_next = i;
	}
}

// A Pad by an attribute has no quantizer that rounds its value, as an input that is one has.
static bool only_moves(const struct plan *p, int node)
{
	bool rounded = p->g->node[node].n_in > 2 && (p->priv->node[node].rule->follow_in & 1u << 2);
	return (p->g->node[node].op->flags & OPF_MOVES) && (rounded || !plan_adds_value(p, node));
}

// What only moves codes has nothing to round; what computes (a mean, a linear Resize)
// is rounded to the scale that it keeps. That of a tensor which its producer leaves in float is kept
// where the tool looks at the tensor (needs_input), not at who makes it.
static void fuse_passive(struct plan *p)
{
	const struct plan_priv *v = p->priv;
	for (int i = 0; i < p->g->n_nodes; i++) {
		int source = p->g->node[i].n_in > 0 && p->g->node[i].in[0] >= 0 ? p->g->value[p->g->node[i].in[0]].producer : -1;
		bool behind = source >= 0 && (v->node[source].platform == v->node[i].platform || left_in_float(p, source));
		if (!is_passive(p, i) || !quantized_node(p, i) || p->slot[p->first_in[i]].state == SLOT_FLOAT)
			continue;
		if ((!behind && !p->target->needs_input) || v->node[i].fused_next >= 0) // its activation ends what runs as one
			continue;
		void (*share)(struct plan *, int, int) = only_moves(p, i) ? dominate : plan_master;
		for (int k = 0; k < p->g->node[i].n_out; k++)
			if (p->slot[p->first_out[i] + k].state != SLOT_FLOAT)
				share(p, p->first_out[i] + k, p->first_in[i]);
	}
}

static void widen_slot(struct plan *p, int slot, const struct quantizer *like)
{
	struct quantizer *q = &p->slot[slot].quant;
	if (p->slot[slot].state == SLOT_FLOAT || q->bits >= like->bits)
		return;
	q->bits = like->bits;
	q->qmin = like->qmin;
	q->qmax = like->qmax;
}

// An activation behind a promoter of another precision moves to that precision, with the larger width of the two.
static void promote(struct plan *p, int producer, int act)
{
	struct plan_priv *v = p->priv;
	if (v->node[producer].platform == v->node[act].platform || !(v->node[producer].rule->flags & RULE_PROMOTER) ||
	    !(v->node[act].rule->flags & RULE_PROMOTED))
		return;
	const struct quantizer *like = &p->slot[p->first_out[producer]].quant;
	widen_slot(p, p->first_in[act], like);
	widen_slot(p, p->first_out[act], like);
	v->node[act].platform = v->node[producer].platform;
}

static void fuse_behind_any(struct plan *p)
{
	bool any = !p->target->only_asymmetric || !p->target->activation.symmetric;
	for (int act = 0; act < p->g->n_nodes && any; act++) {
		if (!(p->priv->node[act].rule->flags & RULE_BEHIND_ANY) || !p->quantizable[act])
			continue;
		int producer = fusable_producer(p, act);
		if (producer < 0 || p->g->node[act].in[0] != p->g->node[producer].out[0])
			continue;
		promote(p, producer, act);
		fuse_pair(p, producer, act);
	}
}

// An activation reads what such an operator makes as it is, and is rounded where it ends.
static void read_floats(struct plan *p)
{
	for (int act = 0; act < p->g->n_nodes; act++) {
		const struct node *n = &p->g->node[act];
		int producer = n->n_in > 0 && n->in[0] >= 0 ? p->g->value[n->in[0]].producer : -1;
		if (p->priv->node[act].rule->flags & RULE_BEHIND_ANY && quantized_node(p, act) && left_in_float(p, producer) &&
		    p->priv->node[producer].readers == 1 && count_producers(p, act) == 1 && n->in[0] == p->g->node[producer].out[0])
			dominate(p, p->first_in[act], p->first_out[act]);
	}
}

void plan_fuse(struct plan *p)
{
	fuse_activations(p);
	if (p->target->swish == SWISH_FUSE)
		fuse_swish(p);
	if (p->target->swish == SWISH_MERGE_AND_FUSE)
		fuse_merged(p);
	fuse_passive(p);
	fuse_behind_any(p);
	read_floats(p);
}

static int slot_of_output(const struct plan *p, int value)
{
	int producer = p->g->value[value].producer;
	for (int i = 0; i < p->g->node[producer].n_out; i++)
		if (p->g->node[producer].out[i] == value)
			return p->first_out[producer] + i;
	return -1;
}

// An input whose data its producer has quantized in the same way need not be quantized again.
void plan_simplify(struct plan *p)
{
	for (int i = 0; i < p->n_slots; i++) {
		const struct slot *in = &p->slot[i];
		if (in->is_output || in->parameter || in->state != SLOT_ACTIVE)
			continue;
		int producer = p->g->value[in->value].producer;
		if (!quantized_node(p, producer) || p->priv->node[producer].platform != p->priv->node[in->node].platform)
			continue;
		int out = slot_of_output(p, in->value);
		// A fixed scale comes with a range of its own, which readers take over.
		bool fixed = p->priv->node[p->slot[out].node].rule->fixed_scale.scale > 0 && in->quant.bits == p->slot[out].quant.bits;
		if (p->slot[out].state != SLOT_FLOAT && (fixed || same_scheme(&in->quant, &p->slot[out].quant)))
			dominate(p, i, out);
	}
}
