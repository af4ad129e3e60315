// Alignment: operators whose inputs (and outputs) must share one scale, and the tensors upstream that are pulled along.
#include <stdlib.h>
#include "plan_impl.h"

static bool is_floating(const struct slot *s)
{
	return s->state == SLOT_FLOAT;
}

static void align_to(struct plan *p, int node, int master)
{
	for (int i = 0; i < p->g->node[node].n_in; i++)
		if (!is_floating(plan_in(p, node, i)))
			plan_master(p, p->first_in[node] + i, master);
}

// What a slot covers with the scale that it has now.
static void cover(const struct plan *p, int slot, double *lo, double *hi)
{
	const struct quantizer *q = &p->slot[slot].quant;
	int root = plan_root(p, slot);
	double scale = p->priv->slot[root].scale, zero = p->priv->slot[root].zero;
	*lo = scale * ((double)q->qmin - zero) < *lo ? scale * ((double)q->qmin - zero) : *lo;
	*hi = scale * ((double)q->qmax - zero) > *hi ? scale * ((double)q->qmax - zero) : *hi;
}

// Of the inputs' scales one that the user gave and that holds this range as it is: to derive another from the range would
// make it 256/255 times as large, and a power of two twice. -1: there is none.
static int given_to_all(const struct plan *p, int node, double lo, double hi)
{
	const struct quantizer *q = &plan_in(p, node, 0)->quant;
	for (int i = 0; i < p->g->node[node].n_in; i++) {
		int root = plan_root(p, p->first_in[node] + i);
		double scale = p->priv->slot[root].scale, zero = p->priv->slot[root].zero;
		if (!is_floating(plan_in(p, node, i)) && p->slot[root].locked && scale * ((double)q->qmin - zero) <= lo &&
		    scale * ((double)q->qmax - zero) >= hi)
			return root;
	}
	return -1;
}

// One range that holds all inputs: input 0 becomes its owner, the others follow; the output is left alone.
static int align_to_large(struct plan *p, int node)
{
	struct plan_priv *v = p->priv;
	int master = p->first_in[node], n_in = p->g->node[node].n_in;
	double lo = 0, hi = 0;
	if (is_floating(&p->slot[master]))
		return -1;
	for (int i = 0; i < n_in; i++) {
		if (is_floating(plan_in(p, node, i)))
			continue;
		int root = plan_root(p, master + i);
		v->slot[root].needed |= v->slot[root].from != SCALE_DERIVED;
		cover(p, master + i, &lo, &hi);
	}
	int given = given_to_all(p, node, lo, hi);
	v->slot[master].dominator = master;
	p->slot[master].state = SLOT_ACTIVE;
	v->slot[master].from = SCALE_DERIVED;
	if (given >= 0) {
		v->slot[master].scale = v->slot[given].scale;
		v->slot[master].zero = v->slot[given].zero;
	} else {
		scale_of_range(&v->slot[master].scale, &v->slot[master].zero, p->target, &p->slot[master].quant, lo, hi);
	}
	for (int i = 1; i < n_in; i++)
		if (!is_floating(plan_in(p, node, i)))
			plan_master(p, master + i, master);
	return master;
}

static void follow_unless_float(struct plan *p, int slot, int master)
{
	if (!is_floating(&p->slot[slot]))
		plan_master(p, slot, master);
}

int plan_states_master(const struct plan *p, int slot)
{
	const struct slot *s = &p->slot[slot];
	bool follows = p->priv->node[s->node].rule->align == ALIGN_FIRST && s->is_output && s->index == RNN_HIDDEN &&
	    !is_floating(plan_out(p, s->node, 0));
	return follows ? p->first_out[s->node] : slot;
}

// A recurrence has one scale for the states that it gives: of every step, of the last one,
// and the one that it begins with.
static int align_states(struct plan *p, int node)
{
	const struct node *n = &p->g->node[node];
	int master = p->first_out[node];
	if (is_floating(&p->slot[master]))
		return -1;
	if (n->n_out > RNN_HIDDEN)
		follow_unless_float(p, master + RNN_HIDDEN, master);
	if (n->n_in > RNN_STATE)
		follow_unless_float(p, p->first_in[node] + RNN_STATE, master);
	return master;
}

static int by_id(const void *a, const void *b)
{
	int x = *(const int *)a, y = *(const int *)b;
	return (x > y) - (x < y);
}

static bool reads(const struct graph *g, int node, int value)
{
	const struct value *v = value < 0 ? NULL : &g->value[value];
	return v && bsearch(&node, v->consumer, (size_t)v->n_consumers, sizeof node, by_id);
}

static void pull_slots(struct plan *p, int first, const int *value, int count, int node, int master)
{
	for (int i = 0; i < count; i++) {
		const struct slot *s = &p->slot[first + i];
		if (reads(p->g, node, value[i]) && s->quant.kind == QUANT_LINEAR && !s->locked)
			plan_master(p, first + i, master);
	}
}

static void pull(struct plan *p, int node, int up, int master)
{
	const struct target *t = p->target;
	const struct node *n = &p->g->node[up];
	if (p->priv->node[up].platform == PLATFORM_FLOAT)
		return;
	if (!t->pull_shared && p->priv->node[up].readers != 1)
		return;
	if (!t->pull_passive && is_passive(p, up))
		return;
	pull_slots(p, p->first_out[up], n->out, n->n_out, node, master);
	if (t->pull_inputs)
		pull_slots(p, p->first_in[up], n->in, n->n_in, node, master);
}

// A producer of several inputs is pulled once: all its outputs are walked each time.
static void pull_producers(struct plan *p, int node, int master)
{
	const struct node *n = &p->g->node[node];
	for (int i = 0; i < n->n_in; i++) {
		int up = n->in[i] < 0 ? -1 : p->g->value[n->in[i]].producer;
		if (up < 0 || p->priv->node[up].pulled_by == node)
			continue;
		pull(p, node, up, master);
		p->priv->node[up].pulled_by = node;
	}
}

// In the order of execution: a later operator may move what an earlier one has settled, as it does in PPQ.
void plan_align(struct plan *p)
{
	const struct plan_priv *v = p->priv;
	for (int i = 0; i < p->g->n_nodes; i++)
		v->node[i].pulled_by = -1;
	for (int i = 0; i < p->g->n_nodes && p->target->kind == TARGET_LINEAR; i++) {
		int master = -1;
		if (v->node[i].platform == PLATFORM_FLOAT)
			continue;
		if (v->node[i].rule->align == ALIGN_OUTPUT && !is_floating(plan_out(p, i, 0)))
			align_to(p, i, master = p->first_out[i]);
		else if (v->node[i].rule->align == ALIGN_READ && !is_floating(plan_out(p, i, 0)))
			align_to(p, i, p->first_out[i]); // what makes the inputs keeps its own
		else if (v->node[i].rule->align == ALIGN_LARGE)
			master = align_to_large(p, i);
		else if (v->node[i].rule->align == ALIGN_FIRST)
			master = align_states(p, i);
		if (master >= 0)
			pull_producers(p, i, master);
	}
}
