// What rules ask of a snapshot.
#include <math.h>
#include "qtui/analysis/logits.h"
#include "qtui/base/mem.h"
#include "../study/study_impl.h"
#include "rule.h"

enum { LONGEST_TAIL = 8, NO_DECISION };

bool is_op(const struct node *n, enum op_id id)
{
	return n->op->id == id;
}

bool is_weighted(const struct node *n)
{
	return (n->op->flags & OPF_WEIGHTED) || is_op(n, OP_ConvInteger) || is_op(n, OP_MatMulInteger) || is_op(n, OP_QLinearConv) ||
	    is_op(n, OP_QLinearMatMul) || is_op(n, OP_MatMulIntegerToFloat);
}

bool is_mover(const struct node *n)
{
	return (n->op->flags & (OPF_MOVES | OPF_VIEW)) && !is_op(n, OP_Concat) && !is_op(n, OP_MaxPool);
}

bool is_cast(const struct slot *s)
{
	return slot_quantizes(s) && (s->quant.kind == QUANT_FP16 || s->quant.kind == QUANT_BF16);
}

const struct site *site_of(const struct look *l, int value)
{
	return value >= 0 ? l->at[value] : NULL;
}

int value_behind(const struct look *l, int value)
{
	for (int p = l->g->value[value].producer; p >= 0; p = l->g->value[value].producer) {
		const struct node *n = &l->g->node[p];
		if (!is_op(n, OP_QuantizeLinear) && !is_op(n, OP_DequantizeLinear))
			break;
		value = n->in[0];
	}
	return value;
}

const struct site *site_behind(const struct look *l, int value)
{
	const struct site *s = site_of(l, value);
	// What a DequantizeLinear writes may be quantized again for the joint: that site has no histogram.
	return s && s->hist_float ? s : site_of(l, value_behind(l, value));
}

bool is_lost_in_joint(double codes, double widest, double snr)
{
	enum { FEW_CODES = 16 };
	static const double POOR_DB = 15;
	return codes < FEW_CODES && widest > JOINT_MANY_CODES && snr < POOR_DB;
}

int site_index(const struct look *l, const struct site *s)
{
	return (int)(s - l->s->site);
}

bool site_has_scale(const struct site *s)
{
	return s->kind == SITE_OUTPUT && s->state == SLOT_ACTIVE && s->bits > 0 && s->n_scale == 1 && s->layerwise.known &&
	    s->hist_float;
}

bool site_is_free(const struct site *s)
{
	return site_has_scale(s) && s->bits == 8;
}

static const struct figures *own_figures(const struct site *s)
{
	return s->layerwise.known ? &s->layerwise : &s->graphwise;
}

double site_snr(const struct site *s)
{
	return figures_snr(own_figures(s));
}

double site_damage(const struct site *s)
{
	const struct figures *f = own_figures(s);
	double nsr = f->known && !f->pooled.exact ? f->pooled.nsr : 0;
	return nsr < 1 ? nsr : 1; // NaN (no signal at all) ranks first
}

double made_damage(const struct look *l, const struct site *s)
{
	double in_sums = snapshot_mean_in_sums(l->s, s);
	return isnan(in_sums) ? site_damage(s) : fmin(in_sums, 1);
}

bool only_moves(const struct look *l, int node)
{
	const struct node *n = &l->g->node[node];
	double step = output_step(l, node);
	bool moves = (n->op->flags & (OPF_MOVES | OPF_VIEW)) && step > 0;
	for (int i = 0; moves && i < n->n_in; i++) {
		const struct value *v = n->in[i] >= 0 ? &l->g->value[n->in[i]] : NULL;
		const struct site *s = site_of(l, n->in[i]);
		if (v && v->type == DT_F32 && !v->constant)
			moves = s && s->n_scale == 1 && s->scale[0] == step;
	}
	return moves;
}

double counted_damage(const struct look *l, const struct site *s)
{
	bool counts = s->layerwise.known && !s->locked && !l->mask[s->node] && !is_decision(l, s->value) && !only_moves(l, s->node);
	return counts ? made_damage(l, s) : 0;
}

static double grid_end(const struct site *s, int64_t code, double scale)
{
	return ((double)code - (s->zero ? s->zero[0] : 0)) * scale;
}

double site_lower_end(const struct site *s, double scale)
{
	return grid_end(s, s->qmin, scale);
}

double site_upper_end(const struct site *s, double scale)
{
	return grid_end(s, s->qmax, scale);
}

double site_span(const struct site *s)
{
	return s->range.n > 0 ? (double)s->range.max - s->range.min : 0;
}

static double slot_step(const struct slot *s)
{
	const struct quantizer *q = &s->quant;
	return s->state != SLOT_FLOAT && q->kind == QUANT_LINEAR && q->n == 1 ? q->scale[0] : 0;
}

double input_step(const struct look *l, int node, int i)
{
	const struct site *s = site_of(l, l->g->node[node].in[i]);
	if (l->plan)
		return slot_step(plan_in(l->plan, node, i));
	return s && s->n_scale == 1 ? s->scale[0] : 0;
}

double output_step(const struct look *l, int node)
{
	const struct site *s = site_of(l, l->g->node[node].out[0]);
	if (l->plan)
		return slot_step(plan_out(l->plan, node, 0));
	return s && s->n_scale == 1 ? s->scale[0] : 0;
}

double predicted_snr(const struct look *l, const struct site *s, double scale)
{
	struct prediction p = study_predict_scale(l->s, site_index(l, s), scale, ZERO_FOLLOWS);
	return p.known ? shown_db(p.snr_db) : NAN;
}

static double noise_of_db(double db)
{
	return pow(10, -db / 10);
}

double predicted_gain(const struct look *l, const struct site *s, double scale)
{
	double now = noise_of_db(predicted_snr(l, s, (double)s->scale[0])), then = noise_of_db(predicted_snr(l, s, scale));
	double rest = own_figures(s)->known ? fmax(0, own_figures(s)->pooled.nsr - now) : 0;
	return 10 * log10((now + rest) / (then + rest));
}

bool keeps_inner(const struct look *l, const struct site *s, double lo, double hi, double wider)
{
	static const double GOOD_DB = 24;
	struct hist inner = {.lo = s->hist_float->lo, .hi = s->hist_float->hi};
	double zero = s->zero ? s->zero[0] : 0, width = ((double)inner.hi - inner.lo) / STATS_BINS;
	if (is_probability(l, s))
		return true;
	for (int i = 0; i < STATS_BINS; i++) {
		double x = inner.lo + (i + 0.5) * width;
		if (x >= lo && x <= hi)
			inner.bin[i] = s->hist_float->bin[i];
	}
	struct prediction p = hist_predict(&inner, wider, zero, s->qmin, s->qmax);
	return p.known && p.snr_db >= GOOD_DB;
}

bool keeps_most(const struct look *l, const struct site *s, double wider)
{
	enum { HALVINGS = 12 };
	static const double REST = 0.05; // calibrators clip less
	double low = 0, high = fmax(fabs((double)s->hist_float->lo), fabs((double)s->hist_float->hi));
	for (int i = 0; i < HALVINGS; i++) {
		double middle = (low + high) / 2;
		if (1 - hist_share(s->hist_float, -middle, middle) > REST)
			low = middle;
		else
			high = middle;
	}
	return keeps_inner(l, s, -high, high, wider);
}

int scale_owner(const struct look *l, const struct site *s)
{
	for (int steps = 0; s && s->state != SLOT_ACTIVE && s->follows >= 0 && steps < l->g->n_nodes; steps++) {
		const struct site *next = site_of(l, s->follows);
		if (!next || next == s)
			return l->g->value[s->follows].producer;
		s = next;
	}
	return s ? s->node : -1;
}

bool is_probability(const struct look *l, const struct site *s)
{
	const struct node *n = &l->g->node[l->g->value[s->value].producer >= 0 ? l->g->value[s->value].producer : s->node];
	return is_op(n, OP_Softmax) || (is_op(n, OP_Sigmoid) && !sigmoid_gates(l->g, (int)(n - l->g->node)));
}

// How many operators lead from what node n reads to a decision. l->decision is known of all values behind n.
static int way_through(const struct look *l, int n)
{
	const struct node *m = &l->g->node[n];
	int way = NO_DECISION;
	if (is_op(m, OP_Softmax) || (is_op(m, OP_Sigmoid) && !sigmoid_gates(l->g, n)))
		return 1;
	for (int o = 0; (is_mover(m) || is_op(m, OP_Concat)) && o < m->n_out; o++)
		if (m->out[o] >= 0 && l->decision[m->out[o]] < way)
			way = l->decision[m->out[o]] + 1;
	return way;
}

void find_decisions(struct look *l)
{
	const struct graph *g = l->g;
	l->decision = xcalloc((size_t)g->n_values + 1, sizeof *l->decision);
	for (int v = 0; v < g->n_values; v++)
		l->decision[v] = g->value[v].is_output ? 0 : NO_DECISION;
	for (int n = g->n_nodes - 1; n >= 0; n--) {
		int way = way_through(l, n);
		for (int i = 0; i < g->node[n].n_in; i++)
			if (g->node[n].in[i] >= 0 && way < l->decision[g->node[n].in[i]])
				l->decision[g->node[n].in[i]] = way;
	}
}

bool is_decision(const struct look *l, int value)
{
	return l->decision[value] < NO_DECISION;
}

bool is_explained(const struct look *l, int node, enum finding_rule by)
{
	for (int i = 0; i < l->out->n; i++)
		for (int k = 0; k < l->out->at[i].n_nodes; k++)
			if (l->out->at[i].rule == by && l->out->at[i].node[k] == node)
				return true;
	return false;
}

bool is_of_hidden_input(const struct look *l, const struct finding *f)
{
	return f->rule == FINDING_joined_ranges && is_op(&l->g->node[f->node[0]], OP_Concat);
}

bool was_measured(const struct look *l, const struct site *s)
{
	int value = snapshot_scalable(l->s, s);
	double scale = value >= 0 ? l->s->scale_requested[value] : 0;
	return scale > 0 && l->study && l->plan &&
	    repair_memo_vouches(l->study->repairs, l->samples, target_name(l->plan->target), graph_output_name(l->g, value), scale);
}
