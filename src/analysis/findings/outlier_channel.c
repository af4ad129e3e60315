// One channel of an activation reaches much farther than the others and sets the range for all, which get a few codes.
// Its own energy hides that in the figures of the tensor; whoever reads it with weights as much smaller loses the rest.
// Figures know no channels: the weights on both sides of the tensor name it, the histogram says how little is left.
#include <math.h>
#include "qtui/analysis/channels.h"
#include "qtui/engine/equalize.h"
#include "rule.h"

static const double POOR_DB = 20;
// Times the median channel. Readers alone may ignore a channel that is like the others: five bits in place of three.
static const double FAR = 8, FAR_BY_READERS = 32;
enum { FEW_CODES = 24 };

// How far from 0 all but one channel's share of the elements lie.
static double inner_reach(const struct site *x, int64_t channels)
{
	enum { HALVINGS = 12 };
	double low = 0, high = fmax(fabs((double)x->range.min), fabs((double)x->range.max));
	for (int i = 0; i < HALVINGS; i++) {
		double middle = (low + high) / 2;
		if (hist_share(x->hist_float, -middle, middle) < 1 - 1 / (double)channels)
			low = middle;
		else
			high = middle;
	}
	return high;
}

static bool is_far(const struct equalize_outlier *c)
{
	return c->maker >= 0 ? fmin(c->front, c->behind) > FAR : c->behind > FAR_BY_READERS;
}

static bool is_poor_reader(const struct look *l, int node)
{
	const struct site *y = snapshot_output(l->s, node);
	return is_weighted(&l->g->node[node]) && y && y->bits == 8 && y->layerwise.known && site_snr(y) < POOR_DB;
}

// A scale for each row of its own is no worse for a column that is small in all of them.
static bool has_row_scales(const struct look *l, int node)
{
	for (int i = 0; i < l->s->n_sites; i++)
		if (l->s->site[i].kind == SITE_WEIGHT && l->s->site[i].node == node && l->s->site[i].value == l->g->node[node].in[1])
			return l->s->site[i].n_scale > 1;
	return false;
}

// The producer of what reaches farthest of what the node reads; -1: none.
static int widest_producer(const struct look *l, int node)
{
	const struct node *n = &l->g->node[node];
	const struct site *widest = NULL;
	for (int i = 0; i < n->n_in; i++) {
		const struct site *s = site_of(l, n->in[i]);
		if (s && s->kind == SITE_OUTPUT && (!widest || site_span(s) > site_span(widest)))
			widest = s;
	}
	return widest ? widest->node : -1;
}

// More bits for the reader and what the channel comes through. The weights that make it are in the region of the last.
static bool widen(struct finding *f, const struct look *l, int node)
{
	enum { LONGEST = 8 };
	int chain[LONGEST] = {node}, n = 1;
	for (int up = widest_producer(l, node); up >= 0 && up < chain[n - 1] && n < LONGEST && !is_weighted(&l->g->node[up]);
	     up = widest_producer(l, up))
		chain[n++] = up;
	bool has_16 = can_widen_weights(l, node) || (can_widen(l, node) && has_row_scales(l, node));
	return finding_set_chain(f, l, chain, n, has_16 ? PREC_INT16 : PREC_FLOAT);
}

static void advise(struct finding *f, const struct look *l, int node, const struct equalize_outlier *c)
{
	const char *name = l->g->node[node].name, *sums = c->sums ? " sums" : "", *option = c->sums ? " --sums" : "";
	if (widen(f, l, node) && c->maker < 0)
		finding_advise(f, "give %s and what makes its input more bits", name);
	else if (c->maker >= 0)
		finding_advise(f, "equalize it, which costs nothing: :equalize FILE%s (qtui equalize MODEL%s)%s%s%s", sums, option,
		    f->edit ? "; or give " : "", f->edit ? name : "", f->edit ? " and what makes its input more bits" : "");
}

static void speak(struct look *l, int node, const struct site *x, const struct equalize_outlier *c, double inner)
{
	char range[RANGE_TEXT];
	const struct node *n = &l->g->node[node];
	const struct site *y = snapshot_output(l->s, node);
	struct finding *f = finding_add(l, node, site_damage(y));
	double codes = inner / (double)x->scale[0];
	if (c->maker >= 0)
		finding_about(f, l->g->value[c->value].producer);
	finding_say(f,
	    "Channel %lld of %s reaches about %.0f times as far as the median of its %lld channels and sets the range %s: %.1f codes from 0 "
	    "hold what the others have, and %s, whose weights are as much smaller there, keeps %.1f dB.",
	    (long long)c->channel, l->g->value[c->value].name, c->maker >= 0 ? c->front : c->behind, (long long)c->channels,
	    range_phrase(range, x), codes, n->name, site_snr(y));
	finding_prove(f, "channel", (double)c->channel);
	finding_prove(f, "channels", (double)c->channels);
	finding_prove(f, "weights in front / median", c->front);
	finding_prove(f, "median / weights behind", c->behind);
	finding_prove(f, "codes of the others", codes);
	finding_prove(f, "max", x->range.max);
	finding_prove(f, "SNR dB of the reader", site_snr(y));
	advise(f, l, node, c);
}

void rule_outlier_channel(struct look *l)
{
	struct equalize_fronts *fronts = NULL; // found where somebody asks
	for (int node = 0; node < l->g->n_nodes; node++) {
		struct equalize_outlier c;
		if (!is_poor_reader(l, node))
			continue;
		fronts = fronts ? fronts : equalize_fronts_new(l->g);
		if (!equalize_outlier(&c, fronts, node) || !is_far(&c))
			continue;
		const struct site *x = site_of(l, c.value);
		if (!x || x->bits != 8 || x->n_scale != 1 || !x->hist_float || x->range.n == 0 || is_explained(l, x->node, FINDING_outlier_range))
			continue;
		double inner = inner_reach(x, c.channels);
		if (inner < FEW_CODES * (double)x->scale[0])
			speak(l, node, x, &c, inner);
	}
	equalize_fronts_free(&fronts);
}
