// A tensor in which nothing is finite, in no sample. Without a range it has no scale: the plan leaves it in float, with what
// shares its scale; the target's own tool stops, or takes whatever scale comes out.
#include <stdlib.h>
#include "../study/study_impl.h"
#include "rule.h"

// Of those behind others the first speak.
void rule_no_range(struct look *l)
{
	bool *unranged = xcalloc((size_t)l->g->n_values + 1, sizeof *unranged);
	int n = l->plan ? work_unranged(unranged, l->plan) : 0;
	for (int v = 0; n > 0 && v < l->g->n_values; v++) {
		int node = unranged[v] ? l->g->value[v].producer : -1;
		if (node < 0 || reads_any(&l->g->node[node], unranged))
			continue;
		struct finding *f = finding_add(l, node, 1);
		finding_say(f,
		    "Nothing in %s is finite, in any sample: it has no scale, and was left in float here, as what would share it. The target "
		    "would get numbers there that mean nothing.",
		    l->g->value[v].name);
		finding_prove(f, "tensors without a finite number", n);
		if (finding_set(f, l, &node, 1, PREC_FLOAT))
			finding_advise(f, "look at what %s reads, or run it in float", l->g->node[node].name);
	}
	free(unranged);
}
