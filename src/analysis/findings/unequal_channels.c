// One scale for a weight whose channels differ: the small channels get a handful of codes
// (depthwise convolutions most of all).
#include <math.h>
#include <stdlib.h>
#include "qtui/analysis/channels.h"
#include "qtui/base/order.h"
#include "qtui/engine/equalize.h"
#include "rule.h"

static const double SHARE = 0.1, GOOD_DB = 20;

struct reaches {
	int64_t n, poor;
	double top, median;
};

static bool measure(struct reaches *out, const struct tensor *w, const struct channel_split *split, double scale)
{
	double *top = split->n > 0 ? mem_try_array((size_t)split->n, sizeof *top) : NULL;
	if (!top)
		return false;
	channel_reach(top, split, w);
	*out = (struct reaches){.n = split->n};
	qsort(top, (size_t)out->n, sizeof *top, order_doubles);
	out->top = top[out->n - 1];
	out->median = top[out->n / 2];
	for (int64_t c = 0; c < out->n; c++)
		out->poor += top[c] > CHANNEL_DEAD_SHARE * out->top && top[c] / scale < CHANNEL_FEW_CODES;
	free(top);
	return true;
}

static void unequal(struct look *l, const struct site *s, const struct reaches *c, bool equal)
{
	const struct node *n = &l->g->node[s->node];
	const struct site *y = snapshot_output(l->s, s->node);
	bool exact;
	double rest = 1 - bias_part(l, s->node, &exact); // a bias that overflows explains what it does by itself
	rest = exact ? rest : 1;
	struct finding *f = finding_add(l, s->node, y ? rest * site_damage(y) : site_damage(s));
	finding_is_part(f, l, rest);
	finding_say(f,
	    "%lld of %lld channels of %s have fewer than %d codes on its one scale: their median is %.3g times smaller than the largest.",
	    (long long)c->poor, (long long)c->n, l->g->value[s->value].name, CHANNEL_FEW_CODES, c->top / fmax(c->median, 1e-30));
	finding_prove(f, "channels", (double)c->n);
	finding_prove(f, "channels with few codes", (double)c->poor);
	finding_prove(f, "largest / median", c->top / c->median);
	finding_prove(f, "SNR dB of the weight", figures_snr(&s->graphwise));
	finding_prove(f, "equalizable", equal);
	if (finding_widen_weights(f, l, s->node))
		finding_advise(
		    f, "give %s more bits%s", n->name, equal ? ", or equalize it with its neighbours: :equalize FILE (qtui equalize)" : "");
}

void rule_unequal_channels(struct look *l)
{
	bool *reached = NULL; // found when it is first asked for
	int *axes = channel_axes(l->g);
	for (int i = 0; i < l->s->n_sites; i++) {
		const struct site *s = &l->s->site[i], *y = snapshot_output(l->s, s->node);
		const struct node *n = &l->g->node[s->node];
		const struct tensor *w = l->g->value[s->value].constant;
		struct reaches c;
		if (s->kind != SITE_WEIGHT || s->bits != 8 || s->n_scale != 1 || !is_weighted(n) || n->n_in < 2 || n->in[1] != s->value)
			continue;
		if (!w || w->type != DT_F32 || w->shape.rank < 2 || (y && site_snr(y) > GOOD_DB))
			continue;
		struct channel_split split = channel_split_constant(l->g, axes, s->node, 1);
		if (!measure(&c, w, &split, s->scale[0]) || (double)c.poor <= SHARE * (double)c.n)
			continue;
		reached = reached ? reached : equalize_reaches(l->g);
		unequal(l, s, &c, reached[s->node]);
	}
	free(reached);
	free(axes);
}
