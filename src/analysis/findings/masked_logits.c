// What attention must not see is set to -10000 or to the lowest float before the Softmax.
// Where these logits are quantized, the mask rules the step and all others fall together. The tensor's SNR does
// not show it, since the mask is most of its signal, and bits seldom help; a Softmax in float does.
#include <math.h>
#include <stdlib.h>
#include "rule.h"

static const double COARSE = 0.5; // logits, as of coarse_logits
static const double FAR = 4, LEAST = 20; // a mask reaches so many times as far below zero as the logits, or as this

struct masked {
	const struct site *input, *logits; // of the Softmax, and before they were masked
	int by;                            // the node that masks
};

// Which node masked the value: an Add with the mask, or a Where that chooses it.
static int masking_node(const struct look *l, int value)
{
	int p = l->g->value[value].producer;
	while (p >= 0 && is_mover(&l->g->node[p]))
		p = l->g->value[l->g->node[p].in[0]].producer;
	return p >= 0 && (is_op(&l->g->node[p], OP_Add) || is_op(&l->g->node[p], OP_Where)) ? p : -1;
}

static double mask_limit(const struct site *logits)
{
	return -FAR * fmax(-logits->range.min, LEAST);
}

// Nothing lies between what is masked and what is not; a Where needs no proof of that.
static bool has_gap(const struct site *s)
{
	return s->hist_float && hist_share(s->hist_float, s->range.min / 2, s->range.min / FAR) == 0;
}

static struct masked look_at(const struct look *l, const struct node *softmax)
{
	struct masked m = {.input = site_of(l, softmax->in[0]), .by = masking_node(l, softmax->in[0])};
	const struct node *by = m.by >= 0 && m.input && m.input->range.n > 0 ? &l->g->node[m.by] : NULL;
	bool chooses = by && is_op(by, OP_Where);
	for (int i = chooses; by && (chooses || has_gap(m.input)) && i < by->n_in; i++) {
		const struct site *s = site_of(l, by->in[i]);
		if (s && s->range.n > 0 && m.input->range.min < mask_limit(s))
			m.logits = s;
	}
	return m;
}

// ---- who makes masks

static bool makes_mask(const struct look *l, int value, double limit)
{
	const struct site *s = value >= 0 && limit < 0 ? site_of(l, value) : NULL;
	return s && s->range.n > 0 && s->range.min < limit && has_gap(s);
}

// Of the terms of what a Softmax reads all but the highest may be masks: limit[] says below what they have to reach.
static void ask_terms(struct look *l, const struct node *softmax, double *limit)
{
	int by = masking_node(l, softmax->in[0]);
	const struct node *n = by >= 0 ? &l->g->node[by] : NULL;
	const struct site *logits = NULL;
	for (int i = 0; n && i < n->n_in; i++) {
		const struct site *s = site_of(l, n->in[i]);
		if (s && s->range.n > 0 && (!logits || s->range.min > logits->range.min))
			logits = s;
	}
	for (int i = 0; logits && i < n->n_in; i++) {
		if (n->in[i] < 0 || n->in[i] == logits->value)
			continue;
		limit[n->in[i]] = mask_limit(logits);
		l->out->hidden[by] |= makes_mask(l, n->in[i], limit[n->in[i]]);
	}
	if (look_at(l, softmax).logits)
		l->out->hidden[by] = true;
}

void find_masks(struct look *l)
{
	const struct graph *g = l->g;
	double *limit = xcalloc((size_t)g->n_values + 1, sizeof *limit);
	l->mask = xcalloc((size_t)g->n_nodes + 1, sizeof *l->mask);
	l->out->hidden = xcalloc((size_t)g->n_nodes + 1, sizeof *l->out->hidden);
	for (int n = g->n_nodes - 1; n >= 0; n--) {
		const struct node *node = &g->node[n];
		if (is_op(node, OP_Softmax))
			ask_terms(l, node, limit);
		int out = node->out[0];
		if (out < 0 || !makes_mask(l, out, limit[out]))
			continue;
		l->mask[n] = l->out->hidden[n] = true;
		for (int i = 0; i < node->n_in; i++)
			if (node->in[i] >= 0)
				limit[node->in[i]] = limit[out];
	}
	free(limit);
}

// ---- the rule

static void masked(struct look *l, const int *softmax, int n, int worst)
{
	char range[RANGE_TEXT];
	struct masked m = look_at(l, &l->g->node[softmax[worst]]);
	double step = input_step(l, softmax[worst], 0), damage = 0;
	int *edit = xcalloc(2 * (size_t)n, sizeof *edit), n_edit = 0;
	struct finding *f = finding_add(l, softmax[worst], 0);
	for (int i = 0; i < n; i++) {
		struct masked one = look_at(l, &l->g->node[softmax[i]]);
		double its = input_step(l, softmax[i], 0);
		damage += fmin(1, its * its / 12);
		edit[n_edit++] = one.by;
		edit[n_edit++] = softmax[i];
		if (i != worst)
			finding_about(f, softmax[i]);
		finding_about(f, one.by);
	}
	f->damage = damage;
	finding_say(f, "%s reads logits that a mask takes down to %.4g: on their step of %.4g those that are not masked (%s) have %.1f "
	    "codes, which the tensor's SNR does not show.", l->g->node[softmax[worst]].name, m.input->range.min, step,
	    range_phrase(range, m.logits), site_span(m.logits) / step);
	finding_advise(f, "leave %s in float with the node that masks, or export a mask that reaches less far, such as -50",
	    n > 1 ? "each such Softmax" : "the Softmax");
	finding_prove(f, "step", step);
	finding_prove(f, "mask", m.input->range.min);
	finding_prove(f, "min", m.logits->range.min);
	finding_prove(f, "max", m.logits->range.max);
	finding_prove(f, "codes", site_span(m.logits) / step);
	finding_prove(f, "Softmax nodes", n);
	finding_set(f, l, edit, n_edit, PREC_FLOAT);
	free(edit);
}

void rule_masked_logits(struct look *l)
{
	int *softmax = xcalloc((size_t)l->g->n_nodes + 1, sizeof *softmax), n = 0, worst = 0;
	for (int node = 0; node < l->g->n_nodes; node++) {
		if (!is_op(&l->g->node[node], OP_Softmax) || !(input_step(l, node, 0) > COARSE) || !look_at(l, &l->g->node[node]).logits)
			continue;
		softmax[n] = node;
		worst = input_step(l, node, 0) > input_step(l, softmax[worst], 0) ? n : worst;
		n++;
	}
	if (n)
		masked(l, softmax, n, worst);
	free(softmax);
}
