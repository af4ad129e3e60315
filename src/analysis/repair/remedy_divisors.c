// Divisors whose smallest elements round to 0 at 16 bit too: a variance with its epsilon, in a normalization that is
// written out. No width mends that, and as long as a quotient is infinite nothing else shows. What computes them has no
// multiply-accumulates, and goes to float.
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include "../measure/divisors.h"
#include "qtui/engine/stats.h"
#include "repair_impl.h"

// The least elements in the float network, of what is quantized on the way to a divisor.
struct least {
	bool *want; // [n_values]
	float *of;  // [n_values] INFINITY: not known
	pthread_mutex_t lock;
};

static void see(void *arg, const struct sighting *s)
{
	struct least *l = arg;
	struct tensor_range range;
	if (!s->rep[SIM_FLOAT] || s->rep[SIM_FLOAT]->t.type != DT_F32)
		return;
	stats_range(&range, &s->rep[SIM_FLOAT]->t);
	pthread_mutex_lock(&l->lock);
	if (range.n > 0)
		l->of[s->value] = fminf(l->of[s->value], range.min);
	pthread_mutex_unlock(&l->lock);
}

// The one scale on which the value's producer gives it; NULL: it gives floats.
static const struct quantizer *grid_of(const struct plan *p, int value)
{
	int node = p->g->value[value].producer;
	for (int i = 0; node >= 0 && i < p->g->node[node].n_out; i++) {
		const struct quantizer *q = p->g->node[node].out[i] == value ? slot_quantizer(plan_out(p, node, i)) : NULL;
		if (q && q->kind == QUANT_LINEAR && q->n == 1)
			return q;
	}
	return NULL;
}

static bool find_least(struct least *l, const struct plan *p)
{
	bool any = false;
	for (int n = 0; n < p->g->n_nodes; n++)
		for (int v = divisor_of(p->g, n); v >= 0; v = zeros_behind(p->g, v)) {
			l->of[v] = INFINITY;
			l->want[v] = grid_of(p, v) != NULL;
			any |= l->want[v];
		}
	return any;
}

// Is some of it 0 on its grid, and on that of 16 bit, where the target has one?
static bool is_lost(const struct repair *r, const struct least *l, const struct plan *p, int value)
{
	const struct quantizer *q = l->want[value] ? grid_of(p, value) : NULL;
	bool widens = q && q->bits == 8 && repair_wide_precision(r) == PREC_INT16;
	return q && l->of[value] > 0 && l->of[value] < ldexpf(q->scale[0], widens ? -8 : 0) / 2;
}

// Returns a node that divides by what is lost, the first of them; -1: there is none, or nothing that could go to float.
static int mark_lost(bool *takes, const struct repair *r, const struct least *l, const struct plan *p)
{
	int first = -1;
	for (int n = 0; n < p->g->n_nodes; n++)
		for (int v = divisor_of(p->g, n); v >= 0; v = zeros_behind(p->g, v))
			if (is_lost(r, l, p, v)) {
				divisor_mark(takes, p->g, n, v);
				first = first < 0 ? n : first;
				break;
			}
	bool any = false;
	for (int n = 0; n < p->g->n_nodes; n++) {
		takes[n] = takes[n] && p->quantizable[n] && p->precision[n] != PREC_FLOAT;
		any |= takes[n];
	}
	return any ? first : -1;
}

static enum status try_float(struct fixing *f, const bool *takes, int node, struct error *err)
{
	struct repair *r = f->r;
	struct candidate c = {.kind = REPAIR_DIVISORS, .trial = trial_copy(&r->now), .expected = NAN};
	candidate_set(r, &c, takes, PREC_FLOAT);
	c.reason = repair_text(r, "%s divides by what rounds to 0 on any step that the target has: float for what computes it.",
	    r->g->node[node].name);
	return fix_try(f, &c, NULL, err);
}

enum status remedy_divisors(struct fixing *f, struct error *err)
{
	struct repair *r = f->r;
	struct plan *p = NULL;
	enum status st = scales_plan(r->scales, &p, &r->now, err);
	if (st != STATUS_OK)
		return st;
	size_t values = (size_t)r->g->n_values + 1;
	struct least l = {.want = xcalloc(values, sizeof *l.want), .of = xcalloc(values, sizeof *l.of)};
	bool *takes = xcalloc((size_t)r->g->n_nodes + 1, sizeof *takes);
	pthread_mutex_init(&l.lock, NULL);
	if (find_least(&l, p)) {
		struct pass pass = {.want = {[SIM_FLOAT] = l.want}, .last = dataset_count(r->data), .data = r->data, .keep = KEEP_NOTHING,
		    .visit = see, .arg = &l, .cancel = r->opt.cancel};
		repair_tell(r, 0, "divisors that round to 0");
		st = engine_pass(r->engine, &pass, err);
		int node = st == STATUS_OK ? mark_lost(takes, r, &l, p) : -1;
		if (node >= 0)
			st = try_float(f, takes, node, err);
	}
	pthread_mutex_destroy(&l.lock);
	free(l.want);
	free(l.of);
	free(takes);
	plan_free(&p);
	return st;
}
