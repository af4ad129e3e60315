// A few far values set the range, and all others share the codes near zero: clipping the few is worth it.
#include <math.h>
#include "rule.h"

static const double WORTH = 3, GOOD_DB = 24; // dB: half a bit; what 8 bit ought to give

static void outliers(struct look *l, const struct site *s)
{
	char range[RANGE_TEXT];
	double scale = s->scale[0], now = predicted_snr(l, s, scale), best = now, offer = scale;
	char to[SCALE_TEXT];
	if (!(now < GOOD_DB))
		return;
	for (int k = 1; k <= 4; k++) {
		double try = predicted_snr(l, s, ldexp(scale, -k));
		if (try > best) {
			best = try;
			offer = ldexp(scale, -k);
		}
	}
	struct prediction p = study_predict_scale(l->s, site_index(l, s), offer, ZERO_FOLLOWS);
	if (!(best - now > WORTH) || p.clipped <= 0)
		return;
	struct finding *f = finding_add(l, s->node, site_damage(s));
	finding_say(f, "The range of %s (%s) is set by %.3g %% of its elements: clipping them at %s gives %.1f dB in place of %.1f dB.",
	    l->g->value[s->value].name, range_phrase(range, s), 100 * p.clipped, scale_phrase(to, offer), best, now);
	finding_advise(f, "set the scale %s, or calibrate by percentile or mse", to);
	finding_prove(f, "outlier share", p.clipped);
	finding_prove(f, "scale", scale);
	finding_prove(f, "min", s->range.min);
	finding_prove(f, "max", s->range.max);
	finding_prove(f, "SNR dB", now);
	finding_prove(f, "SNR dB clipped", best);
	f->gain_db = best - now;
	finding_scale(f, l, s, offer);
}

void rule_outlier_range(struct look *l)
{
	for (int i = 0; i < l->s->n_sites; i++) {
		const struct site *s = &l->s->site[i];
		if (site_is_free(s) && !is_probability(l, s) && !is_decision(l, s->value) &&
		    !is_explained(l, s->node, FINDING_stale_override) && !is_explained(l, s->node, FINDING_postprocessing))
			outliers(l, s);
	}
}
