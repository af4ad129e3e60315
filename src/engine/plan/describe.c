// What a plan tells its readers: fused groups, effective precisions, and why an edit is not what came out.
#include <stdio.h>
#include "qtui/engine/op.h"
#include "plan_impl.h"

void plan_refuse(struct plan *p, int node, const char *fmt, ...)
{
	char text[400];
	va_list ap;
	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	p->refused = xgrow(p->refused, &p->priv->refused_cap, (size_t)p->n_refused + 1, sizeof *p->refused);
	p->refused[p->n_refused++] = (struct refusal){.node = node, .reason = arena_strdup(p->priv->arena, text)};
}

static int next_in_group(const struct plan *p, int node)
{
	const struct plan_priv *v = p->priv;
	if (v->node[node].fused_next >= 0)
		return v->node[node].fused_next;
	return v->node[node].merged > node ? v->node[node].merged : -1;
}

static void describe_group(struct plan *p, int head)
{
	struct group g = {.kind = GROUP_ACTIVATION, .owner = head, .last = head};
	for (int at = head; at >= 0; at = next_in_group(p, at)) {
		int next = next_in_group(p, at);
		if (next >= 0 && p->g->node[at].op->id == OP_Sigmoid && p->g->node[next].op->id == OP_Mul)
			g.kind = GROUP_SWISH;
		g.last = at;
	}
	if (p->priv->node[head].merged >= 0)
		g.owner = p->priv->node[head].merged;
	for (int at = head; at >= 0; at = next_in_group(p, at))
		p->group[at] = g;
}

// With the activation behind it, if one runs with it.
static void describe_written_out(struct plan *p, int node)
{
	const struct written_out *w = plan_written_out(p, node);
	struct group g = {.kind = GROUP_WRITTEN_OUT, .owner = w->weights >= 0 ? w->weights : w->last};
	for (int at = w->last; at >= 0; at = next_in_group(p, at))
		g.last = at;
	for (int at = next_in_group(p, w->last); at >= 0; at = next_in_group(p, at))
		p->group[at] = g;
	p->group[node] = g;
}

static void describe_groups(struct plan *p)
{
	for (int i = 0; i < p->g->n_nodes; i++)
		p->group[i] = (struct group){.kind = GROUP_NONE, .owner = i, .last = i};
	for (int i = 0; i < p->g->n_nodes; i++)
		if (plan_written_out(p, i))
			describe_written_out(p, i);
	// A producer comes before what is fused to it, so a node that has a group already is not a head.
	for (int i = 0; i < p->g->n_nodes; i++)
		if (p->group[i].kind == GROUP_NONE && next_in_group(p, i) >= 0)
			describe_group(p, i);
}

static enum precision effective(const struct plan *p, int node)
{
	int last = p->group[node].last;
	if (p->target->kind != TARGET_LINEAR || p->priv->node[last].platform == PLATFORM_FLOAT)
		return PREC_FLOAT;
	int slot = p->first_out[last];
	if (p->slot[slot].state == SLOT_OVERLAPPED)
		slot = plan_root(p, slot);
	if (p->slot[slot].state == SLOT_FLOAT)
		return PREC_FLOAT;
	return p->slot[slot].quant.bits > 8 ? PREC_INT16 : PREC_INT8;
}

// Another member of the node's group that is at the precision which came out.
static int deciding_member(const struct plan *p, int node)
{
	for (int i = p->group[node].owner; i >= 0; i = next_in_group(p, i))
		if (i != node && i == p->group[node].last)
			return i;
	return p->group[node].owner;
}

static void explain(struct plan *p, int node, enum precision want)
{
	const struct node *n = &p->g->node[node];
	const struct target *t = p->target;
	const struct written_out *w = plan_written_out(p, node);
	const char *got = precision_name(p->precision[node]);
	int other = p->priv->node[node].merged >= 0 ? p->priv->node[node].merged : deciding_member(p, node);
	if (!plan_quantizes(p, node))
		plan_refuse(p, node, "target %s does not quantize %s%s: it stays float", t->name, w ? w->op_type : n->op->name,
		    w ? ", of which it is a part" : "");
	else if (t->after_computing && !p->priv->node[node].reached)
		plan_refuse(p, node, "target %s quantizes only what a convolution or product leads to: it stays float", t->name);
	else if (!p->quantizable[node])
		plan_refuse(p, node, "it does not work on quantized tensors here and stays float");
	else if (t->kind != TARGET_LINEAR)
		plan_refuse(p, node, "target %s casts and has no integer widths", t->name);
	else if (want == PREC_INT16 && !t->width[1].present)
		plan_refuse(p, node, "target %s has no 16-bit form: it stays %s", t->name, got);
	else if (want == PREC_INT8 && !target_has_precision(t, 8))
		plan_refuse(p, node, "target %s has no 8-bit form: it stays %s", t->name, got);
	else if (w && node != w->last)
		plan_refuse(p, node, "it is inside of %s, which target %s runs as one operator: set %s, where it ends", w->op_type, t->name,
		    p->g->node[w->last].name);
	else if (p->group[node].kind != GROUP_NONE && other != node)
		plan_refuse(p, node, "it runs as one operator with %s and gets %s: set %s too", p->g->node[other].name, got,
		    p->g->node[other].name);
	else if (p->priv->node[node].platform == PLATFORM_FLOAT)
		plan_refuse(p, node, "what it reads comes in float, and target %s leaves it so: set what makes it", t->name);
	else if (p->precision[node] == PREC_FLOAT)
		plan_refuse(p, node, "target %s leaves the output of %s in float", t->name, n->op->name);
	else
		plan_refuse(p, node, "its output shares a quantizer and stays %s", got);
}

void plan_describe(struct plan *p, const struct edits *e)
{
	describe_groups(p);
	for (int i = 0; i < p->g->n_nodes; i++)
		p->precision[i] = effective(p, i);
	for (int i = 0; e && i < p->g->n_nodes; i++)
		if (e->precision[i] >= 0 && (enum precision)e->precision[i] != p->precision[i])
			explain(p, i, (enum precision)e->precision[i]);
}

void plan_describe_unranged(struct plan *p, const struct edits *e)
{
	for (int i = 0; i < p->g->n_nodes; i++) {
		enum precision before = p->precision[i];
		p->precision[i] = effective(p, i);
		if (e && e->precision[i] >= 0 && p->precision[i] != before)
			plan_refuse(p, i, "nothing in its output is finite: it has no scale and stays float");
	}
}
