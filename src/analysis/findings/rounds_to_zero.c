// What a Log reads, or a Div divides by, is never 0 in float; on its grid, or on that of what it is the root of, the
// smallest elements are, and the result is infinite, or no number. An inverse Sigmoid, log(x / (1 - x)), is such: its
// quotients reach from hundredths to thousands, and no step of 8 bit or of 16 holds both. So is a normalization that is
// written out: x / sqrt(variance + epsilon), where variance and epsilon round to 0 together.
// Where 16 bit do, they are offered, else float for all that leads there from the last weights, mean or Sigmoid.
#include <math.h>
#include <stdlib.h>
#include "../measure/divisors.h"
#include "rule.h"

static bool loses_smallest(const struct site *s)
{
	bool known = s && s->kind == SITE_OUTPUT && s->n_scale == 1 && s->hist_float && s->range.n > 0;
	return known && s->range.min > 0 && s->range.min < s->scale[0] / 2;
}

const struct site *lost_divisor(const struct look *l, int node)
{
	for (int v = divisor_of(l->g, node); v >= 0; v = zeros_behind(l->g, v))
		if (loses_smallest(site_of(l, v)))
			return site_of(l, v);
	return NULL;
}

static bool holds_at_16(const struct look *l, const struct site *s)
{
	return s->bits == 8 && can_widen(l, s->node) && s->range.min >= ldexp(s->scale[0], -8) / 2;
}

// Float for the node, where it is quantized, and for what its operand is computed by.
static void free_before(struct finding *f, const struct look *l, int node, const struct site *lost)
{
	bool *takes = xcalloc((size_t)l->g->n_nodes + 1, sizeof *takes);
	int *found = xcalloc((size_t)l->g->n_nodes + 1, sizeof *found), first = l->g->n_nodes;
	divisor_mark(takes, l->g, node, lost->value);
	for (int m = node; m >= 0; m--) {
		if (takes[m] && l->s->row[m].quantizable)
			found[--first] = m;
		if (takes[m] && m != f->node[0] && m != node)
			finding_about(f, m);
	}
	finding_takes(f, l, found + first, l->g->n_nodes - first);
	if (finding_set(f, l, found + first, l->g->n_nodes - first, PREC_FLOAT))
		finding_advise(f,
		    "run %s in float with what its operand is computed by: no step that the target has holds its smallest elements",
		    l->g->node[node].name);
	free(found);
	free(takes);
}

static void speak(struct look *l, int node, const struct site *s)
{
	const struct node *n = &l->g->node[node];
	double lost = hist_share(s->hist_float, -INFINITY, s->scale[0] / 2);
	struct finding *f = finding_add(l, s->node, fmin(1, fmax(site_damage(s), lost)));
	finding_about(f, node);
	bool direct = divisor_of(l->g, node) == s->value;
	finding_say(f, "%s %s%s %s (%.4g .. %.4g), of which %.3g %% round to 0 on a step of %.4g: the result is infinite there, or no number.",
	    n->name, is_op(n, OP_Log) ? "takes the logarithm of" : "divides by", direct ? "" : " what comes from",
	    l->g->value[s->value].name, s->range.min, s->range.max, 100 * lost, s->scale[0]);
	finding_prove(f, "share that rounds to 0", lost);
	finding_prove(f, "step", s->scale[0]);
	finding_prove(f, "min", s->range.min);
	finding_prove(f, "max", s->range.max);
	if (!holds_at_16(l, s))
		free_before(f, l, node, s);
	else if (finding_widen(f, l, s->node))
		finding_advise(f, "give %s more bits: their step holds its smallest elements", l->g->node[s->node].name);
}

void rule_rounds_to_zero(struct look *l)
{
	for (int node = 0; node < l->g->n_nodes; node++) {
		const struct site *s = lost_divisor(l, node);
		if (s && !is_explained(l, s->node, FINDING_rounds_to_zero))
			speak(l, node, s);
	}
}
