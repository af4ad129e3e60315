// A range that is too small clips what lies beyond it: doubling the scale is worth more than the resolution that it costs. Where
// many tensors are clipped it is the calibrator's doing, and one finding says so.
#include <math.h>
#include <stdlib.h>
#include "rule.h"

enum { MANY = 4 };
static const double SHARE = 0.001, WORTH = 1.5, GOOD_DB = 24;

struct clipping {
	const struct site *site;
	double share, now, better, offer;
};

static bool is_clipped(struct clipping *out, const struct look *l, const struct site *s)
{
	struct prediction p = study_predict_scale(l->s, site_index(l, s), s->scale[0]);
	double scale = s->scale[0], now = p.snr_db;
	if (!p.known || !(p.clipped > SHARE) || !(now < GOOD_DB))
		return false;
	*out = (struct clipping){s, p.clipped, now, now, scale};
	for (int k = 1; k <= 4; k++) {
		double try = predicted_snr(l, s, ldexp(scale, k));
		if (try > out->better) {
			out->better = try;
			out->offer = ldexp(scale, k);
		}
	}
	return out->better - now > WORTH;
}

static bool is_candidate(const struct look *l, const struct site *s)
{
	return site_is_free(s) && !is_decision(l, s->value) && !is_explained(l, s->node, FINDING_stale_override) &&
	    !is_explained(l, s->node, FINDING_postprocessing);
}

static void say(struct look *l, struct finding *f, const struct clipping *c)
{
	char to[32];
	finding_say(f, "%.2f %% of %s lie beyond its range and are clipped: %.1f dB; %s would give %.1f dB.", 100 * c->share,
	    l->g->value[c->site->value].name, c->now, scale_phrase(to, c->offer), c->better);
	finding_advise(f, "set the scale %s", to);
	finding_prove(f, "clipped share", c->share);
	finding_prove(f, "scale", c->site->scale[0]);
	finding_prove(f, "min", c->site->range.min);
	finding_prove(f, "max", c->site->range.max);
	finding_prove(f, "SNR dB", c->now);
	finding_prove(f, "SNR dB with the offer", c->better);
	f->gain_db = c->better - c->now;
}

static void one_by_one(struct look *l, const struct clipping *c, int n)
{
	for (int i = 0; i < n; i++) {
		struct finding *f = finding_add(l, c[i].site->node, site_damage(c[i].site));
		say(l, f, &c[i]);
		finding_scale(f, l, c[i].site->node, c[i].offer);
	}
}

static int by_loss(const void *a, const void *b)
{
	const struct clipping *x = a, *y = b;
	return x->now != y->now ? (x->now > y->now ? 1 : -1) : x->site->node - y->site->node;
}

static void together(struct look *l, struct clipping *c, int n)
{
	static const enum calib_method wider = CALIB_MINMAX;
	qsort(c, (size_t)n, sizeof *c, by_loss);
	struct finding *f = finding_add(l, c[0].site->node, site_damage(c[0].site));
	for (int i = 1; i < n; i++)
		finding_about(f, c[i].site->node);
	finding_say(f, "%d tensors are clipped by %s calibration; worst: %.2f %% of %s, %.1f dB where %.1f dB could be had.", n,
	    calib_name(l->s->method), 100 * c[0].share, l->g->value[c[0].site->value].name, c[0].now, c[0].better);
	finding_prove(f, "clipped tensors", n);
	finding_prove(f, "largest clipped share", c[0].share);
	finding_prove(f, "SNR dB of the worst", c[0].now);
	finding_prove(f, "SNR dB of the worst without clipping", c[0].better);
	finding_advise(f, "calibrate by %s, or widen the scales one by one", calib_name(wider));
	f->gain_db = c[0].better - c[0].now;
	finding_calibrate(f, wider);
}

void rule_saturation(struct look *l)
{
	struct clipping *c = xcalloc((size_t)l->s->n_sites + 1, sizeof *c);
	int n = 0;
	for (int i = 0; i < l->s->n_sites; i++)
		n += is_candidate(l, &l->s->site[i]) && is_clipped(&c[n], l, &l->s->site[i]);
	if (n >= MANY && l->s->method != CALIB_MINMAX)
		together(l, c, n);
	else
		one_by_one(l, c, n);
	free(c);
}
