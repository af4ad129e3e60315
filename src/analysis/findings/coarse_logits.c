// A Sigmoid is nearly zero below -8 and moves most around 0, yet the range of its input is mostly
// set by how far the negatives reach. A finer step that covers the positive side and clips
// the far negatives keeps the order of the scores.
#include <math.h>
#include "qtui/analysis/logits.h"
#include "rule.h"

static const double NEAR = -4, FAR = -8; // Sigmoid(-4) = .018, Sigmoid(-8) = .0003
static const double COARSE = 0.1;        // half a step moves a score by up to a quarter of it: over 1 %
static const double COARSE_SOFTMAX = 0.5;

// The finest scale, a power of two, that reaches the largest logit above and FAR below.
static double fitting_scale(const struct site *s)
{
	double need = fmax(s->range.max / (double)s->qmax, FAR / (double)s->qmin);
	return exp2(ceil(log2(need)));
}

static bool is_symmetric(const struct site *s)
{
	return s->n_scale == 1 && s->zero && s->zero[0] == 0 && s->qmin < 0;
}

static void say_coarse(struct finding *f, const struct look *l, int sigmoid, const struct site *s, double fit)
{
	double step = s->scale[0];
	finding_say(f, "%s decides on a step of %.4g: the logits above %g (up to %.4g) have %.0f codes; the range is set by %.4g.",
	    l->g->node[sigmoid].name, step, NEAR, s->range.max, ceil((s->range.max - NEAR) / step), s->range.min);
	finding_prove(f, "step", step);
	finding_prove(f, "min", s->range.min);
	finding_prove(f, "max", s->range.max);
	finding_prove(f, "share above -4", hist_share(s->hist_float, NEAR, INFINITY));
	finding_prove(f, "codes above -4", ceil((s->range.max - NEAR) / step));
	finding_prove(f, "codes above -4 with the offer", ceil((s->range.max - NEAR) / fit));
	finding_prove(f, "SNR dB of the scores", logits_predict(l->s, s, step));
	finding_prove(f, "SNR dB of the scores with the offer", logits_predict(l->s, s, fit));
}

// Noise over signal of the scores. Where no logit is large enough to make a score, the estimate is the chance that two
// logits fall on the same one of the n codes between NEAR and the largest: 1 / n.
static double scores_noise(const struct look *l, const struct site *s)
{
	double db = logits_predict(l->s, s, s->scale[0]);
	return fmin(1, isnan(db) ? 1 / fmax(ceil((s->range.max - NEAR) / s->scale[0]), 1) : pow(10, -db / 10));
}

static void coarse_sigmoid(struct look *l, const struct site *s, int sigmoid)
{
	double fit = fitting_scale(s), low = (double)s->qmin * fit;
	int owner = scale_owner(l, s);
	char offer[SCALE_TEXT];
	if (!is_symmetric(s) || !(s->scale[0] >= COARSE) || !(fit <= s->scale[0] / 2) || s->range.max < NEAR || s->locked)
		return;
	struct finding *f = finding_add(l, s->node, scores_noise(l, s));
	finding_about(f, sigmoid);
	say_coarse(f, l, sigmoid, s, fit);
	if (s->state == SLOT_ACTIVE && finding_scale(f, l, s, fit))
		finding_advise(f, "set the scale %s: it covers the largest logit and clips below %g, where scores are under %.1g",
		    scale_phrase(offer, fit), low, 1 / (1 + exp(-low)));
	else if (owner >= 0 && l->tail[owner])
		finding_free_behind(f, l, owner); // frees the logits from the scale of what they are joined with
}

static void coarse_softmax(struct look *l, int node, const struct site *s)
{
	double step = input_step(l, node, 0);
	int owner = scale_owner(l, s);
	if (!(step > COARSE_SOFTMAX) || site_snr(s) > 25 || owner < 0 || is_explained(l, owner, FINDING_coarse_logits))
		return;
	struct finding *f = finding_add(l, owner, site_damage(s));
	finding_about(f, node);
	double ratio = exp(step); // beyond all doubles for a step of thousands
	finding_say(f, "%s reads its logits on a step of %.4g: one step changes a ratio of probabilities by %s%.2g.", l->g->node[node].name,
	    step, isinf(ratio) ? "more than " : "", fmin(ratio, 1e300));
	finding_prove(f, "step", step);
	finding_prove(f, "min", s->range.min);
	finding_prove(f, "max", s->range.max);
	if (finding_widen(f, l, owner))
		finding_advise(f, "give %s more bits", l->g->node[owner].name);
}

void rule_coarse_logits(struct look *l)
{
	for (int i = 0; i < l->s->n_sites; i++) {
		const struct site *s = &l->s->site[i];
		if (s->kind != SITE_OUTPUT || s->bits != 8 || !s->hist_float || !(s->range.n > 0) || !is_weighted(&l->g->node[s->node]))
			continue;
		int sigmoid = logits_sigmoid(l->g, s->value);
		if (sigmoid >= 0)
			coarse_sigmoid(l, s, sigmoid);
	}
	for (int node = 0; node < l->g->n_nodes; node++) {
		const struct node *n = &l->g->node[node];
		const struct site *s = is_op(n, OP_Softmax) ? site_of(l, n->in[0]) : NULL;
		if (s && s->bits == 8)
			coarse_softmax(l, node, s);
	}
}
