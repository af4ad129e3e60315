// A scale set by hand stays when the tensor behind it changes: after edits upstream, another target or other samples
// it may clip or be coarser than it has to be. Not so one that a repair has measured at the network's outputs:
// the tensor alone knows less. Logits are judged by their scores, as where a scale is offered for them:
// what is clipped of them far below zero is no harm. A wider scale has to keep most elements,
// as that of saturation does: else the two would take turns.
#include <math.h>
#include "qtui/analysis/logits.h"
#include "rule.h"

enum { REACH = 16 };         // powers of two tried to either side: any scale may have been typed
static const double WORTH = 3, GOOD_DB = 25; // dB

static double worth(const struct look *l, const struct site *s, double scale)
{
	double scores = logits_predict(l->s, s, scale);
	return isnan(scores) ? predicted_snr(l, s, scale) : scores;
}

static bool is_offer(const struct look *l, const struct site *s, double now, double scale)
{
	return scale <= now || !isnan(logits_predict(l->s, s, now)) || keeps_most(l, s, scale);
}

static double best_scale(const struct look *l, const struct site *s, double now, double *snr)
{
	double best = now;
	for (int k = -REACH; k <= REACH; k++) {
		double scale = ldexp(now, k), try = worth(l, s, scale);
		if (try > *snr && is_offer(l, s, now, scale)) {
			*snr = try;
			best = scale;
		}
	}
	return best;
}

// A logit may clip far below zero, where nothing depends on it: only its upper end counts.
static bool serves_decision(const struct look *l, const struct site *s, double scale)
{
	double top = ((double)s->qmax - s->zero[0]) * scale;
	return is_decision(l, s->value) && s->range.max <= top * 1.05 && s->range.max > top / 8;
}

static void stale(struct look *l, int value, const struct site *s, double now)
{
	double snr = worth(l, s, now), better = snr, best = best_scale(l, s, now, &better);
	struct prediction p = study_predict_scale(l->s, site_index(l, s), now, ZERO_FOLLOWS);
	char was[SCALE_TEXT], offer[SCALE_TEXT];
	if (!(better - snr > WORTH) || snr > GOOD_DB || serves_decision(l, s, now))
		return;
	struct finding *f = finding_add(l, s->node, pow(10, -snr / 10));
	finding_say(f, "The scale %s set on %s %s: %.1f dB%s where %s would give %.1f dB.", scale_phrase(was, now),
	    graph_output_name(l->g, value), best > now ? "clips its tensor" : "is coarser than its tensor needs", snr,
	    isnan(logits_predict(l->s, s, now)) ? "" : " of its scores",
	    scale_phrase(offer, best), better);
	finding_advise(f, "set the scale %s, or go back to the calibrated one (auto)", offer);
	finding_prove(f, "scale", now);
	finding_prove(f, "clipped share", p.clipped);
	finding_prove(f, "SNR dB", snr);
	finding_prove(f, "SNR dB with the best power of two", better);
	f->gain_db = better - snr;
	finding_scale(f, l, s, best);
}

void rule_stale_override(struct look *l)
{
	for (int i = 0; i < l->s->n_sites; i++) {
		const struct site *s = &l->s->site[i];
		int value = snapshot_scalable(l->s, s);
		bool by_hand = value >= 0 && l->s->scale_requested[value] > 0;
		if (by_hand && s->hist_float && s->n_scale == 1 && !was_measured(l, s))
			stale(l, value, s, s->scale[0]);
	}
}
