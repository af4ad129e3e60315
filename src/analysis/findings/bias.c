// A bias is an integer in units of input step times weight step, or what the target says:
// it can be too large for its bits, or so small against its unit that it vanishes.
#include <math.h>
#include "rule.h"

static const double GOOD_DB = 25;

struct bias {
	int64_t n, over, lost;
	double worst, step; // the largest code, the largest unit
	double mse;         // of what rounding and clipping move
};

static double unit(const struct site *s, int64_t channel)
{
	return s->scale[s->n_scale == 1 ? 0 : channel < s->n_scale ? channel : s->n_scale - 1];
}

// Only what moves by more than half an output step is a loss: a dead channel's bias may overflow without harm.
static struct bias measure(const struct look *l, const struct site *s, double y_step)
{
	const struct tensor *t = l->g->value[s->value].constant;
	struct bias b = {.n = tensor_count(t)};
	const float *x = t->data;
	for (int64_t i = 0; i < b.n; i++) {
		double u = unit(s, i), code = fabs(x[i]) / u, kept = fmin(rint(code), (double)s->qmax) * u;
		double moved = fabs(kept - fabs(x[i]));
		b.mse += moved * moved / (double)b.n;
		if (!(moved > y_step / 2))
			continue;
		b.over += code > (double)s->qmax;
		b.lost += code <= (double)s->qmax;
		b.worst = fmax(b.worst, code);
		b.step = fmax(b.step, u);
	}
	return b;
}

// With a step to spare: scales of 16 bit follow their ranges anew.
static bool fits_at_16(const struct look *l, const struct site *s, const struct bias *b)
{
	int room = l->bare ? target_bias_room(l->bare->target) : -1;
	return room > 0 && can_widen(l, s->node) && ldexp(b->worst, 1 - room) <= (double)s->qmax;
}

static void speak(struct look *l, const struct site *s, const struct bias *b, double y_step)
{
	const struct site *y = snapshot_output(l->s, s->node);
	bool exact;
	double part = bias_part(l, s->node, &exact);
	struct finding *f = finding_add(l, s->node, part * site_damage(y));
	finding_is_part(f, l, part);
	const char *name = l->g->value[s->value].name;
	if (b->over > 0)
		finding_say(f, "%lld of %lld elements of %s do not fit its %d bits: the largest needs the code %.4g.", (long long)b->over,
		    (long long)b->n, name, s->bits, b->worst);
	else
		finding_say(f, "%lld of %lld elements of %s move by more than half an output step when rounded to their unit %.4g.",
		    (long long)b->lost, (long long)b->n, name, b->step);
	finding_prove(f, "elements", (double)b->n);
	finding_prove(f, "overflowing", (double)b->over);
	finding_prove(f, "rounded away", (double)b->lost);
	finding_prove(f, "unit", b->step);
	finding_prove(f, "output step", y_step);
	finding_prove(f, "largest code", b->worst);
	finding_prove(f, "SNR dB", site_snr(y));
	// At 16 bit the unit shrinks, mostly faster than the accumulator grows:
	// that helps what rounds away, but seldom what overflows (20 bits become 40 on an ESP32-S3).
	if (b->over > 0 && fits_at_16(l, s, b) && finding_set(f, l, &s->node, 1, PREC_INT16))
		finding_advise(f, "give %s more bits: its bias has more room there", l->g->node[s->node].name);
	else if (b->over > 0 && finding_set(f, l, &s->node, 1, PREC_FLOAT))
		finding_advise(f, "run %s in float; channels with such weights are pruned: their bias could move into the next node",
		    l->g->node[s->node].name);
	else if (b->over == 0 && finding_widen_region(f, l, s->node))
		finding_advise(f, "give %s more bits: the unit of its bias gets finer with them", l->g->node[s->node].name);
}

// The site of the bias of a node with weights; NULL: it has none, or it is computed.
static const struct site *bias_site(const struct look *l, int node)
{
	const struct node *n = &l->g->node[node];
	const struct node_row *row = &l->s->row[node];
	const struct tensor *t = n->n_in > 2 && n->in[2] >= 0 ? l->g->value[n->in[2]].constant : NULL;
	if (!is_weighted(n) || !t || t->type != DT_F32)
		return NULL;
	for (int i = row->first_site; i < row->first_site + row->n_sites; i++)
		if (l->s->site[i].kind == SITE_WEIGHT && l->s->site[i].value == n->in[2])
			return &l->s->site[i];
	return NULL;
}

// Every channel has as many elements, so that the noise of the bias is there what it is in the bias. An activation takes
// some of it away, and never adds to it.
double bias_part(const struct look *l, int node, bool *exact)
{
	const struct site *s = bias_site(l, node), *y = snapshot_output(l->s, node);
	double mse = s ? measure(l, s, 0).mse : 0, all = y ? y->layerwise.pooled.mse : 0;
	*exact = y && y->value == l->g->node[node].out[0] && all > 0;
	return mse < all ? mse / all : mse > 0;
}

void rule_bias(struct look *l)
{
	for (int i = 0; i < l->g->n_nodes; i++) {
		const struct site *s = bias_site(l, i), *y = snapshot_output(l->s, i);
		if (!s || !y || y->n_scale != 1 || !(site_snr(y) < GOOD_DB) || is_explained(l, i, FINDING_outlier_channel))
			continue;
		double y_step = y->scale[0];
		struct bias b = measure(l, s, y_step);
		if (b.over > 0 || b.lost * 10 > b.n)
			speak(l, s, &b, y_step);
	}
}
