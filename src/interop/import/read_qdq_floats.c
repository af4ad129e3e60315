// What a quantized file computes in float, though there may be a pair behind it: that is then of those who read it.
#include <string.h>
#include "read_qdq.h"

// Codes; or floats that qtui rounded, where no runtime has codes for them.
static bool has_quantized_weights(const struct reading *r, const struct node *n)
{
	const struct value *weight = &r->file->value[n->in[1]];
	return qdq_comes_quantized(r->file, n->in[1]) || (weight->constant && str_has_suffix(weight->name, "_rounded"));
}

// What owns the node that makes a tensor of the file; -1: none does.
static int owner_of(const struct reading *r, int value)
{
	int v = qdq_value(r->w->g, r->file, value), maker = v < 0 ? -1 : r->w->g->value[v].producer;
	return maker < 0 ? -1 : r->w->p->group[maker].owner;
}

// Of what makes a tensor without a pair (-1: nothing does, or nothing of the model): does its result go on as it is? What is behind
// weights on codes is rounded by the target.
static bool is_in_float(const struct reading *r, int owner, int value)
{
	if (owner < 0)
		return r->file->value[value].producer < 0;
	return r->said[owner] == ON_FLOATS || (r->said[owner] == SAID_NOTHING && !(r->w->g->node[owner].op->flags & OPF_MOVES));
}

// A factor or addend of the model that the target rounds, and the file does not.
static bool has_float_constant(const struct reading *r, int node, const struct node *theirs)
{
	const struct graph *g = r->w->g;
	for (int i = 0; (theirs->op->flags & OPF_BINARY) && i < g->node[node].n_in && i < theirs->n_in; i++) {
		const struct value *own = &g->value[g->node[node].in[i]], *x = &r->file->value[theirs->in[i]];
		if (own->constant && slot_quantizes(plan_in(r->w->bare, node, i)) && x->constant && !str_has_suffix(x->name, "_rounded"))
			return true;
	}
	return false;
}

// It works on what nothing has rounded, or on what is rounded for others only: then a pair behind it is that of its readers. What is
// behind weights on codes the target rounds in any case; an operator that works on such and on codes keeps its pair.
static bool is_fed_floats(const struct reading *r, const struct node *n, int owner)
{
	int codes = 0, open = 0;
	for (int i = 0; i < n->n_in; i++) {
		const struct value *x = n->in[i] >= 0 ? &r->file->value[n->in[i]] : NULL;
		int maker = x ? owner_of(r, n->in[i]) : -1;
		if (!x || x->constant || x->type != DT_F32 || maker == owner)
			continue;
		if (qdq_comes_quantized(r->file, n->in[i]))
			codes++;
		else if (r->pair[n->in[i]] >= 0 || is_in_float(r, maker, n->in[i]))
			return true;
		else
			open++;
	}
	return open && !codes && !(n->op->flags & OPF_MOVES);
}

// Others read it as it is, where it has a pair: then that is theirs who round it.
static bool is_read_as_floats(const struct reading *r, const struct node *n)
{
	const struct graph *file = r->file;
	int y = n->n_out == 1 && r->pair[n->out[0]] >= 0 ? n->out[0] : -1;
	for (int i = 0; y >= 0 && i < file->n_outputs; i++)
		if (file->output[i] == y)
			return true;
	for (int i = 0; y >= 0 && i < file->value[y].n_consumers; i++)
		if (!qdq_is(file, file->value[y].consumer[i], OP_QuantizeLinear))
			return true;
	return false;
}

// It computes what the model does, where the target runs another function on codes, or multiplies what comes out.
static bool is_the_models_own(const struct reading *r, int node, const struct node *n)
{
	const struct stand_in *by = &r->w->bare->stand_in[node];
	return (by->op && strcmp(by->op, n->op->name) != 0) || (by->gain != 0 && n->n_out == 1 && r->pair[n->out[0]] >= 0);
}

enum said qdq_said_by_node(const struct reading *r, int node, const struct node *n)
{
	const struct group *group = &r->w->p->group[node];
	bool codes = n->n_in > 0 && qdq_comes_quantized(r->file, n->in[0]);
	if (qdq_has_weights(n) && (r->file->value[n->in[1]].constant || qdq_comes_quantized(r->file, n->in[1])))
		return codes && has_quantized_weights(r, n) ? ON_CODES : ON_FLOATS;
	if (codes && group->kind == GROUP_NONE && (n->op->flags & OPF_MOVES) && n->op->id != OP_Concat) // whose codes need one grid
		return ON_CODES;
	if (codes && r->w->bare->precision[node] == PREC_FLOAT) // the target makes floats of codes, too
		return ON_CODES;
	bool floats = is_the_models_own(r, node, n) || is_fed_floats(r, n, group->owner) || (group->owner == node && has_float_constant(r, node, n)) ||
	    (group->last == node && is_read_as_floats(r, n));
	return floats ? ON_FLOATS : SAID_NOTHING;
}
