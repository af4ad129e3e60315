// Arithmetic with constants behind the last weights decodes boxes: it belongs to the program around the network,
// and 8 bit cannot hold pixels, strides and scores. It costs no multiply-accumulates to leave it in float.
#include <math.h>
#include <stdlib.h>
#include "rule.h"

enum { LEAST_NODES = 2 };
static const double GOOD_DB = 30;

static bool has_constant(const struct look *l, const struct node *n)
{
	for (int i = 0; i < n->n_in; i++)
		if (n->in[i] >= 0 && l->g->value[n->in[i]].constant)
			return true;
	return false;
}

static bool is_arithmetic(const struct look *l, const struct node *n)
{
	static const enum op_id any[] = {OP_Exp, OP_Pow, OP_Sub, OP_Div}, with_constant[] = {OP_Mul, OP_Add};
	for (size_t i = 0; i < sizeof any / sizeof *any; i++)
		if (is_op(n, any[i]))
			return true;
	for (size_t i = 0; i < sizeof with_constant / sizeof *with_constant; i++)
		if (is_op(n, with_constant[i]) && has_constant(l, n))
			return true;
	return false;
}

static bool is_fused(const struct look *l, int node)
{
	return l->s->row[node].fused_into >= 0;
}

// What is quantized behind the last weights.
static int quantized_tail(const struct look *l, int *out, int *arithmetic)
{
	int n = 0;
	*arithmetic = 0;
	for (int i = 0; i < l->g->n_nodes; i++)
		if (l->tail[i] && l->s->row[i].quantizable && l->s->row[i].precision != PREC_FLOAT && !is_fused(l, i) &&
		    snapshot_output(l->s, i)) {
			out[n++] = i;
			*arithmetic += is_arithmetic(l, &l->g->node[i]);
		}
	return n;
}

// Scores count too: it is often a Sigmoid among this arithmetic whose range or step ruins the result.
static const struct site *worst_of(const struct look *l, const int *nodes, int n)
{
	const struct site *worst = NULL;
	for (int i = 0; i < n; i++) {
		const struct site *s = snapshot_output(l->s, nodes[i]);
		bool counts = is_arithmetic(l, &l->g->node[nodes[i]]) || is_probability(l, s);
		if (s->bits == 8 && s->layerwise.known && counts && (!worst || site_snr(s) < site_snr(worst)))
			worst = s;
	}
	return worst;
}

// What joints behind the last weights do to their inputs, which no figure of a node shows.
static double damage_of_joints(const struct look *l)
{
	double damage = 0;
	for (int i = 0; i < l->out->n; i++) {
		const struct finding *f = &l->out->at[i];
		if (is_of_hidden_input(l, f) && l->tail[f->node[0]])
			damage += f->damage;
	}
	return damage;
}

static double damage_of(const struct look *l, const int *nodes, int n, const struct site *worst)
{
	double damage = damage_of_joints(l);
	for (int i = 0; i < n; i++)
		damage += counted_damage(l, snapshot_output(l->s, nodes[i]));
	return fmax(damage, site_damage(worst));
}

// Nor does that of an output show what joints do to narrow tensors, or what scores lose beside boxes.
static double reach_of(const struct look *l, const struct finding *f, const struct site *worst)
{
	double scores = is_decision(l, worst->value) ? site_damage(worst) : 0;
	return fmax(f->reach + damage_of_joints(l) / l->results.n, scores / l->results.n);
}

void rule_postprocessing(struct look *l)
{
	char range[RANGE_TEXT];
	int *nodes = xcalloc((size_t)l->g->n_nodes + 1, sizeof *nodes), arithmetic, n = quantized_tail(l, nodes, &arithmetic);
	const struct site *worst = worst_of(l, nodes, n);
	if (arithmetic >= LEAST_NODES && worst && site_snr(worst) < GOOD_DB) {
		struct finding *f = finding_add(l, worst->node, damage_of(l, nodes, n, worst));
		for (int i = 0; i < n; i++)
			if (nodes[i] != worst->node)
				finding_about(f, nodes[i]);
		finding_say(f, "%d nodes behind the last weights compute in integers; %s alone leaves %.1f dB of %s (step %.4g, "
		    "codes from %.4g to %.4g).", n, l->g->node[worst->node].name, site_snr(worst), range_phrase(range, worst),
		    worst->scale[0], site_lower_end(worst, worst->scale[0]), site_upper_end(worst, worst->scale[0]));
		finding_advise(f, "leave the post-processing in float: it holds no weights");
		finding_prove(f, "nodes", n);
		finding_prove(f, "arithmetic nodes", arithmetic);
		finding_prove(f, "worst SNR dB", site_snr(worst));
		finding_prove(f, "step there", worst->scale[0]);
		finding_set(f, l, nodes, n, PREC_FLOAT);
		finding_takes(f, l, nodes, n);
		f->reach = reach_of(l, f, worst);
	}
	free(nodes);
}
