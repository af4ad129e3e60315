// A 16-bit node between 8-bit ones: its extra digits are rounded away at once, and where a target puts what
// it reads on its scale, that is clipped. It gains when the nodes around it widen too.
#include <stdlib.h>
#include "rule.h"

static bool reads_8(const struct look *l, int node)
{
	const struct node_row *r = &l->s->row[node];
	return r->quantizable && r->precision == PREC_INT8;
}

static bool is_lonely(const struct look *l, int node)
{
	const struct node *n = &l->g->node[node];
	int readers = 0;
	for (int o = 0; o < n->n_out; o++) {
		const struct value *v = n->out[o] >= 0 ? &l->g->value[n->out[o]] : NULL;
		for (int c = 0; v && c < v->n_consumers; c++, readers++)
			if (!reads_8(l, v->consumer[c]))
				return false;
		if (v && v->is_output)
			return false;
	}
	for (int i = 0; i < n->n_in; i++) {
		int p = n->in[i] >= 0 ? l->g->value[n->in[i]].producer : -1;
		if (p >= 0 && !reads_8(l, p))
			return false;
	}
	return readers > 0;
}

// The 16-bit node whose scale this 8-bit tensor has to take, -1: none.
// 256 codes of so fine a step end long before 65536 do, and clip the tensor.
static int squeezed_by(const struct look *l, const struct site *s)
{
	if (s->kind != SITE_OUTPUT || s->bits != 8 || s->state == SLOT_ACTIVE)
		return -1;
	int owner = scale_owner(l, s);
	return owner >= 0 && owner != s->node && l->s->row[owner].precision == PREC_INT16 ? owner : -1;
}

// [n_nodes] of the 8-bit tensors that take the node's scale the one that loses most; NULL: none loses. Heap.
static const struct site **find_squeezed(const struct look *l)
{
	static const double HARM = 0.01; // noise over signal
	const struct site **worst = xcalloc((size_t)l->g->n_nodes + 1, sizeof *worst);
	for (int i = 0; i < l->s->n_sites; i++) {
		const struct site *s = &l->s->site[i];
		int owner = squeezed_by(l, s);
		if (owner >= 0 && site_damage(s) > HARM && (!worst[owner] || site_damage(s) > site_damage(worst[owner])))
			worst[owner] = s;
	}
	return worst;
}

// 16 bit for all that follows the node.
static bool widen_followers(struct finding *f, const struct look *l, int node)
{
	int *follower = xcalloc((size_t)l->s->n_sites + 1, sizeof *follower), n = 0;
	for (int i = 0; i < l->s->n_sites; i++)
		if (squeezed_by(l, &l->s->site[i]) == node)
			follower[n++] = l->s->site[i].node;
	bool set = finding_set(f, l, follower, n, PREC_INT16);
	free(follower);
	return set;
}

static void say_squeezed(struct look *l, int node, const struct site *s)
{
	char step[SCALE_TEXT];
	struct finding *f = finding_add(l, node, site_damage(s));
	finding_about(f, s->node);
	finding_say(f, "%s is at 16 bit, and %s takes its step of %s with 8 bit: %.3g %% of it is clipped, %.1f dB.", l->g->node[node].name,
	    l->g->value[s->value].name, scale_phrase(step, s->scale[0]), 100 * s->graphwise.pooled.clipped, site_snr(s));
	finding_prove(f, "clipped share", s->graphwise.pooled.clipped);
	finding_prove(f, "scale", s->scale[0]);
	finding_prove(f, "SNR dB", site_snr(s));
	if (widen_followers(f, l, node))
		finding_advise(f, "give 16 bit to what takes its scale, too, or take it back to 8 bit");
	else
		finding_advise(f, "take it back to 8 bit");
}

static void say_lonely(struct look *l, int node)
{
	enum { MOST = 64 };
	int region[MOST], conversions = 0;
	int n = plan_widen_region(l->plan, node, true, region, MOST, &conversions);
	const struct site *y = snapshot_output(l->s, node);
	struct finding *f = finding_add(l, node, 0.001);
	finding_say(f, "%s is at 16 bit between nodes that read and write 8 bit: what it gains is rounded away behind it.",
	    l->g->node[node].name);
	finding_prove(f, "nodes that widen together", n);
	finding_prove(f, "conversions", conversions);
	if (y)
		finding_prove(f, "SNR dB", figures_snr(&y->graphwise));
	if (finding_widen(f, l, node))
		finding_advise(f, "widen the %d nodes of its region, or take it back to 8 bit", n);
	else
		finding_advise(f, "take it back to 8 bit");
}

void rule_lonely_16(struct look *l)
{
	const struct site **squeezed = l->plan ? find_squeezed(l) : NULL;
	for (int node = 0; squeezed && node < l->g->n_nodes; node++) {
		const struct node_row *r = &l->s->row[node];
		if (squeezed[node])
			say_squeezed(l, node, squeezed[node]);
		else if (r->precision == PREC_INT16 && r->requested == PREC_INT16 && is_lonely(l, node))
			say_lonely(l, node);
	}
	free(squeezed);
}
