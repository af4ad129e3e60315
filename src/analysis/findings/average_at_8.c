// A mean over many positions is much smaller and finer than what goes in:
// 8 bit on it costs more than anywhere else, and 16 bit nothing.
#include <math.h>
#include "rule.h"

static const double POOR_DB = 20;

static bool is_poor_average(const struct look *l, int node)
{
	const struct node *n = &l->g->node[node];
	const struct site *y = snapshot_output(l->s, node);
	if (!is_op(n, OP_GlobalAveragePool) && !is_op(n, OP_ReduceMean))
		return false;
	if (!y || y->bits != 8 || y->range.n == 0 || !(site_snr(y) < POOR_DB) || !(-10 * log10(made_damage(l, y)) < POOR_DB))
		return false;
	return !is_explained(l, node, FINDING_outlier_range) && !is_explained(l, node, FINDING_saturation);
}

void rule_average_at_8(struct look *l)
{
	char range[RANGE_TEXT];
	for (int node = 0; node < l->g->n_nodes; node++) {
		const struct node *n = &l->g->node[node];
		const struct site *y = snapshot_output(l->s, node);
		if (!is_poor_average(l, node))
			continue;
		struct finding *f = finding_add(l, node, made_damage(l, y));
		finding_say(f, "The average %s keeps %.1f dB at 8 bit: it lies in %s on a step of %.4g.", n->name, site_snr(y),
		    range_phrase(range, y), y->scale[0]);
		finding_prove(f, "SNR dB", site_snr(y));
		finding_prove(f, "min", y->range.min);
		finding_prove(f, "max", y->range.max);
		finding_prove(f, "step", y->scale[0]);
		if (finding_widen(f, l, node))
			finding_advise(f, "give %s more bits", n->name);
	}
}
