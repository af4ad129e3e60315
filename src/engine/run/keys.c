// Keys: what names a result. A value's key is the hash of its operator, attributes and output
// quantizer and of the keys of its inputs as its node sees them (through the input slots' quantizers);
// a sample's own key is added when the store is asked.
#include <stdlib.h>
#include "keys.h"

const struct stand_in *stand_in_of(const struct plan *plan, enum sim sim, int node)
{
	bool quantized = plan && (sim == SIM_FULL || sim == SIM_ALONE);
	const struct stand_in *f = quantized ? &plan->stand_in[node] : NULL;
	return f && (f->op || f->gain != 0 || f->step_scale > 0) ? f : NULL;
}

static struct key key_of_function(const struct graph *g, const struct plan *plan, enum sim sim, int node)
{
	struct key k = graph_node_key(&g->node[node]);
	const struct stand_in *f = stand_in_of(plan, sim, node);
	const float of[] = {f ? f->alpha : 0, f ? f->beta : 0, f ? f->gain : 0, f ? f->step_scale : 0};
	return f ? key_add(key_add_text(k, f->op ? f->op : ""), of, sizeof of) : k;
}

const struct quantizer *slot_in_quantizer(const struct plan *plan, enum sim sim, int node, int i)
{
	if (!plan || sim == SIM_FLOAT)
		return NULL;
	if (sim == SIM_WEIGHTS)
		return plan_calibration_quantizer(plan, plan->first_in[node] + i);
	const struct slot *s = plan_in(plan, node, i);
	if (s->state == SLOT_FLOAT || s->quant.kind == QUANT_NONE)
		return NULL;
	// Alone, a node sees float inputs, so that it applies quantizers that otherwise its producers apply.
	return sim == SIM_ALONE || s->state != SLOT_OVERLAPPED || s->parameter ? &s->quant : NULL;
}

const struct quantizer *slot_out_quantizer(const struct plan *plan, enum sim sim, int node, int i)
{
	if (!plan || sim == SIM_FLOAT || sim == SIM_WEIGHTS)
		return NULL;
	const struct slot *s = plan_out(plan, node, i);
	return slot_quantizes(s) ? &s->quant : NULL;
}

static bool tunes(const struct plan *plan, enum sim sim, int i)
{
	return plan && plan->tuning && (i == 1 || i == 2) && (sim == SIM_FULL || sim == SIM_ALONE);
}

struct key slot_content(const struct graph *g, const struct plan *plan, enum sim sim, int node, int i)
{
	return tunes(plan, sim, i) ? plan_content(plan, plan->first_in[node] + i) : g->value[g->node[node].in[i]].content;
}

const struct tensor *slot_constant(const struct graph *g, const struct plan *plan, enum sim sim, int node, int i)
{
	return tunes(plan, sim, i) ? plan_constant(plan, plan->first_in[node] + i) : g->value[g->node[node].in[i]].constant;
}

static struct key key_of_input(const struct graph *g, const struct plan *plan, enum sim sim, int node, int i, const struct key *k)
{
	int v = g->node[node].in[i];
	if (v < 0)
		return (struct key){0};
	const struct quantizer *q = slot_in_quantizer(plan, sim, node, i);
	struct key base = g->value[v].constant ? slot_content(g, plan, sim, node, i) : k[v];
	return q ? key_add_key(base, quantizer_key(q)) : base;
}

static struct key key_of_output(const struct plan *plan, enum sim sim, int node, int i, struct key k)
{
	const struct quantizer *q = slot_out_quantizer(plan, sim, node, i);
	k = key_add_int(k, i);
	if (q && i > 0) // sessions of before have figures of outputs that lay on the first one's grid
		k = key_add_text(k, "own");
	return q ? key_add_key(k, quantizer_key(q)) : k;
}

// The keys of a node's outputs, from the keys of its inputs in `in`.
static void node_keys(const struct graph *g, const struct plan *plan, enum sim sim, int node, const struct key *in, struct key *out)
{
	const struct node *n = &g->node[node];
	struct key k = key_of_function(g, plan, sim, node);
	for (int i = 0; i < n->n_in; i++)
		k = key_add_key(k, key_of_input(g, plan, sim, node, i, in));
	for (int i = 0; i < n->n_out; i++)
		if (n->out[i] >= 0)
			out[n->out[i]] = key_of_output(plan, sim, node, i, k);
}

static void base_keys(const struct graph *g, struct key *out)
{
	for (int v = 0; v < g->n_values; v++) {
		out[v] = g->value[v].constant ? g->value[v].content : (struct key){0};
		if (g->value[v].is_input)
			out[v] = key_add_text((struct key){0}, g->value[v].name);
	}
}

static bool is_grouped(const struct plan *plan, int node, int last)
{
	return plan->group[node].kind != GROUP_NONE && plan->group[node].last == last;
}

// Alone, every group takes its inputs from the float network; inside the group the chain is the group's own.
static void alone_keys(const struct graph *g, const struct plan *plan, struct key *out)
{
	struct key *flt = xcalloc((size_t)g->n_values, sizeof *flt);
	engine_keys(g, plan, SIM_FLOAT, flt);
	for (int n = 0; n < g->n_nodes; n++) {
		const struct group *gr = &plan->group[n];
		struct key k = key_of_function(g, plan, SIM_ALONE, n);
		for (int i = 0; i < g->node[n].n_in; i++) {
			int v = g->node[n].in[i];
			bool inside = v >= 0 && gr->kind != GROUP_NONE && g->value[v].producer >= 0 &&
			    is_grouped(plan, g->value[v].producer, gr->last);
			k = key_add_key(k, inside ? out[v] : key_of_input(g, plan, SIM_ALONE, n, i, flt));
		}
		for (int i = 0; i < g->node[n].n_out; i++)
			if (g->node[n].out[i] >= 0)
				out[g->node[n].out[i]] = key_of_output(plan, SIM_ALONE, n, i, k);
	}
	free(flt);
}

void engine_keys(const struct graph *g, const struct plan *plan, enum sim sim, struct key *out)
{
	base_keys(g, out);
	if (sim == SIM_ALONE) {
		alone_keys(g, plan, out);
		return;
	}
	for (int n = 0; n < g->n_nodes; n++)
		node_keys(g, plan, sim, n, out, out);
}

int engine_group_value(const struct graph *g, const struct plan *plan, int v)
{
	const struct value *val = &g->value[v];
	const struct group *gr = plan && val->producer >= 0 ? &plan->group[val->producer] : NULL;
	for (int i = 0; gr && gr->kind != GROUP_NONE && i < val->n_consumers; i++)
		if (is_grouped(plan, val->consumer[i], gr->last))
			return g->node[gr->last].out[0];
	return v;
}
