#include "qtui/analysis/cost.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include "qtui/base/mem.h"
#include "qtui/engine/op.h"

double cost_weight(enum precision p)
{
	static const double weight[PREC_COUNT] = {[PREC_INT8] = 1, [PREC_INT16] = 2, [PREC_FLOAT] = 4};
	return weight[p];
}

const char *cost_source_name(enum cost_source s)
{
	static const char *const name[COST_SOURCES] = {[COST_BY_MACS] = "macs", [COST_MEASURED] = "measured", [COST_BY_OP] = "operator",
	    [COST_BY_WIDTH] = "width"};
	return name[s];
}

// ---- multiply-accumulates

// A node that the target leaves in float has no choice, and counts for none of what choices cost.
static void count_macs(struct costs *c, const struct snapshot *s)
{
	for (int n = 0; n < c->n; n++)
		for (int p = 0; p < PREC_COUNT && s->row[n].quantizable && s->row[n].macs > 0; p++) {
			c->node[n].at[p] = (double)s->row[n].macs * cost_weight((enum precision)p);
			c->node[n].source[p] = COST_BY_MACS;
		}
}

// ---- times

static int owner(const struct snapshot *s, int node)
{
	return s->row[node].fused_into >= 0 ? s->row[node].fused_into : node;
}

// It has one width, whatever is asked for elsewhere: the target leaves it, or its output alone (a Softmax), in float.
static bool is_fixed(const struct snapshot *s, int node)
{
	const struct node_row *r = &s->row[node];
	return !r->quantizable || (r->precision == PREC_FLOAT && r->requested != PREC_FLOAT && s->row[owner(s, node)].requested != PREC_FLOAT);
}

struct timing_work {
	struct costs *c;
	const struct snapshot *s;
	double (*us)[LATENCY_WIDTHS]; // the file's
	double (*of_op)[PREC_COUNT][PREC_COUNT]; // [OP_COUNT] microseconds at the first width of nodes that are known at both
	bool *has_time;               // [n] the node, or one of its group
};

// A line without a precision is of 8 bit.
static double measured(const struct timing_work *w, int node, enum precision p)
{
	const double *us = w->us[node];
	if (!isnan(us[p]))
		return us[p];
	return p == PREC_INT8 ? us[LATENCY_UNSAID] : NAN;
}

static void set_cost(struct timing_work *w, int node, enum precision p, double us, enum cost_source from)
{
	w->c->node[node].at[p] = us;
	w->c->node[node].source[p] = from;
}

// Its one width: what the file says of float, else whatever it says.
static void time_fixed(struct timing_work *w, int node)
{
	static const int order[] = {PREC_FLOAT, LATENCY_UNSAID, PREC_INT8, PREC_INT16};
	for (size_t i = 0; i < sizeof order / sizeof *order; i++) {
		double us = w->us[node][order[i]];
		for (int p = 0; p < PREC_COUNT && !isnan(us); p++)
			set_cost(w, node, (enum precision)p, us, COST_MEASURED);
		if (!isnan(us))
			return;
	}
}

static void learn_ops(struct timing_work *w)
{
	for (int n = 0; n < w->c->n; n++)
		for (int p = 0; p < PREC_COUNT && !is_fixed(w->s, n); p++)
			for (int q = 0; q < PREC_COUNT; q++) {
				double a = measured(w, n, (enum precision)p), b = measured(w, n, (enum precision)q);
				w->of_op[w->s->g->node[n].op->id][p][q] += isnan(a) || isnan(b) ? 0 : a;
			}
}

// What the operator takes at `to` for a microsecond at `from`; NAN: the file does not say.
static double ratio_of_op(const struct timing_work *w, int node, int from, int to)
{
	double (*of)[PREC_COUNT] = w->of_op[w->s->g->node[node].op->id];
	return of[from][to] > 0 && of[to][from] > 0 ? of[to][from] / of[from][to] : NAN;
}

// From the nearest width that is known; one whose operator the file knows at both goes before.
static void estimate(struct timing_work *w, int node, int to)
{
	enum cost_source best = COST_NOTHING;
	int distance = 0;
	for (int from = 0; from < PREC_COUNT; from++) {
		double us = measured(w, node, (enum precision)from), ratio = ratio_of_op(w, node, from, to);
		enum cost_source source = isnan(ratio) ? COST_BY_WIDTH : COST_BY_OP;
		if (isnan(us) || (best == COST_BY_OP && source == COST_BY_WIDTH) || (best == source && abs(to - from) >= distance))
			continue;
		best = source;
		distance = abs(to - from);
		set_cost(w, node, (enum precision)to,
		    us * (isnan(ratio) ? cost_weight((enum precision)to) / cost_weight((enum precision)from) : ratio), source);
	}
}

static void time_nodes(struct timing_work *w)
{
	learn_ops(w);
	for (int n = 0; n < w->c->n; n++) {
		if (is_fixed(w->s, n))
			time_fixed(w, n);
		for (int p = 0; p < PREC_COUNT && !is_fixed(w->s, n); p++) {
			double us = measured(w, n, (enum precision)p);
			if (isnan(us))
				estimate(w, n, p);
			else
				set_cost(w, n, (enum precision)p, us, COST_MEASURED);
		}
	}
}

// Nodes that do multiply-accumulates are not free because the file forgets them;
// what a board runs as one has its time under one name.
static void time_forgotten(struct timing_work *w)
{
	double us[PREC_COUNT] = {0}, macs = 0;
	for (int n = 0; n < w->c->n; n++) {
		const struct node_cost *c = &w->c->node[n];
		w->has_time[owner(w->s, n)] |= c->source[PREC_INT8] != COST_NOTHING;
		if (c->source[PREC_INT8] == COST_NOTHING || w->s->row[n].macs <= 0)
			continue;
		macs += (double)w->s->row[n].macs;
		for (int p = 0; p < PREC_COUNT; p++)
			us[p] += c->at[p];
	}
	for (int n = 0; n < w->c->n && macs > 0; n++)
		for (int p = 0; p < PREC_COUNT && w->s->row[n].macs > 0 && !w->has_time[owner(w->s, n)]; p++)
			set_cost(w, n, (enum precision)p, us[p] / macs * (double)w->s->row[n].macs, COST_BY_MACS);
}

static void count_times(struct costs *c, const struct snapshot *s)
{
	struct timing_work w = {.c = c, .s = s, .us = c->latency->us};
	w.of_op = xcalloc(OP_COUNT, sizeof *w.of_op);
	w.has_time = xcalloc((size_t)c->n + 1, sizeof *w.has_time);
	time_nodes(&w);
	time_forgotten(&w);
	free(w.of_op);
	free(w.has_time);
}

// ----

struct costs *costs_new(const struct snapshot *s, struct latency *l)
{
	struct costs *c = xcalloc(1, sizeof *c);
	atomic_store(&c->refs, 1);
	c->latency = latency_take(l);
	c->n = s->n_rows;
	c->node = xcalloc((size_t)c->n + 1, sizeof *c->node);
	(l ? count_times : count_macs)(c, s);
	for (int n = 0; n < c->n; n++)
		c->narrow += c->node[n].at[PREC_INT8];
	return c;
}

struct costs *costs_take(struct costs *c)
{
	if (c)
		atomic_fetch_add(&c->refs, 1);
	return c;
}

void costs_drop(struct costs **cp)
{
	struct costs *c = *cp;
	*cp = NULL;
	if (!c || atomic_fetch_sub(&c->refs, 1) != 1)
		return;
	latency_drop(&c->latency);
	free(c->node);
	free(c);
}

static void add_node(struct cost_sum *sum, const struct node_cost *c, enum precision p)
{
	sum->all += c->at[p];
	sum->at[p] += c->at[p];
	sum->from[c->source[p]] += c->at[p];
	sum->nodes[c->source[p]]++;
}

struct cost_sum costs_sum(const struct snapshot *s)
{
	struct cost_sum sum = {0};
	for (int n = 0; n < s->costs->n; n++)
		add_node(&sum, &s->costs->node[n], s->row[n].precision);
	return sum;
}

struct cost_sum costs_sum_all(const struct costs *c, enum precision p)
{
	struct cost_sum sum = {0};
	for (int n = 0; n < c->n; n++)
		add_node(&sum, &c->node[n], p);
	return sum;
}

char *cost_time(char out[COST_TIME], double us)
{
	static const struct {
		double from, unit;
		const char *name;
	} scale[] = {{1e6, 1e6, "s"}, {1e3, 1e3, "ms"}, {0, 1, "us"}};
	size_t i = 0;
	while (fabs(us) < scale[i].from)
		i++;
	double v = us / scale[i].unit;
	snprintf(out, COST_TIME, "%.*f %s", fabs(v) < 10 ? 2 : fabs(v) < 100 ? 1 : 0, v, scale[i].name);
	return out;
}

// How the estimates were made, in words; the order is that of enum cost_source.
static const char *const estimated[COST_SOURCES] = {[COST_BY_MACS] = "by MACs", [COST_BY_OP] = "as the file's other operators of the kind",
    [COST_BY_WIDTH] = "16 bit taken as 2x, float as 4x int8"};

const char *costs_phrase(char out[COST_PHRASE], const struct cost_sum *sum)
{
	char time[COST_TIME];
	int at = snprintf(out, COST_PHRASE, "%s measured", cost_time(time, sum->from[COST_MEASURED]));
	for (int i = 0; i < COST_SOURCES; i++)
		if (estimated[i] && sum->from[i] > 0 && at < COST_PHRASE)
			at += snprintf(out + at, COST_PHRASE - (size_t)at, ", %s estimated (%s)", cost_time(time, sum->from[i]), estimated[i]);
	return out;
}
