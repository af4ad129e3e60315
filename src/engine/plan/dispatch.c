// Which precision every node is sent to: what the target quantizes, what the graph allows, what the user asked for.
#include <stdlib.h>
#include "qtui/engine/op.h"
#include "plan_impl.h"

static bool is_float(const struct graph *g, int value)
{
	return value >= 0 && g->value[value].type == DT_F32;
}

// Compares what it reads element by element: its result has no scale, what it reads may have one.
static bool compares(enum op_id id)
{
	return id == OP_Equal || id == OP_Greater || id == OP_GreaterOrEqual || id == OP_Less || id == OP_LessOrEqual;
}

// The first and the last of the inputs whose elements it gives on or computes with: a Where chooses from two, by input 0.
static int first_data(const struct node *n)
{
	return n->op->id == OP_Where ? 1 : 0;
}

static int last_data(const struct node *n)
{
	return n->op->id == OP_Where ? 2 : 0;
}

// Floats in and, but of comparisons, floats out, of shapes that are known:
// index and shape arithmetic is never quantized.
static bool works_on_floats(const struct graph *g, const struct node *n)
{
	if (n->n_in <= last_data(n) || n->n_out < 1 || (n->op->flags & OPF_DATA_DEPENDENT) || n->n_subgraphs > 0)
		return false;
	return is_float(g, n->in[first_data(n)]) && (is_float(g, n->out[0]) || compares(n->op->id)) && g->value[n->out[0]].shape.rank >= 0;
}

static bool has_source_of_swish(const struct plan *p, int value)
{
	int producer = p->g->value[value].producer;
	return producer >= 0 && ((p->priv->node[producer].rule->flags & RULE_COMPUTING) || is_passive(p, producer));
}

// Takes what it gets: an operator that passes its input's quantizer on,
// or an activation that fuses to what is in front.
static bool is_transparent(const struct plan *p, int node)
{
	unsigned flags = p->priv->node[node].rule->flags;
	return !(flags & RULE_TAKES_INPUT) && (is_passive(p, node) || (flags & (RULE_BEHIND_ANY | RULE_FOLLOWS | RULE_ONLY_ZEROS)));
}

// The Mul of x * Sigmoid(x), where `sigmoid` feeds nothing else; -1 when there is none.
static int swish_mul(const struct graph *g, int sigmoid)
{
	const struct node *s = &g->node[sigmoid];
	const struct value *y = &g->value[s->out[0]];
	if (y->n_consumers != 1 || y->is_output)
		return -1;
	const struct node *m = &g->node[y->consumer[0]];
	if (m->op->id != OP_Mul || m->n_in != 2)
		return -1;
	int other = m->in[0] == s->out[0] ? m->in[1] : m->in[0];
	return other == s->in[0] ? y->consumer[0] : -1;
}

// Sigmoid and Mul become one operator where a computing or a passive operator is in front of them.
static void merge_swish(struct plan *p)
{
	const struct graph *g = p->g;
	for (int i = 0; i < g->n_nodes; i++) {
		if (g->node[i].op->id != OP_Sigmoid)
			continue;
		int mul = swish_mul(g, i);
		if (mul < 0 || !has_source_of_swish(p, g->node[i].in[0]))
			continue;
		p->priv->node[i].merged = mul;
		p->priv->node[mul].merged = i;
	}
}

// A way begins where a computing operator feeds another one: PPQ's search finds none from the last operator of a network.
static bool begins_way(const struct plan *p, int node)
{
	const struct node *n = &p->g->node[node];
	return (p->priv->node[node].rule->flags & RULE_COMPUTING) != 0 && n->out[0] >= 0 && p->g->value[n->out[0]].n_consumers > 0;
}

// After a computing operator, whether it is quantized itself or not, along operators that are.
static void mark_reached(struct plan *p)
{
	const struct graph *g = p->g;
	struct plan_priv *v = p->priv;
	for (int i = 0; i < g->n_nodes; i++) {
		v->node[i].reached = begins_way(p, i);
		for (int k = 0; k < g->node[i].n_in && plan_quantizes(p, i) && !v->node[i].reached; k++) {
			int producer = g->node[i].in[k] < 0 ? -1 : g->value[g->node[i].in[k]].producer;
			v->node[i].reached = producer >= 0 && v->node[producer].reached;
		}
	}
}

static bool target_takes(const struct plan *p, int node)
{
	const struct plan_priv *v = p->priv;
	if (!plan_quantizes(p, node) || !works_on_floats(p->g, &p->g->node[node]))
		return false;
	if (p->target->gates && p->g->node[node].op->id == OP_HardSigmoid && !plan_is_gate(&p->g->node[node]))
		return false;
	return !p->target->after_computing || v->node[node].reached;
}

// By who makes it (`quantized`: nodes) or by an earlier reader that wants it quantized for itself (`wanted`: values). Later ones
// come too late, as the tool goes through the nodes once.
static bool gets_quantized(const struct graph *g, const struct node *n, const bool *quantized, const bool *wanted)
{
	int k = first_data(n);
	while (k <= last_data(n) && (wanted[n->in[k]] || (g->value[n->in[k]].producer >= 0 && quantized[g->value[n->in[k]].producer])))
		k++;
	return k > last_data(n);
}

// Takes the marks from transparent operators whose input nobody quantizes.
static void leave_in_float(const struct plan *p, bool *quantized)
{
	bool *wanted = xcalloc((size_t)p->g->n_values + 1, sizeof *wanted);
	for (int i = 0; i < p->g->n_nodes; i++) {
		const struct node *n = &p->g->node[i];
		bool transparent = quantized[i] && is_transparent(p, i);
		if (transparent && p->target->needs_input)
			quantized[i] = gets_quantized(p->g, n, quantized, wanted);
		for (int k = 0; k < n->n_in && quantized[i] && !transparent; k++)
			if (n->in[k] >= 0)
				wanted[n->in[k]] = true;
	}
	free(wanted);
}

static void mark_quantizable(struct plan *p)
{
	for (int i = 0; i < p->g->n_nodes; i++)
		p->quantizable[i] = target_takes(p, i);
	leave_in_float(p, p->quantizable);
}

// Behind a node that an edit puts in float, what takes what it gets stays in float as well.
static void follow_floats(struct plan *p)
{
	struct node_plan *v = p->priv->node;
	bool *quantized = xcalloc((size_t)p->g->n_nodes + 1, sizeof *quantized);
	for (int i = 0; i < p->g->n_nodes; i++)
		quantized[i] = v[i].platform != PLATFORM_FLOAT;
	leave_in_float(p, quantized);
	for (int i = 0; i < p->g->n_nodes; i++)
		v[i].platform = quantized[i] ? v[i].platform : PLATFORM_FLOAT;
	free(quantized);
}

// Of a merged Swish the Mul, of a written-out operator the first node.
static bool counts_as_reader(const struct node_plan *v, int node)
{
	return v->merged <= node && (!v->written.op_type || v->written.first == node);
}

static void count_readers(struct plan *p)
{
	struct plan_priv *v = p->priv;
	for (int i = 0; i < p->g->n_nodes; i++)
		for (int k = 0; k < p->g->node[i].n_out; k++) {
			const struct value *y = p->g->node[i].out[k] < 0 ? NULL : &p->g->value[p->g->node[i].out[k]];
			for (int c = 0; y && c < y->n_consumers; c++)
				v->node[i].readers += counts_as_reader(&v->node[y->consumer[c]], y->consumer[c]);
		}
}

// The edit that counts: of a merged Swish the Mul's, else the Sigmoid's; of a written-out operator that of its end.
static int wanted_precision(const struct plan *p, const struct edits *e, int node)
{
	int other = p->priv->node[node].merged;
	if (plan_written_out(p, node))
		return e->precision[plan_written_out(p, node)->last];
	if (other < 0)
		return e->precision[node];
	int mul = node > other ? node : other;
	return e->precision[mul] >= 0 ? e->precision[mul] : e->precision[node < other ? node : other];
}

static int platform_for(const struct plan *p, const struct edits *e, int node)
{
	int want = e ? wanted_precision(p, e, node) : -1;
	if (!p->quantizable[node] || want == PREC_FLOAT)
		return PLATFORM_FLOAT;
	return want == PREC_INT16 && p->target->width[1].present ? 1 : 0;
}

void plan_dispatch(struct plan *p, const struct edits *e)
{
	struct plan_priv *v = p->priv;
	for (int i = 0; i < p->g->n_nodes; i++) {
		v->node[i].rule = target_rule(p->target, p->g->node[i].op->name);
		v->node[i].merged = v->node[i].fused_next = -1;
	}
	if (p->target->swish == SWISH_MERGE || p->target->swish == SWISH_MERGE_AND_FUSE)
		merge_swish(p);
	plan_find_written_out(p);
	count_readers(p);
	mark_reached(p);
	mark_quantizable(p);
	for (int i = 0; i < p->g->n_nodes; i++)
		v->node[i].platform = platform_for(p, e, i);
	follow_floats(p);
	for (int i = 0; i < p->g->n_nodes; i++)
		if (v->node[i].platform != PLATFORM_FLOAT)
			p->stand_in[i] = plan_stand_in(p->g, &p->g->node[i], v->node[i].rule);
}
