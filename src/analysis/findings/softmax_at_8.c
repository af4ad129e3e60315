// Most probabilities of a wide Softmax are smaller than one step of 1/256 or 1/128: 8 bit rounds them to nothing.
#include <math.h>
#include "rule.h"

static const double POOR_DB = 20;

void rule_softmax_at_8(struct look *l)
{
	for (int node = 0; node < l->g->n_nodes; node++) {
		const struct node *n = &l->g->node[node];
		const struct site *y = snapshot_output(l->s, node);
		if (!is_op(n, OP_Softmax) || !y || y->bits != 8 || y->n_scale != 1 || !y->hist_float || !(site_snr(y) < POOR_DB))
			continue;
		double lost = hist_share(y->hist_float, -INFINITY, y->scale[0] / 2);
		struct finding *f = finding_add(l, node, site_damage(y));
		finding_say(f, "%s keeps %.1f dB at 8 bit: %.1f %% of its probabilities are below half a step of %.4g.", n->name, site_snr(y),
		    100 * lost, y->scale[0]);
		finding_prove(f, "SNR dB", site_snr(y));
		finding_prove(f, "share rounded to 0", lost);
		finding_prove(f, "step", y->scale[0]);
		if (finding_widen(f, l, node))
			finding_advise(f, "give %s more bits", n->name);
	}
}
