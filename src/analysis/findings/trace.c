// Where the noise at the network's outputs arose. It is followed upwards:
// of the noise that a tensor has, its node's own figure says how much arose there;
// the rest came with what the node reads, and is shared out by the noise of these. So everything is accounted for once,
// and what a network swallows on the way (means, saturated activations, small terms of a sum) is held against nobody.
#include <math.h>
#include <stdlib.h>
#include "../repair/repair_impl.h"
#include "rule.h"

struct trace {
	const struct look *l;
	double *has;   // [n_values] noise over signal, everything quantized; what has no figure has that of what it is made of. Behind a
	               // selection by value figures compare different elements: there it is added up from what nodes make alone
	double *flows; // [n_values] what of it reaches the outputs
	double *made;  // [n_values] what of that arose where the value is made
};

static double noise_of(const struct figures *f)
{
	return f->known && !f->pooled.exact && isfinite(f->pooled.nsr) ? f->pooled.nsr : 0;
}

// The noise that the node makes where it makes the value.
static double own_noise(const struct trace *t, int value)
{
	const struct site *s = site_of(t->l, value);
	bool makes = s && s->kind == SITE_OUTPUT && !only_moves(t->l, s->node);
	return makes ? noise_of(&s->layerwise) : 0;
}

static double worst_read(const struct trace *t, const struct node *n)
{
	double worst = 0;
	for (int i = 0; i < n->n_in; i++)
		if (n->in[i] >= 0 && t->has[n->in[i]] > worst)
			worst = t->has[n->in[i]];
	return worst;
}

static void take_figures(struct trace *t)
{
	const struct snapshot *s = t->l->s;
	const struct graph *g = s->g;
	for (int v = 0; v < g->n_values; v++)
		t->has[v] = NAN;
	for (int i = 0; i < s->n_sites; i++)
		if (s->site[i].kind != SITE_WEIGHT && s->site[i].graphwise.known &&
		    (site_is_made(&s->site[i]) || isnan(t->has[s->site[i].value])))
			t->has[s->site[i].value] = noise_of(&s->site[i].graphwise);
	for (int o = 0; o < g->n_outputs; o++)
		if (s->output[o].known)
			t->has[g->output[o]] = noise_of(&s->output[o]);
}

static void find_noise(struct trace *t)
{
	const struct graph *g = t->l->g;
	bool *behind = points_behind(g);
	take_figures(t);
	for (int n = 0; n < g->n_nodes; n++) {
		double worst = worst_read(t, &g->node[n]);
		for (int o = 0; o < g->node[n].n_out; o++) {
			int v = g->node[n].out[o];
			if (v >= 0 && (behind[v] || isnan(t->has[v])))
				t->has[v] = worst + (behind[v] ? own_noise(t, v) : 0);
		}
	}
	free(behind);
}

static bool is_sum(const struct node *n)
{
	return is_op(n, OP_Add) || is_op(n, OP_Sub) || is_op(n, OP_Sum);
}

// Signal of an input, to which its noise over signal is relative, beside the other inputs
// of a sum or a joint; NAN: not known.
static double signal_of(const struct trace *t, const struct node *n, int value)
{
	const struct site *s = site_of(t->l, value);
	const struct metrics *m = s && s->graphwise.known ? &s->graphwise.pooled : NULL;
	double power = m && m->nsr > 0 ? m->mse / m->nsr : NAN;
	if (is_op(n, OP_Concat))
		return power * (double)shape_count(&t->l->g->value[value].shape);
	return is_sum(n) ? power : 1;
}

// An input that noise comes from.
static bool is_read(const struct trace *t, int value)
{
	return value >= 0 && t->l->g->value[value].type == DT_F32 && t->has[value] > 0;
}

// The noise over signal that sums and joints have from their inputs; NAN: not known, or another operator.
static double read_noise(const struct trace *t, const struct node *n, int value)
{
	double signal = signal_of(t, n, value), noise = 0;
	for (int i = 0; i < n->n_in; i++)
		if (is_read(t, n->in[i]))
			noise += t->has[n->in[i]] * signal_of(t, n, n->in[i]);
	return is_sum(n) || is_op(n, OP_Concat) ? noise / signal : NAN;
}

// Of the noise of a tensor the share that arose there: what its node's own figure says, but no more than what a sum has
// beyond the noise of its terms. Where terms are clipped, and their sum would be, mending the sum alone brings nothing.
static double own_share(const struct trace *t, const struct node *n, int value)
{
	double own = own_noise(t, value), all = t->has[value], beyond = all - read_noise(t, n, value);
	if (isfinite(beyond))
		own = fmin(own, fmax(beyond, 0));
	return all > own ? own / all : own > 0;
}

// Shares out among the inputs of the node what did not arise there. False: none of them has noise.
static bool pass_on(struct trace *t, const struct node *n, double flow)
{
	double sum = 0, plain = 0;
	for (int i = 0; i < n->n_in; i++)
		if (is_read(t, n->in[i])) {
			plain += t->has[n->in[i]];
			sum += t->has[n->in[i]] * signal_of(t, n, n->in[i]);
		}
	bool known = isfinite(sum) && sum > 0;
	for (int i = 0; i < n->n_in && plain > 0; i++)
		if (is_read(t, n->in[i]))
			t->flows[n->in[i]] += flow * t->has[n->in[i]] * (known ? signal_of(t, n, n->in[i]) / sum : 1 / plain);
	return plain > 0;
}

static void follow(struct trace *t)
{
	const struct graph *g = t->l->g;
	for (int n = g->n_nodes - 1; n >= 0; n--) {
		const struct node *node = &g->node[n];
		const struct site *lost = lost_divisor(t->l, n);
		for (int o = 0; o < node->n_out; o++) {
			int v = node->out[o];
			double own = v >= 0 ? t->flows[v] * own_share(t, node, v) : 0, rest = v >= 0 ? t->flows[v] - own : 0;
			if (v < 0)
				continue;
			t->made[v] += own;
			if (lost) // hardly any noise where it is lost, and no number here
				t->made[lost->value] += rest;
			else if (rest > 0 && !pass_on(t, node, rest))
				t->made[v] += rest;
		}
	}
}

// ---- what the trace begins with

// Where a joint with wider tensors is an output, its figures show those alone: scores beside boxes.
// So its inputs are results, each for itself.
static bool *find_results(const struct graph *g)
{
	bool *is = xcalloc((size_t)g->n_values + 1, sizeof *is);
	for (int i = 0; i < g->n_outputs; i++)
		is[g->output[i]] = true;
	for (int n = g->n_nodes - 1; n >= 0; n--) {
		const struct node *node = &g->node[n];
		bool joint = is_op(node, OP_Concat);
		if (!(joint || is_mover(node)) || node->out[0] < 0 || !is[node->out[0]])
			continue;
		is[node->out[0]] = false;
		for (int i = 0; i < (joint ? node->n_in : 1); i++)
			is[node->in[i]] = true;
	}
	return is;
}

// Of outputs, and of what a selection by value reads of the network before it, each counts as much.
static void begin(struct trace *t, struct results *r)
{
	const struct graph *g = t->l->g;
	int points = 0;
	struct point *p = points_find(g, &points);
	bool *is = find_results(g);
	*r = (struct results){0};
	for (int i = 0; i < points; i++)
		is[p[i].value] |= !g->value[p[i].value].is_output;
	for (int v = 0; v < g->n_values; v++)
		r->n += is[v] && g->value[v].type == DT_F32;
	r->n += r->n == 0; // nothing that has a figure: no noise, and no division by none
	for (int v = 0; v < g->n_values; v++)
		if (is[v] && g->value[v].type == DT_F32 && !isnan(t->has[v])) {
			t->flows[v] = fmin(1, t->has[v]) / r->n;
			r->noise += t->flows[v];
		}
	free(is);
	free(p);
}

double *trace_noise(const struct look *l, struct results *r)
{
	const struct graph *g = l->g;
	size_t n = (size_t)g->n_values + 1;
	struct trace t = {.l = l, .has = xcalloc(n, sizeof *t.has), .flows = xcalloc(n, sizeof *t.flows), .made = xcalloc(n, sizeof *t.made)};
	find_noise(&t);
	begin(&t, r);
	follow(&t);
	free(t.has);
	free(t.flows);
	return t.made;
}

// As noise over signal passes through a node; a sum has the noise of its terms.
double input_part(const struct look *l, const struct site *input)
{
	const struct site *y = snapshot_output(l->s, input->node);
	const struct metrics *in = &input->layerwise.pooled, *out = y ? &y->layerwise.pooled : in;
	bool sum = is_sum(&l->g->node[input->node]);
	double own = sum ? in->mse : in->nsr, all = sum ? out->mse : out->nsr;
	return all > own ? own / all : 1;
}

double node_made(const struct look *l, int node)
{
	const struct site *s = snapshot_output(l->s, node);
	return s && s->value >= 0 ? l->made[s->value] : 0;
}
