// A range that is too small clips what lies beyond it. Widening is offered only where it is worth more
// than the resolution that it costs, to all elements by their energy and to those within the range too:
// where few large values stand beside many small ones (an outlying channel), energy speaks for the large ones alone,
// and the network's outputs do not agree with it. Of probabilities the upper end counts:
// detections that are clipped to the same score cannot be told apart.
// Of what a Log reads small elements count as much as large ones.
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "../measure/divisors.h"
#include "rule.h"

static const double SHARE = 0.001, GOOD_DB = 24;
static const double WORTH = 3; // dB: half a bit
static const double POOR_TERM_DB = 15; // of what an operator reads
static const double MOSTLY = 0.05;     // share of a term that is cut off: more than a few outliers
static const double FAR = 1.25; // the largest probability over the upper end of the range

struct clipping {
	double share, now, better, offer, gain; // share of elements, dB, dB, scale, dB of the node
};

// A calibrator's range holds what it takes for the tensor; one set by hand says nothing of it,
// and would grow with each wider scale.
static bool keeps_rest(const struct look *l, const struct site *s, double scale)
{
	double now = s->scale[0];
	return s->locked ? keeps_most(l, s, scale) : keeps_inner(l, s, site_lower_end(s, now), site_upper_end(s, now), scale);
}

static struct clipping look_at(const struct look *l, const struct site *s)
{
	struct prediction p = study_predict_scale(l->s, site_index(l, s), s->scale[0], ZERO_FOLLOWS);
	struct clipping c = {p.clipped, p.known ? p.snr_db : NAN, p.known ? p.snr_db : NAN, s->scale[0], 0};
	for (int k = 1; p.known && k <= (s->bits > 8 ? 12 : 4); k++) { // a calibrator may cut the range of 16 bit much shorter
		double scale = ldexp(s->scale[0], k), try = predicted_snr(l, s, scale);
		if (try > c.better && keeps_rest(l, s, scale)) {
			c.better = try;
			c.offer = scale;
		}
	}
	c.gain = predicted_gain(l, s, c.offer);
	return c;
}

// A divisor, or what a Log reads, is computed from it: of that each element counts by its own size, not by the tensor's energy.
static bool counts_by_ratio(const struct look *l, const struct site *s)
{
	bool *takes = xcalloc((size_t)l->g->n_nodes + 1, sizeof *takes);
	for (int n = 0; n < l->g->n_nodes; n++)
		if (divisor_of(l->g, n) >= 0) {
			bool own = takes[n];
			divisor_mark(takes, l->g, n, divisor_of(l->g, n));
			takes[n] = own; // its own result is another matter
		}
	const bool counts = takes[s->node];
	free(takes);
	return counts;
}

// More elements round to 0 on the wider scale than are clipped on this one.
static bool loses_small(const struct site *s, const struct clipping *c)
{
	const double now = s->scale[0] / 2, then = c->offer / 2;
	return s->hist_float && hist_share(s->hist_float, -then, then) - hist_share(s->hist_float, -now, now) > c->share;
}

static bool is_harmed(const struct look *l, const struct site *s, const struct clipping *c)
{
	if (!(c->gain > WORTH) || !(c->now < GOOD_DB) || (loses_small(s, c) && counts_by_ratio(l, s)))
		return false;
	return c->share > SHARE || (is_probability(l, s) && s->range.max > FAR * site_upper_end(s, s->scale[0]));
}

static bool multiplies_gate(const struct look *l, const struct node *mul, int value)
{
	for (int i = 0; i < mul->n_in; i++) {
		int p = mul->in[i] >= 0 ? l->g->value[mul->in[i]].producer : -1;
		if (p >= 0 && is_op(&l->g->node[p], OP_Sigmoid) && l->g->node[p].in[0] == value)
			return true;
	}
	return false;
}

// Whether all that reads the value makes nothing of what lies far below zero.
static bool is_flattened(const struct look *l, int value)
{
	static const enum op_id flat[] = {OP_Relu, OP_Sigmoid, OP_Clip, OP_HardSigmoid, OP_HardSwish};
	const struct value *v = &l->g->value[value];
	bool all = v->n_consumers > 0 && !v->is_output;
	for (int c = 0; c < v->n_consumers && all; c++) {
		const struct node *m = &l->g->node[v->consumer[c]];
		all = is_op(m, OP_Mul) && multiplies_gate(l, m, value);
		for (size_t i = 0; i < sizeof flat / sizeof *flat; i++)
			all |= is_op(m, flat[i]);
	}
	return all;
}

// The file quantizes it again: its range is that of file_quantizer.
static bool is_clipped_by_file(const struct look *l, int value)
{
	const struct value *v = &l->g->value[value];
	return v->n_consumers == 1 && is_op(&l->g->node[v->consumer[0]], OP_QuantizeLinear);
}

// A channel far wider than the others is most of the tensor's energy, and on a wider scale the others have fewer codes yet.
static bool has_outlier_channel(const struct look *l, const struct site *s)
{
	const struct value *v = &l->g->value[s->value];
	for (int c = 0; c < v->n_consumers; c++)
		if (is_explained(l, v->consumer[c], FINDING_outlier_channel))
			return true;
	return false;
}

static bool is_candidate(const struct look *l, const struct site *s)
{
	bool upper_only = (is_decision(l, s->value) && !is_probability(l, s)) || is_flattened(l, s->value);
	return site_has_scale(s) && (!upper_only || s->range.max > FAR * site_upper_end(s, s->scale[0])) &&
	    !is_clipped_by_file(l, s->value) && !was_measured(l, s) && !is_explained(l, s->node, FINDING_stale_override) &&
	    !is_explained(l, s->node, FINDING_postprocessing) && !has_outlier_channel(l, s);
}

static void prove_clipping(struct finding *f, double share, double scale, const struct tensor_range *r)
{
	finding_prove(f, "clipped share", share);
	finding_prove(f, "scale", scale);
	finding_prove(f, "min", r->min);
	finding_prove(f, "max", r->max);
}

static void clipped(struct look *l, const struct site *s, const struct clipping *c)
{
	char to[SCALE_TEXT], range[RANGE_TEXT];
	struct finding *f = finding_add(l, s->node, site_damage(s));
	if (s->kind == SITE_INPUT)
		finding_is_part(f, l, input_part(l, s));
	finding_say(f, "%.2f %% of %s (%s) lie beyond its codes (%.4g .. %.4g) and are clipped: its own grid leaves %.1f dB; %s would leave %.1f dB.",
	    100 * c->share, l->g->value[s->value].name, range_phrase(range, s), site_lower_end(s, s->scale[0]), site_upper_end(s, s->scale[0]),
	    c->now, scale_phrase(to, c->offer), c->better);
	finding_advise(f, "set the scale %s", to);
	prove_clipping(f, c->share, s->scale[0], &s->range);
	finding_prove(f, "SNR dB", c->now);
	finding_prove(f, "SNR dB with the offer", c->better);
	f->gain_db = c->gain;
	finding_scale(f, l, s, c->offer);
}

// ---- what the network is given

// Its noise goes through all of the network: more is asked of it than of a tensor inside. Once, where it is first
// quantized.
static const double GOOD_INPUT_DB = 30;

static bool is_given(const struct look *l, const struct site *s)
{
	return s->kind == SITE_INPUT && l->g->value[s->value].producer < 0 && site_of(l, s->value) == s && s->state == SLOT_ACTIVE &&
	    s->bits > 0 && s->n_scale == 1 && s->layerwise.known && s->hist_float && !s->locked;
}

static void clipped_input(struct look *l, const struct site *s)
{
	struct clipping c = look_at(l, s);
	struct error ignored;
	bool free = !l->bare || plan_check_scale(l->bare, s->value, c.offer, ZERO_FOLLOWS, false, &ignored) == STATUS_OK;
	if (c.share > SHARE && c.gain > WORTH && c.now < GOOD_INPUT_DB && free)
		clipped(l, s, &c);
}

// ---- terms that an operator reads on the grid of its result

struct term {
	int input;
	double share, snr; // of its elements on that grid, dB
};

static const struct site *input_site(const struct look *l, int node, int value)
{
	const struct node_row *row = &l->s->row[node];
	for (int i = row->first_site; i < row->first_site + row->n_sites; i++)
		if (l->s->site[i].kind == SITE_INPUT && l->s->site[i].value == value)
			return &l->s->site[i];
	return NULL;
}

// From the tensor's histogram, else (where it is quantized for this node alone) from its figures and range:
// on a wider grid the noise is that of rounding, and at most what its farthest element loses. False: not known.
static bool read_term(struct term *t, const struct look *l, const struct site *y, int value, double scale)
{
	const struct site *x = site_of(l, value), *own = input_site(l, y->node, value);
	const struct metrics *m = own ? &own->layerwise.pooled : NULL;
	if (x && x->hist_float) {
		struct prediction p = hist_predict(x->hist_float, scale, y->zero ? y->zero[0] : 0, y->qmin, y->qmax);
		t->share = p.clipped;
		t->snr = p.snr_db;
		return p.known;
	}
	if (!own || !own->layerwise.known || !own->range.n || !(m->nsr > 0))
		return false;
	bool now = scale == (double)y->scale[0];
	double excess = fmax(own->range.max - site_upper_end(y, scale), site_lower_end(y, scale) - own->range.min);
	double noise = scale * scale / 12 + pow(fmax(excess - scale / 2, 0), 2);
	t->share = now ? own->graphwise.pooled.clipped : 0;
	t->snr = now ? figures_snr(&own->layerwise) : 10 * log10(m->mse / m->nsr / noise);
	return true;
}

static struct term poorest_term(const struct look *l, const struct site *y, double scale)
{
	const struct node *n = &l->g->node[y->node];
	struct term poorest = {.input = -1, .snr = INFINITY};
	for (int i = 0; i < n->n_in; i++) {
		struct term t = {.input = i};
		bool shares =
		    n->in[i] >= 0 && input_step(l, y->node, i) == (double)y->scale[0] && plan_in(l->plan, y->node, i)->state != SLOT_ACTIVE;
		if (shares && read_term(&t, l, y, n->in[i], scale) && t.snr < poorest.snr)
			poorest = t;
	}
	return poorest;
}

// What terms lose where they are made: the target gives them the scale of their sum there, so a better one takes it away too.
static double lost_by_terms(const struct look *l, const struct site *y)
{
	const struct node *n = &l->g->node[y->node];
	double lost = 0;
	bool given = l->plan && !strcmp(target_alignment(l->plan->target, n->op->name), "to_output");
	for (int i = 0; given && i < n->n_in; i++) {
		const struct site *x = n->in[i] < 0 ? NULL : site_of(l, n->in[i]);
		bool again = false; // x + x
		for (int k = 0; k < i; k++)
			again |= n->in[k] == n->in[i];
		if (!again && x && x->kind == SITE_OUTPUT && x->n_scale == 1 && x->scale[0] == y->scale[0])
			lost += l->made[n->in[i]];
	}
	return lost;
}

static void clipped_term(struct look *l, const struct site *y, const struct term *now, const struct term *then, double offer)
{
	char range[RANGE_TEXT];
	int node = y->node;
	const struct node *n = &l->g->node[node];
	const struct site *own = input_site(l, node, n->in[now->input]), *x = own ? own : site_of(l, n->in[now->input]);
	char to[SCALE_TEXT];
	struct finding *f = finding_add(l, node, fmin(1, pow(10, -now->snr / 10)));
	finding_say(f,
	    "%s reads %s (%s) on the scale of its result, whose codes end at %.4g and %.4g: %.2f %% of it are clipped, %.1f dB are left; "
	    "%s would leave %.1f dB.",
	    n->name, l->g->value[x->value].name, range_phrase(range, x), site_lower_end(y, y->scale[0]), site_upper_end(y, y->scale[0]),
	    100 * now->share, now->snr, scale_phrase(to, offer), then->snr);
	finding_advise(f, "set the scale %s, which result and terms share", to);
	prove_clipping(f, now->share, y->scale[0], &x->range);
	f->reach += lost_by_terms(l, y);
	finding_prove(f, "SNR dB of the term", now->snr);
	finding_prove(f, "SNR dB of the term with the offer", then->snr);
	finding_scale(f, l, y, offer);
}

// A difference is smaller than its terms (x - mean of x, in a layer normalization):
// where the target has terms read on the scale of the result, the range that the calibrator chose
// for that one cuts them off, and no figure of any output shows it.
static void clipped_terms(struct look *l, const struct site *y)
{
	double offer = 0;
	struct term now = poorest_term(l, y, y->scale[0]), best = now;
	if (now.input < 0 || !(now.share > SHARE) || !(now.snr < POOR_TERM_DB))
		return;
	for (int k = 1; k <= 4; k++) {
		double scale = ldexp(y->scale[0], k);
		struct term t = poorest_term(l, y, scale);
		bool gains = t.input >= 0 && t.snr > best.snr + WORTH && predicted_snr(l, y, scale) > site_snr(y) + WORTH;
		if (gains && (now.share > MOSTLY || keeps_most(l, y, scale))) {
			best = t;
			offer = scale;
		}
	}
	if (offer > 0)
		clipped_term(l, y, &now, &best, offer);
}

void rule_saturation(struct look *l)
{
	for (int i = 0; i < l->s->n_sites; i++) {
		const struct site *s = &l->s->site[i];
		if (is_given(l, s))
			clipped_input(l, s);
		if (!is_candidate(l, s))
			continue;
		struct clipping c = look_at(l, s);
		if (is_harmed(l, s, &c))
			clipped(l, s, &c);
	}
	for (int i = 0; i < l->s->n_sites && l->plan; i++) {
		const struct site *s = &l->s->site[i];
		if (site_has_scale(s) && !was_measured(l, s) && !is_explained(l, s->node, FINDING_stale_override) &&
		    !is_explained(l, s->node, FINDING_saturation))
			clipped_terms(l, s);
	}
}
