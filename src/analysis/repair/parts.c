// What can be blamed: every quantizer that stands for itself (with all slots that share its scale: what is joined
// is one decision), and the constants of every node. Also what has to be widened so that one of them is wide:
// a 16-bit node between 8-bit neighbours gains nothing, since its tensors keep 8 bits.
#include <stdlib.h>
#include "repair_impl.h"

static int root_of(const struct plan *p, int slot)
{
	return p->slot[slot].follows >= 0 ? p->slot[slot].follows : slot;
}

static int add_part(struct parts *s, struct part part)
{
	s->at[s->n] = part;
	return s->n++;
}

static void add_constants(struct parts *s, const struct plan *p, int node)
{
	int part = -1;
	for (int i = 0; i < p->g->node[node].n_in; i++) {
		int slot = p->first_in[node] + i;
		if (!p->slot[slot].parameter || !slot_quantizes(&p->slot[slot]))
			continue;
		if (part < 0)
			part = add_part(s, (struct part){.slot = -1, .node = node, .value = -1});
		s->of_slot[slot] = part;
	}
}

static void add_tensor(struct parts *s, const struct plan *p, int slot, int *of_root)
{
	const struct slot *x = &p->slot[slot];
	int root = root_of(p, slot);
	if (x->parameter || x->state == SLOT_FLOAT)
		return;
	if (of_root[root] < 0) {
		const struct slot *r = &p->slot[root];
		int maker = r->is_output ? r->node : p->g->value[r->value].producer;
		of_root[root] = add_part(s, (struct part){.slot = root, .node = maker >= 0 ? maker : r->node, .value = r->value});
	}
	s->of_slot[slot] = of_root[root];
}

struct parts *parts_new(const struct plan *p)
{
	struct parts *s = xcalloc(1, sizeof *s);
	int *of_root = xcalloc((size_t)p->n_slots + 1, sizeof *of_root);
	s->at = xcalloc((size_t)p->n_slots + 1, sizeof *s->at);
	s->of_slot = xcalloc((size_t)p->n_slots + 1, sizeof *s->of_slot);
	for (int i = 0; i < p->n_slots; i++)
		s->of_slot[i] = of_root[i] = -1;
	for (int n = 0; n < p->g->n_nodes; n++) {
		for (int i = 0; i < p->g->node[n].n_in; i++)
			add_tensor(s, p, p->first_in[n] + i, of_root);
		add_constants(s, p, n);
		for (int i = 0; i < p->g->node[n].n_out; i++)
			add_tensor(s, p, p->first_out[n] + i, of_root);
	}
	free(of_root);
	return s;
}

void parts_free(struct parts **p)
{
	if (!*p)
		return;
	free((*p)->at);
	free((*p)->of_slot);
	free(*p);
	*p = NULL;
}

void parts_isolate(const struct parts *s, struct plan *p, int first, int last, bool invert)
{
	bool *keep = xcalloc((size_t)p->n_slots + 1, sizeof *keep);
	for (int i = 0; i < p->n_slots; i++)
		keep[i] = (s->of_slot[i] >= first && s->of_slot[i] < last) != invert;
	plan_quantize_only(p, keep);
	free(keep);
}

void parts_keep(const struct parts *s, struct plan *p, bool constants)
{
	bool *keep = xcalloc((size_t)p->n_slots + 1, sizeof *keep);
	for (int i = 0; i < p->n_slots; i++) {
		int part = s->of_slot[i];
		keep[i] = part >= 0 && (s->at[part].value < 0) == constants;
	}
	plan_quantize_only(p, keep);
	free(keep);
}

struct widening {
	const struct parts *s;
	const struct plan *p;
	bool *wide, *seen; // [n_nodes], [parts]
	bool sources;
};

static bool is_narrow(const struct plan *p, int node)
{
	return node >= 0 && p->quantizable[node] && p->precision[node] == PREC_INT8;
}

static bool makes_part(const struct widening *w, int node, int part)
{
	for (int i = 0; i < w->p->g->node[node].n_out; i++)
		if (w->s->of_slot[w->p->first_out[node] + i] == part)
			return true;
	return false;
}

static bool reads_part(const struct widening *w, int node, int part)
{
	for (int i = 0; i < w->p->g->node[node].n_in; i++)
		if (w->s->of_slot[w->p->first_in[node] + i] == part)
			return true;
	return false;
}

static void widen_part(struct widening *w, int part);

// A node that becomes wide takes along whoever shares its output's scale:
// what stays at 8 bit would get the finer scale of 16 and be clipped away.
static void widen_node(struct widening *w, int node)
{
	if (w->wide[node])
		return;
	w->wide[node] = true;
	int part = w->p->g->node[node].n_out > 0 ? w->s->of_slot[w->p->first_out[node]] : -1;
	for (int n = 0; part >= 0 && n < w->p->g->n_nodes; n++)
		if (is_narrow(w->p, n) && makes_part(w, n, part))
			widen_node(w, n);
	const struct group *g = &w->p->group[node];
	for (int n = 0; g->kind != GROUP_NONE && n < w->p->g->n_nodes; n++)
		if (w->p->group[n].kind != GROUP_NONE && w->p->group[n].last == g->last && is_narrow(w->p, n))
			widen_node(w, n);
}

static bool all_without_weights(const struct widening *w, int part)
{
	for (int n = 0; n < w->p->g->n_nodes; n++)
		if (makes_part(w, n, part) && graph_macs(w->p->g, n) > 0)
			return false;
	return true;
}

// Where operators without weights make the tensor, it holds the noise of what they read.
static void widen_sources(struct widening *w, int part)
{
	for (int n = 0; n < w->p->g->n_nodes; n++) {
		if (!makes_part(w, n, part))
			continue;
		for (int i = 0; i < w->p->g->node[n].n_in; i++) {
			const struct slot *in = plan_in(w->p, n, i);
			int source = w->s->of_slot[w->p->first_in[n] + i];
			if (source >= 0 && source != part && !in->parameter && w->p->g->value[in->value].producer >= 0)
				widen_part(w, source);
		}
	}
}

static void widen_part(struct widening *w, int part)
{
	if (w->seen[part])
		return;
	w->seen[part] = true;
	const struct part *t = &w->s->at[part];
	if (t->value < 0) {
		if (is_narrow(w->p, t->node))
			widen_node(w, t->node);
		return;
	}
	for (int n = 0; n < w->p->g->n_nodes; n++)
		if (is_narrow(w->p, n) && (makes_part(w, n, part) || reads_part(w, n, part)))
			widen_node(w, n);
	if (w->sources && all_without_weights(w, part))
		widen_sources(w, part);
}

int64_t parts_widen(const struct parts *s, const struct plan *p, int part, bool sources, bool *wide)
{
	struct widening w = {.s = s, .p = p, .wide = xcalloc((size_t)p->g->n_nodes + 1, 1), .seen = xcalloc((size_t)s->n + 1, 1),
	    .sources = sources};
	int64_t added = 0;
	widen_part(&w, part);
	for (int n = 0; n < p->g->n_nodes; n++) {
		added += w.wide[n] && !wide[n] ? graph_macs(p->g, n) : 0;
		wide[n] |= w.wide[n];
	}
	free(w.wide);
	free(w.seen);
	return added;
}

int parts_needs(const struct parts *s, const struct plan *p, int part, int *node)
{
	const struct widening w = {.s = s, .p = p};
	const struct part *t = &s->at[part];
	int count = 0;
	for (int n = 0; n < p->g->n_nodes; n++)
		if (is_narrow(p, n) && (t->value < 0 ? n == t->node : makes_part(&w, n, part) || reads_part(&w, n, part)))
			node[count++] = n;
	return count;
}
