// The grid of a sum is as coarse as its larger term needs: a small term added to a large one loses its digits.
#include "rule.h"

static const double UNEQUAL = 8, LOST_DB = 6, POOR_DB = 20;

static void unequal(struct look *l, int node, int small, double ratio, double step)
{
	char range[RANGE_TEXT];
	const struct node *n = &l->g->node[node];
	const struct site *s = site_of(l, n->in[small]);
	double snr = predicted_snr(l, s, step);
	struct finding *f;
	if (!(snr < LOST_DB))
		return;
	f = finding_add(l, node, site_damage(snapshot_output(l->s, node)));
	finding_say(f, "%s adds %s (%s) to a term with a range %.1f times as wide: on the step %.4g of the sum %.1f dB of it are left.",
	    n->name, l->g->value[s->value].name, range_phrase(range, s), ratio, step, snr);
	finding_prove(f, "ratio of ranges", ratio);
	finding_prove(f, "step of the sum", step);
	finding_prove(f, "SNR dB of the small term", snr);
	finding_prove(f, "SNR dB of the sum", figures_snr(&snapshot_output(l->s, node)->graphwise));
	if (finding_widen(f, l, node))
		finding_advise(f, "widen %s with the nodes around it", n->name);
}

void rule_unequal_add(struct look *l)
{
	for (int node = 0; node < l->g->n_nodes; node++) {
		const struct node *n = &l->g->node[node];
		const struct site *y = snapshot_output(l->s, node), *a, *b;
		if (!is_op(n, OP_Add) || !y || y->bits != 8 || y->n_scale != 1 || is_explained(l, node, FINDING_joined_ranges))
			continue;
		a = site_of(l, n->in[0]);
		b = site_of(l, n->in[1]);
		if (!a || !b || !(site_span(a) > 0) || !(site_span(b) > 0) || !(figures_snr(&y->graphwise) < POOR_DB))
			continue;
		double ratio = site_span(a) / site_span(b);
		if (ratio > UNEQUAL)
			unequal(l, node, 1, ratio, y->scale[0]);
		else if (1 / ratio > UNEQUAL)
			unequal(l, node, 0, 1 / ratio, y->scale[0]);
	}
}
