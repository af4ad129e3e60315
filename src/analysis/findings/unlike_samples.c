// Ranges that fit the calibration samples and not those of the evaluation:
// darker pictures, another camera, other preprocessing. A tensor counts when the scale chosen for it loses
// much against the best one on the evaluation samples, and did not on its own.
#include <math.h>
#include <stdlib.h>
#include "qtui/analysis/survey.h"
#include "rule.h"

enum { REACH = 4, LEAST = 3 };  // powers of two to either side; tensors
static const double WORTH = 3;  // dB: half a bit
static const double GOOD_DB = 24, SHARE = 0.05;

struct misfit {
	const struct site *site;
	double calib, eval, best, clipped_eval;
};

static double best_snr(const struct hist *h, const struct site *s)
{
	double best = -INFINITY, zero = s->zero ? s->zero[0] : 0;
	for (int k = -REACH; k <= REACH; k++) {
		struct prediction p = hist_predict(h, ldexp(s->scale[0], k), zero, s->qmin, s->qmax);
		if (p.known && p.snr_db > best)
			best = p.snr_db;
	}
	return best;
}

static bool is_misfit(struct misfit *out, const struct site *s, const struct hist *eval)
{
	double zero = s->zero ? s->zero[0] : 0;
	struct prediction c = hist_predict(s->hist_float, s->scale[0], zero, s->qmin, s->qmax);
	struct prediction e = hist_predict(eval, s->scale[0], zero, s->qmin, s->qmax);
	if (!c.known || !e.known || e.snr_db > GOOD_DB)
		return false;
	*out = (struct misfit){s, c.snr_db, e.snr_db, best_snr(eval, s), e.clipped};
	double there = out->best - out->eval, here = best_snr(s->hist_float, s) - out->calib;
	return there - fmax(here, 0) > WORTH;
}

static int by_loss(const void *a, const void *b)
{
	const struct misfit *x = a, *y = b;
	double lx = x->best - x->eval, ly = y->best - y->eval;
	return lx != ly ? (lx < ly ? 1 : -1) : x->site->node - y->site->node;
}

static void unlike(struct look *l, const struct survey *v, const struct misfit *m, int n, int looked_at)
{
	const struct misfit *worst = &m[0], *middle = &m[n / 2];
	struct finding *f = finding_add(l, worst->site->node, fmin(1, pow(10, -worst->eval / 10)));
	for (int i = 1; i < n; i++)
		finding_about(f, m[i].site->node);
	finding_say(f,
	    "The ranges fit the calibration samples and not those of the evaluation: %d of %d tensors lose more than %.0f dB there; %s has "
	    "%.1f dB where %.1f dB could be had (%.2f %% clipped).",
	    n, looked_at, WORTH, l->g->value[worst->site->value].name, worst->eval, worst->best, 100 * worst->clipped_eval);
	finding_advise(f, "calibrate on samples like those of the evaluation, prepared in the same way");
	finding_prove(f, "tensors", n);
	finding_prove(f, "SNR dB on calibration samples", worst->calib);
	finding_prove(f, "SNR dB on evaluation samples", worst->eval);
	finding_prove(f, "input mean, calibration", v->calib.mean);
	finding_prove(f, "input mean, evaluation", v->eval.mean);
	finding_prove(f, "input deviation, calibration", v->calib.deviation);
	finding_prove(f, "input deviation, evaluation", v->eval.deviation);
	f->gain_db = middle->best - middle->eval;
}

void rule_unlike_samples(struct look *l)
{
	const struct survey *v = l->survey;
	struct misfit *m = xcalloc((size_t)l->s->n_sites + 1, sizeof *m);
	int n = 0, looked_at = 0;
	for (int i = 0; v && v->eval_samples > 0 && i < l->s->n_sites; i++) {
		const struct site *s = &l->s->site[i];
		if (!site_is_free(s) || s->value >= v->n_values || !v->hist[s->value] || s->locked)
			continue;
		looked_at++;
		n += is_misfit(&m[n], s, v->hist[s->value]);
	}
	if (n >= LEAST && n >= SHARE * looked_at) {
		qsort(m, (size_t)n, sizeof *m, by_loss);
		unlike(l, v, m, n, looked_at);
	}
	free(m);
}
