// What a Log reads, or a Div divides by, is never 0 in float; on its grid, or on that of what it is the root of, the
// smallest elements are, and the result is infinite, or no number. An inverse Sigmoid, log(x / (1 - x)), is such: its
// quotients reach from hundredths to thousands, and no step of 8 bit or of 16 holds both. So is a normalization that is
// written out: x / sqrt(variance + epsilon), where variance and epsilon round to 0 together.
// Where 16 bit do, they are offered, else float for all that leads there from the last weights, mean or Sigmoid.
#include <math.h>
#include <stdlib.h>
#include "rule.h"

// The constant that all elements are raised to; 0: there is none.
static float exponent_of(const struct look *l, const struct node *n)
{
	const struct tensor *t = is_op(n, OP_Pow) && n->n_in == 2 && n->in[1] >= 0 ? l->g->value[n->in[1]].constant : NULL;
	return t && t->type == DT_F32 && shape_count(&t->shape) == 1 ? *(const float *)t->data : 0;
}

// The input that must not be 0; -1: none.
static int divisor_of(const struct look *l, const struct node *n)
{
	if (is_op(n, OP_Div))
		return 1;
	return is_op(n, OP_Log) || is_op(n, OP_Reciprocal) || exponent_of(l, n) < 0 ? 0 : -1;
}

// The input whose zeros are zeros of the result; -1: none.
static int zeros_from(const struct look *l, const struct node *n)
{
	bool keeps = is_op(n, OP_Sqrt) || is_op(n, OP_Abs) || is_op(n, OP_Relu) || is_mover(n) || exponent_of(l, n) > 0;
	return keeps ? n->in[0] : -1;
}

// The value that this one has its zeros from; -1: none.
static int zeros_behind(const struct look *l, int value)
{
	int producer = l->g->value[value].producer;
	return producer >= 0 ? zeros_from(l, &l->g->node[producer]) : -1;
}

static bool loses_smallest(const struct site *s)
{
	bool known = s && s->kind == SITE_OUTPUT && s->n_scale == 1 && s->hist_float && s->range.n > 0;
	return known && s->range.min > 0 && s->range.min < s->scale[0] / 2;
}

const struct site *lost_divisor(const struct look *l, int node)
{
	const struct node *n = &l->g->node[node];
	int i = divisor_of(l, n);
	for (int v = i >= 0 && i < n->n_in ? n->in[i] : -1; v >= 0; v = zeros_behind(l, v))
		if (loses_smallest(site_of(l, v)))
			return site_of(l, v);
	return NULL;
}

static bool holds_at_16(const struct look *l, const struct site *s)
{
	return s->bits == 8 && can_widen(l, s->node) && s->range.min >= ldexp(s->scale[0], -8) / 2;
}

// Float for the node, where it is quantized, and for what its operand is computed by. Movers end that,
// but for those between the operand and where it is lost.
static void free_before(struct finding *f, const struct look *l, int node, const struct site *lost)
{
	bool *needed = xcalloc((size_t)l->g->n_values + 1, sizeof *needed), *between = xcalloc((size_t)l->g->n_nodes + 1, sizeof *between);
	int *found = xcalloc((size_t)l->g->n_nodes + 1, sizeof *found), first = l->g->n_nodes;
	for (int v = l->g->node[node].in[divisor_of(l, &l->g->node[node])]; v != lost->value; v = zeros_behind(l, v))
		between[l->g->value[v].producer] = true;
	for (int m = node; m >= 0; m--) {
		const struct node *x = &l->g->node[m];
		bool pointwise = between[m] || (x->op->flags & (OPF_UNARY | OPF_BINARY));
		bool ends = is_weighted(x) || (!between[m] && (x->op->flags & (OPF_MOVES | OPF_VIEW)));
		if (m != node && (x->out[0] < 0 || !needed[x->out[0]] || ends))
			continue;
		if (l->s->row[m].quantizable)
			found[--first] = m;
		if (m != f->node[0] && m != node)
			finding_about(f, m);
		for (int i = 0; pointwise && !is_op(x, OP_Sigmoid) && i < x->n_in; i++)
			if (x->in[i] >= 0 && !l->g->value[x->in[i]].constant)
				needed[x->in[i]] |= m != node || i == divisor_of(l, x);
	}
	finding_takes(f, l, found + first, l->g->n_nodes - first);
	if (finding_set(f, l, found + first, l->g->n_nodes - first, PREC_FLOAT))
		finding_advise(f, "run %s in float with what its operand is computed by: no step that the target has holds its smallest elements",
		    l->g->node[node].name);
	free(found);
	free(between);
	free(needed);
}

static void speak(struct look *l, int node, const struct site *s)
{
	const struct node *n = &l->g->node[node];
	double lost = hist_share(s->hist_float, -INFINITY, s->scale[0] / 2);
	struct finding *f = finding_add(l, s->node, fmin(1, fmax(site_damage(s), lost)));
	finding_about(f, node);
	bool direct = n->in[divisor_of(l, n)] == s->value;
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
