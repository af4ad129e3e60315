// What a selection by value has passed on (the queries of a detector's decoder) goes through one layer after the other,
// each of which refines what the one before it has found: boxes, and from them the places that are looked at next.
// So the noise of all its nodes meets in the few numbers at its end, and none of them is worth widening alone:
// its neighbours at 8 bit would lose again what it keeps. The whole has few multiply-accumulates.
// What comes behind the last weights is left to the rule of post-processing.
#include <math.h>
#include <stdlib.h>
#include "../repair/repair_impl.h"
#include "rule.h"

enum { LEAST_WEIGHTED = 2 }; // one alone refines nothing
static const double POOR_DB = 20;
static const double CHEAP = 0.15; // of the multiply-accumulates: what a search spends unless it is told otherwise

struct region {
	int *node, n, weighted;
	double noise, macs; // that its nodes make alone; share of the network's multiply-accumulates
	const struct site *worst;
};

// What joints among them do to their inputs no figure of a node shows.
static double noise_in_joint(const struct look *l, int node)
{
	double noise = 0;
	for (int i = 0; i < l->out->n; i++)
		if (is_of_hidden_input(l, &l->out->at[i]) && l->out->at[i].node[0] == node)
			noise += l->out->at[i].damage;
	return noise;
}

static void take(struct region *r, const struct look *l, int node)
{
	const struct site *s = snapshot_output(l->s, node);
	double noise = s ? counted_damage(l, s) : 0;
	r->node[r->n++] = node;
	r->weighted += is_weighted(&l->g->node[node]);
	r->noise += noise + noise_in_joint(l, node);
	if (s && noise > 0 && (!r->worst || noise > counted_damage(l, r->worst)))
		r->worst = s;
}

static struct region find_region(const struct look *l)
{
	bool *behind = points_behind(l->g);
	struct region r = {.node = xcalloc((size_t)l->g->n_nodes + 1, sizeof *r.node)};
	for (int node = 0; node < l->g->n_nodes; node++) {
		const struct node_row *row = &l->s->row[node];
		bool is_in = !l->tail[node] && row->quantizable && row->precision == PREC_INT8 && reads_any(&l->g->node[node], behind);
		if (!is_in || is_explained(l, node, FINDING_rounds_to_zero))
			continue;
		r.macs += (double)row->macs;
		take(&r, l, node);
	}
	r.macs /= l->macs > 0 ? l->macs : 1;
	free(behind);
	return r;
}

static void speak(struct look *l, const struct region *r)
{
	bool has_16 = can_widen(l, r->worst->node);
	struct finding *f = finding_add(l, r->worst->node, r->noise);
	for (int i = 0; i < r->n; i++)
		if (r->node[i] != r->worst->node)
			finding_about(f, r->node[i]);
	finding_say(f,
	    "%d nodes behind a selection by value are at 8 bit, %d of them with weights: their noise together leaves %.1f dB, "
	    "that of %s alone %.1f dB. They have %.1f %% of the MACs.",
	    r->n, r->weighted, shown_db(-10 * log10(r->noise)), l->g->node[r->worst->node].name, shown_db(-10 * log10(made_damage(l, r->worst))),
	    100 * r->macs);
	finding_prove(f, "nodes", r->n);
	finding_prove(f, "nodes with weights", r->weighted);
	finding_prove(f, "share of the MACs", r->macs);
	finding_prove(f, "noise over signal, summed", r->noise);
	finding_prove(f, "worst SNR dB", site_snr(r->worst));
	finding_takes(f, l, r->node, r->n);
	if (finding_set(f, l, r->node, r->n, has_16 ? PREC_INT16 : PREC_FLOAT))
		finding_advise(f, has_16 ? "give all of them 16 bit: each refines what the one before it has found"
		                         : "leave all of them in float: each refines what the one before it has found");
}

void rule_decoder_at_8(struct look *l)
{
	struct region r = find_region(l);
	if (r.weighted >= LEAST_WEIGHTED && r.worst && -10 * log10(r.noise) < POOR_DB && r.macs <= CHEAP)
		speak(l, &r);
	free(r.node);
}
