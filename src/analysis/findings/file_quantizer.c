// A QuantizeLinear of the file (the model was quantized before) whose scale clips its tensor or is too coarse for it.
// What is lost there is lost for the float network too: no edit mends it, and no other figure shows it.
#include <math.h>
#include "qtui/engine/file_grid.h"
#include "rule.h"

enum { REACH = 4 };
static const double WORTH = 3; // dB: half a bit
static const double GOOD_DB = 24;

static struct prediction predict(const struct hist *h, const struct file_grid *g, double scale)
{
	struct prediction p = hist_predict(h, scale, g->zero, g->qmin, g->qmax);
	p.snr_db = -10 * log10(pow(10, -p.snr_db / 10) + g->rounding);
	return p;
}

static void lossy(struct look *l, int node, const struct site *s, const struct file_grid *g)
{
	char range[RANGE_TEXT];
	const struct node *n = &l->g->node[node];
	struct prediction now = predict(s->hist_float, g, g->scale);
	double best = now.snr_db, at = g->scale;
	for (int k = -REACH; now.known && k <= REACH; k++) {
		struct prediction p = predict(s->hist_float, g, ldexp(g->scale, k));
		if (p.known && p.snr_db > best) {
			best = p.snr_db;
			at = ldexp(g->scale, k);
		}
	}
	if (!now.known || !(now.snr_db < GOOD_DB) || !(best - now.snr_db > WORTH))
		return;
	struct finding *f = finding_add(l, node, fmin(1, pow(10, -now.snr_db / 10)));
	finding_say(f, "The file itself quantizes %s (%s) by %s with the scale %.4g, which %s: %.1f dB are left where %.4g would leave "
	    "%.1f dB.",
	    l->g->value[s->value].name, range_phrase(range, s), n->name, g->scale * g->finer, at > g->scale ? "clips it" : "is too coarse",
	    now.snr_db, at * g->finer, best);
	finding_advise(f, "start from the float model, or correct this scale in the file: what is lost here no edit brings back");
	finding_prove(f, "scale", g->scale * g->finer);
	finding_prove(f, "zero point", g->zero);
	finding_prove(f, "clipped share", now.clipped);
	finding_prove(f, "min", s->range.min);
	finding_prove(f, "max", s->range.max);
	finding_prove(f, "SNR dB", now.snr_db);
	finding_prove(f, "SNR dB with the best power of two of it", best);
	f->gain_db = best - now.snr_db;
}

// The input of a Concat that gets the fewest codes on the grid that the file puts behind it.
struct narrow {
	int value;                // -1: not known
	const struct site *site;  // NULL: it is in float
	double min, max, codes, widest, snr;
};

static void take_narrower(struct narrow *least, int value, const struct site *s, double min, double max, double scale)
{
	double codes = (max - min) / scale;
	least->widest = fmax(least->widest, codes);
	if (codes > 0 && codes < least->codes)
		*least = (struct narrow){value, s, min, max, codes, least->widest, NAN};
}

// A tensor in float has no histogram, but scores lie in 0 .. 1 whatever the samples:
// on a coarser step than that all are 0 or 1.
static bool is_score_in_float(const struct look *l, int value)
{
	int p = l->g->value[value_behind(l, value)].producer;
	return p >= 0 && (is_op(&l->g->node[p], OP_Sigmoid) || is_op(&l->g->node[p], OP_Softmax));
}

static struct narrow narrowest(const struct look *l, const struct node *concat, const struct file_grid *g)
{
	struct narrow least = {.value = -1, .codes = INFINITY};
	for (int i = 0; i < concat->n_in; i++) {
		const struct site *s = site_behind(l, concat->in[i]);
		if (s && s->hist_float)
			take_narrower(&least, s->value, s, s->range.min, s->range.max, g->scale);
		else if (is_score_in_float(l, concat->in[i]))
			take_narrower(&least, value_behind(l, concat->in[i]), NULL, 0, 1, g->scale);
		else
			least.widest = fmax(least.widest, (double)(g->qmax - g->qmin)); // whose grid it is
	}
	if (least.site) {
		struct prediction p = predict(least.site->hist_float, g, g->scale);
		least.snr = p.known ? p.snr_db : NAN;
	} else if (least.codes < 1) {
		least.snr = 0;
	}
	return least;
}

// Scores beside boxes: the figures of the whole are good, since the boxes outweigh all else.
static void joined(struct look *l, int node, int concat, const struct file_grid *g)
{
	char range[RANGE_TEXT];
	const struct node *n = &l->g->node[node], *joint = &l->g->node[concat];
	struct narrow least = narrowest(l, joint, g);
	if (least.value < 0 || !is_lost_in_joint(least.codes, least.widest, least.snr))
		return;
	struct finding *f = finding_add(l, node, fmin(1, pow(10, -least.snr / 10)));
	finding_about(f, concat);
	finding_say(f, "The file itself quantizes what %s joins by %s with the scale %.4g: %.1f codes are left to %s (%s), %.1f dB.",
	    joint->name, n->name, g->scale * g->finer, least.codes, l->g->value[least.value].name,
	    range_text(range, least.min, least.max, " .. "), shown_db(least.snr));
	finding_advise(f, "start from the float model and keep this Concat and what follows it in float: what is lost here no edit brings back");
	finding_prove(f, "scale", g->scale * g->finer);
	finding_prove(f, "codes of the narrow input", least.codes);
	finding_prove(f, "codes of the widest input", least.widest);
	finding_prove(f, "SNR dB of the narrow input", shown_db(least.snr));
}

void rule_file_quantizer(struct look *l)
{
	for (int node = 0; node < l->g->n_nodes; node++) {
		const struct node *n = &l->g->node[node];
		struct file_grid g;
		if (!is_op(n, OP_QuantizeLinear) || !file_grid_read(&g, l->g, n))
			continue;
		const struct site *s = site_of(l, n->in[0]);
		int producer = l->g->value[n->in[0]].producer;
		if (s && s->hist_float)
			lossy(l, node, s, &g);
		if (producer >= 0 && is_op(&l->g->node[producer], OP_Concat))
			joined(l, node, producer, &g);
	}
}
