// A QuantizeLinear of the file (the model was quantized before) whose scale clips its tensor or is too coarse for it. What is lost there
// is lost for the float network too: no edit mends it, and no other figure shows it.
#include <math.h>
#include "rule.h"

enum { REACH = 4 };
static const double WORTH = 3; // dB: half a bit
static const double GOOD_DB = 24;

static double first_of(const struct tensor *t)
{
	switch (t->type) {
	case DT_F32:
		return ((const float *)t->data)[0];
	case DT_I8:
		return ((const int8_t *)t->data)[0];
	case DT_U8:
		return ((const uint8_t *)t->data)[0];
	default:
		return NAN;
	}
}

static const struct tensor *one_number(const struct look *l, const struct node *n, int i)
{
	const struct tensor *t = i < n->n_in && n->in[i] >= 0 ? l->g->value[n->in[i]].constant : NULL;
	return t && tensor_count(t) == 1 ? t : NULL;
}

struct file_grid {
	double scale, zero;
	int64_t qmin, qmax;
};

// 8 bit with one scale.
static bool read_grid(struct file_grid *out, const struct look *l, const struct node *n)
{
	const struct tensor *scale = one_number(l, n, 1), *zero = one_number(l, n, 2);
	if (!scale || (n->n_in > 2 && n->in[2] >= 0 && !zero))
		return false;
	bool is_signed = zero && zero->type == DT_I8;
	*out = (struct file_grid){first_of(scale), zero ? first_of(zero) : 0, is_signed ? -128 : 0, is_signed ? 127 : 255};
	return out->scale > 0 && isfinite(out->zero);
}

static void lossy(struct look *l, int node, const struct site *s, const struct file_grid *g)
{
	const struct node *n = &l->g->node[node];
	struct prediction now = hist_predict(s->hist_float, g->scale, g->zero, g->qmin, g->qmax);
	double best = now.snr_db, at = g->scale;
	for (int k = -REACH; now.known && k <= REACH; k++) {
		struct prediction p = hist_predict(s->hist_float, ldexp(g->scale, k), g->zero, g->qmin, g->qmax);
		if (p.known && p.snr_db > best) {
			best = p.snr_db;
			at = ldexp(g->scale, k);
		}
	}
	if (!now.known || !(now.snr_db < GOOD_DB) || !(best - now.snr_db > WORTH))
		return;
	struct finding *f = finding_add(l, node, fmin(1, pow(10, -now.snr_db / 10)));
	finding_say(f, "The file itself quantizes %s (%.4g .. %.4g) by %s with the scale %.4g, which %s: %.1f dB are left where %.4g would leave %.1f dB.",
	    l->g->value[s->value].name, s->range.min, s->range.max, n->name, g->scale, at > g->scale ? "clips it" : "is too coarse", now.snr_db, at,
	    best);
	finding_advise(f, "start from the float model, or correct this scale in the file: what is lost here no edit brings back");
	finding_prove(f, "scale", g->scale);
	finding_prove(f, "zero point", g->zero);
	finding_prove(f, "clipped share", now.clipped);
	finding_prove(f, "min", s->range.min);
	finding_prove(f, "max", s->range.max);
	finding_prove(f, "SNR dB", now.snr_db);
	finding_prove(f, "SNR dB with the best power of two of it", best);
	f->gain_db = best - now.snr_db;
}

void rule_file_quantizer(struct look *l)
{
	for (int node = 0; node < l->g->n_nodes; node++) {
		const struct node *n = &l->g->node[node];
		const struct site *s = is_op(n, OP_QuantizeLinear) ? site_of(l, n->in[0]) : NULL;
		struct file_grid g;
		if (s && s->hist_float && read_grid(&g, l, n))
			lossy(l, node, s, &g);
	}
}
