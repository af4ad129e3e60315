// Most codes never occur although the tensor needs them: the range was taken from something else
// (another tensor, another width, an override), or is one-sided on a two-sided grid.
#include <math.h>
#include <string.h>
#include "rule.h"

static const double FEW = 0.25, POOR_DB = 15;
enum { LEAST_ELEMENTS = 1024 }; // fewer cannot occupy 256 codes

static bool is_explained_here(const struct look *l, int node)
{
	static const enum finding_rule other[] = {FINDING_rounds_to_zero, FINDING_stale_override, FINDING_joined_ranges, FINDING_postprocessing,
	    FINDING_coarse_logits, FINDING_outlier_range, FINDING_saturation, FINDING_outlier_channel, FINDING_softmax_at_8, FINDING_average_at_8};
	for (size_t i = 0; i < sizeof other / sizeof *other; i++)
		if (is_explained(l, node, other[i]))
			return true;
	return false;
}

// The scale comes from a node that has a finding, or that has too few codes itself.
static bool inherits_scale(const struct look *l, const struct site *s)
{
	int owner = scale_owner(l, s);
	return owner >= 0 && owner != s->node &&
	    (is_explained_here(l, owner) || is_explained(l, owner, FINDING_dead_levels));
}

// An input has too few codes, or another finding is about its grid: the codes are lost there, not here.
static bool inherits_codes(const struct look *l, const struct site *s)
{
	const struct node *n = &l->g->node[s->node];
	for (int i = 0; i < n->n_in; i++) {
		const struct site *in = site_of(l, n->in[i]);
		bool same = in && in != s && in->n_scale == 1 && s->n_scale == 1 && in->scale[0] == s->scale[0];
		if ((same && is_explained(l, in->node, FINDING_dead_levels)) || (in && in->node != s->node && is_explained_here(l, in->node)))
			return true;
	}
	return false;
}

// The grid holds the float values well, if few of its codes occur: what they are computed from has as few.
static bool is_good_grid(const struct look *l, const struct site *s)
{
	return predicted_snr(l, s, (double)s->scale[0]) > fmax(POOR_DB, site_snr(s));
}

// What the target runs in place of the node's operator, as a HardSigmoid for a Sigmoid; NULL: the operator itself.
static const char *other_operator(const struct look *l, int node)
{
	const char *op = l->plan ? l->plan->stand_in[node].op : NULL;
	return op && strcmp(op, l->g->node[node].op->name) != 0 ? op : NULL;
}

// Why there are so few: another operator runs, the scale is another tensor's, the range is the tensor's own and most of it is empty,
// or the float tensor would do with the grid.
static void say_why(struct finding *f, const struct look *l, const struct site *s)
{
	char range[RANGE_TEXT];
	const char *name = l->g->value[s->value].name;
	double codes = ldexp(1, s->bits);
	int owner = scale_owner(l, s);
	if (other_operator(l, s->node))
		finding_say(f, "%s uses %.0f of %.0f codes and keeps %.1f dB: the target runs %s in place of %s.", name, s->used_levels * codes,
		    codes, site_snr(s), other_operator(l, s->node), l->g->node[s->node].op->name);
	else if (s->state != SLOT_ACTIVE && owner >= 0 && owner != s->node)
		finding_say(f, "%s uses %.0f of %.0f codes and keeps %.1f dB: it has to share the scale %.4g with %s.", name,
		    s->used_levels * codes, codes, site_snr(s), s->scale[0], l->g->node[owner].name);
	else if (is_good_grid(l, s))
		finding_say(f,
		    "%s uses %.0f of %.0f codes and keeps %.1f dB where its grid would leave %.1f dB: what it is computed from has few codes.", name,
		    s->used_levels * codes, codes, site_snr(s), predicted_snr(l, s, (double)s->scale[0]));
	else
		finding_say(f, "%s uses %.0f of %.0f codes and keeps %.1f dB: its range %s is mostly empty.", name, s->used_levels * codes,
		    codes, site_snr(s), range_phrase(range, s));
}

// The smallest power-of-two part of the scale at which the tensor still fits.
static double filling_scale(const struct site *s)
{
	double scale = s->scale[0], zero = s->zero ? s->zero[0] : 0;
	while (s->range.max <= (s->qmax - zero) * scale / 2 && s->range.min >= (s->qmin - zero) * scale / 2 && scale > s->scale[0] / 4096)
		scale /= 2;
	return scale;
}

// In float the operator is its own.
static void offer_itself(struct finding *f, const struct look *l, int node)
{
	finding_takes(f, l, &node, 1);
	if (finding_set(f, l, &node, 1, PREC_FLOAT))
		finding_advise(f, "run it in float, as the operator that it is");
}

static void offer_bits(struct finding *f, const struct look *l, const struct site *s)
{
	bool good = is_good_grid(l, s), widens = is_weighted(&l->g->node[s->node]) ? can_widen_weights(l, s->node) : can_widen(l, s->node);
	if (!(good && !widens ? finding_free_region(f, l, s->node) : finding_widen(f, l, s->node)))
		return;
	finding_advise(f, good ? "give it and what it is computed from more bits" :
	    "give it more bits: 8 do not hold both its large values and its small ones");
}

static void dead(struct look *l, const struct site *s)
{
	char to[SCALE_TEXT];
	double offer = s->n_scale == 1 ? filling_scale(s) : s->scale[0];
	struct finding *f = finding_add(l, s->node, site_damage(s));
	say_why(f, l, s);
	finding_prove(f, "used share", s->used_levels);
	finding_prove(f, "scale", s->scale[0]);
	finding_prove(f, "min", s->range.min);
	finding_prove(f, "max", s->range.max);
	finding_prove(f, "SNR dB", site_snr(s));
	if (other_operator(l, s->node)) {
		offer_itself(f, l, s->node);
	} else if (offer < s->scale[0] && site_is_free(s) && finding_scale(f, l, s, offer)) {
		f->gain_db = predicted_gain(l, s, offer);
		finding_advise(f, "set the scale %s, which the range still fits", scale_phrase(to, offer));
	} else {
		offer_bits(f, l, s);
	}
}

void rule_dead_levels(struct look *l)
{
	for (int i = 0; i < l->s->n_sites; i++) {
		const struct site *s = &l->s->site[i];
		if (s->kind == SITE_OUTPUT && s->bits == 8 && s->layerwise.known && s->range.n >= LEAST_ELEMENTS && s->hist_float &&
		    s->used_levels >= 0 && s->used_levels < FEW && site_snr(s) < POOR_DB && site_span(s) > 0 && !is_explained_here(l, s->node) &&
		    !inherits_scale(l, s) && !inherits_codes(l, s))
			dead(l, s);
	}
}
