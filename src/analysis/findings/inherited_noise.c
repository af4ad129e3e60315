// A bad output whose own quantization is good: the noise came from upstream.
// Names the node where it arose, since widening the victim mends nothing.
#include <math.h>
#include <stdio.h>
#include "qtui/base/str.h"
#include "rule.h"

static const double BAD_DB = 8, APART_DB = 10, DROP_DB = 6;

// The noisiest of what a node reads.
static const struct site *worst_input(const struct look *l, int node)
{
	const struct node *n = &l->g->node[node];
	const struct site *worst = NULL;
	for (int i = 0; i < n->n_in; i++) {
		const struct site *s = site_of(l, n->in[i]);
		if (s && s->node < node && s->graphwise.known && (!worst || figures_snr(&s->graphwise) < figures_snr(&worst->graphwise)))
			worst = s;
	}
	return worst;
}

// Walks up while the noise is there already; node ids fall, so that it ends.
static const struct site *find_origin(const struct look *l, const struct site *s, int *steps)
{
	for (*steps = 0;; ++*steps) {
		const struct site *up = worst_input(l, s->node);
		if (!up || figures_snr(&up->graphwise) > figures_snr(&s->graphwise) + DROP_DB || figures_snr(&up->graphwise) > 2 * BAD_DB)
			return s;
		s = up;
	}
}

// There is a finding about the node where the noise began already: with a remedy, or this rule's of another output.
static bool is_named(const struct look *l, int node)
{
	for (int r = 0; r < FINDING_RULES; r++)
		if (is_explained(l, node, (enum finding_rule)r))
			return true;
	return false;
}

enum { SNR_TEXT = 24 };

static const char *snr_phrase(char out[SNR_TEXT], double snr)
{
	if (isinf(snr))
		return "no noise";
	snprintf(out, SNR_TEXT, "%.1f dB", snr);
	return out;
}

static void inherited(struct look *l, const struct site *s)
{
	char here[SNR_TEXT], alone[SNR_TEXT], began[SNR_TEXT], origin_alone[SNR_TEXT];
	int steps;
	const struct site *origin = find_origin(l, s, &steps), *up = worst_input(l, origin->node);
	if (steps == 0 || is_named(l, origin->node))
		return;
	struct finding *f = finding_add(l, s->node, fmin(1, s->graphwise.pooled.nsr) * 0.01);
	finding_about(f, origin->node);
	finding_say(f, "%s has %s but would have %s alone: the noise is there since %s, %d node%s upstream (%s, alone %s).",
	    l->g->node[s->node].name, snr_phrase(here, figures_snr(&s->graphwise)), snr_phrase(alone, site_snr(s)),
	    l->g->node[origin->node].name, steps, plural(steps), snr_phrase(began, figures_snr(&origin->graphwise)),
	    snr_phrase(origin_alone, site_snr(origin)));
	finding_advise(f, "mend what lies at and before %s, not this node", l->g->node[origin->node].name);
	finding_prove(f, "SNR dB", figures_snr(&s->graphwise));
	finding_prove(f, "SNR dB alone", site_snr(s));
	finding_prove(f, "SNR dB of the origin", figures_snr(&origin->graphwise));
	if (up)
		finding_prove(f, "SNR dB of what the origin reads", figures_snr(&up->graphwise));
}

void rule_inherited_noise(struct look *l)
{
	for (int o = 0; o < l->g->n_outputs; o++) {
		const struct site *s = site_of(l, l->g->output[o]);
		if (s && s->kind == SITE_OUTPUT && s->graphwise.known && s->layerwise.known && figures_snr(&s->graphwise) < BAD_DB &&
		    site_snr(s) > figures_snr(&s->graphwise) + APART_DB)
			inherited(l, s);
	}
}
