// A Concat (or a target's aligned Add) puts several tensors on one grid. The widest sets the step;
// a tensor that spans a few steps is lost, as scores 0..1 beside boxes 0..640.
#include <math.h>
#include "rule.h"

struct joint {
	double step, codes, widest; // of the poorest input, and the codes of the widest
	double snr;
	int input;
};

static double shared_step(const struct look *l, int node, int i)
{
	return fmax(input_step(l, node, i), output_step(l, node));
}

static bool joins(const struct look *l, const struct node *n)
{
	return is_op(n, OP_Concat) || (is_op(n, OP_Add) && l->plan);
}

static struct joint poorest_input(const struct look *l, int node)
{
	const struct node *n = &l->g->node[node];
	struct joint j = {.input = -1, .codes = INFINITY};
	for (int i = 0; i < n->n_in; i++) {
		const struct site *s = site_behind(l, n->in[i]);
		double step = s ? shared_step(l, node, i) : 0;
		if (!(step > 0) || site_span(s) <= 0)
			continue;
		double codes = site_span(s) / step;
		j.widest = fmax(j.widest, codes);
		if (codes < j.codes) {
			j.codes = codes;
			j.step = step;
			j.input = i;
		}
	}
	if (j.input >= 0)
		j.snr = predicted_snr(l, site_behind(l, n->in[j.input]), j.step);
	return j;
}

// An Add of 8 bit with inputs of their own scales is not joined: unequal_add looks at it.
static bool is_joined(const struct look *l, int node, const struct joint *j)
{
	const struct node *n = &l->g->node[node];
	if (!is_op(n, OP_Add))
		return true;
	return input_step(l, node, 0) > 0 && input_step(l, node, 0) == input_step(l, node, 1) && j->widest > JOINT_MANY_CODES;
}

// What is lost of a small term is lost of the sum, and as much smaller than it: the sum's own figure has it.
static double damage_of(const struct look *l, int node, const struct joint *j)
{
	const struct site *sum = is_op(&l->g->node[node], OP_Add) ? snapshot_output(l->s, node) : NULL;
	return sum ? site_damage(sum) : fmin(1, pow(10, -j->snr / 10));
}

static void joined(struct look *l, int node, const struct joint *j)
{
	char range[RANGE_TEXT];
	const struct node *n = &l->g->node[node];
	const struct site *s = site_behind(l, n->in[j->input]);
	struct finding *f = finding_add(l, node, damage_of(l, node, j));
	if (s->node != node)
		finding_about(f, s->node);
	finding_say(f, "%s puts %s (%s) on a step of %.4g that its widest input needs: %.1f codes are left to it, %.1f dB.", n->name,
	    l->g->value[n->in[j->input]].name, range_phrase(range, s), j->step, j->codes, j->snr);
	finding_prove(f, "step", j->step);
	finding_prove(f, "codes of the narrow input", j->codes);
	finding_prove(f, "codes of the widest input", j->widest);
	finding_prove(f, "min", s->range.min);
	finding_prove(f, "max", s->range.max);
	finding_prove(f, "SNR dB of the narrow input", j->snr);
	if (l->tail[node])
		finding_free_behind(f, l, node);
	else if (finding_widen(f, l, node))
		finding_advise(f, "widen %s with the nodes around it, so that the narrow input keeps its digits", n->name);
}

void rule_joined_ranges(struct look *l)
{
	for (int node = 0; node < l->g->n_nodes; node++) {
		if (!joins(l, &l->g->node[node]) || l->s->row[node].precision != PREC_INT8 || is_explained(l, node, FINDING_file_quantizer))
			continue;
		struct joint j = poorest_input(l, node);
		if (j.input >= 0 && is_lost_in_joint(j.codes, j.widest, j.snr) && is_joined(l, node, &j))
			joined(l, node, &j);
	}
}
