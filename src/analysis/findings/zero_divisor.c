// A constant divisor with elements below half a step. The plan leaves it in float, as no figure would be a number;
// the target's own tool does not.
#include "rule.h"

void rule_zero_divisor(struct look *l)
{
	for (int node = 0; l->plan && node < l->g->n_nodes; node++) {
		int64_t lost = plan_lost_divisors(l->plan, node);
		if (lost == 0)
			continue;
		const struct node *n = &l->g->node[node];
		const struct slot *divisor = plan_in(l->plan, node, 1);
		struct finding *f = finding_add(l, node, 1);
		finding_say(f,
		    "%lld of %lld elements of %s, which %s divides by, round to 0 on a step of %.4g: the divisor was left in float here, and "
		    "the target would divide by 0.",
		    (long long)lost, (long long)tensor_count(l->g->value[divisor->value].constant), l->g->value[divisor->value].name, n->name,
		    (double)divisor->quant.scale[0]);
		finding_prove(f, "elements that round to 0", (double)lost);
		finding_prove(f, "step", (double)divisor->quant.scale[0]);
		if (finding_set(f, l, &node, 1, PREC_FLOAT))
			finding_advise(f, "run %s in float", n->name);
	}
}
