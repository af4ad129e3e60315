// A 16-bit node whose readers take 8 bit: its extra digits are rounded away at once. It gains when the nodes around it widen too.
#include <math.h>
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

void rule_lonely_16(struct look *l)
{
	enum { MOST = 64 };
	for (int node = 0; node < l->g->n_nodes; node++) {
		int region[MOST], conversions = 0;
		if (l->s->row[node].precision != PREC_INT16 || l->s->row[node].requested != PREC_INT16 || !l->plan || !is_lonely(l, node))
			continue;
		int n = plan_widen_region(l->plan, node, region, MOST, &conversions);
		struct finding *f = finding_add(l, node, 0.001);
		const struct site *y = snapshot_output(l->s, node);
		finding_say(f, "%s is at 16 bit between nodes that read and write 8 bit: what it gains is rounded away behind it.",
		    l->g->node[node].name);
		finding_prove(f, "nodes that widen together", n);
		finding_prove(f, "conversions", conversions);
		if (y)
			finding_prove(f, "SNR dB", figures_snr(&y->graphwise));
		if (finding_widen(f, l, node))
			finding_advise(f, "widen the %d nodes of its region, or take it back to 8 bit", n);
	}
}
