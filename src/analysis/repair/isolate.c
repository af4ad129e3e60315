// Nodes quantized alone, measured at the network's outputs.
#include "qtui/analysis/isolate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "../study/study_impl.h"
#include "repair_impl.h"

struct isolating {
	struct study *st;
	const struct snapshot *snap;
	struct plan plan;        // the run's own but for the slots and what runs in nodes' places
	bool *own;               // [n_slots] those of the node under study
	int *at, n_at;           // tensors where the result is read
	bool *want;              // [n_values] these
	struct key *key[2];      // [n_values] of SIM_FLOAT and SIM_FULL
	struct figure **figure;  // [n_at]
	const atomic_bool *cancel;
	atomic_bool failed;      // no memory for a comparison
};

static bool slots_quantize(const struct slot *s, int n)
{
	for (int i = 0; i < n; i++)
		if (slot_quantizes(&s[i]))
			return true;
	return false;
}

// Nodes that PPQ calls computing ones, and recurrent ones, as far as the plan quantizes something of them.
static bool is_isolated(const struct plan *p, int node)
{
	const struct node *n = &p->g->node[node];
	return graph_macs(p->g, node) > 0 && p->quantizable[node] &&
	    (slots_quantize(plan_in(p, node, 0), n->n_in) || slots_quantize(plan_out(p, node, 0), n->n_out));
}

int isolate_count(const struct snapshot *s)
{
	const struct plan *p = snapshot_plan(s);
	int n = 0;
	for (int i = 0; p && i < p->g->n_nodes; i++)
		n += is_isolated(p, i);
	return n;
}

// A constant is shown by no pass.
static bool is_float_output(const struct graph *g, int output)
{
	const struct value *v = &g->value[g->output[output]];
	return v->type == DT_F32 && !v->constant;
}

// Only the node's own slots stay what they are. What another node's quantizer does for it
// (the activation that it is fused with, the producer of its input) is left out, as PPQ does.
static void leave_only(struct isolating *w, int node)
{
	const struct plan *from = snapshot_plan(w->snap);
	memcpy(w->plan.slot, from->slot, (size_t)from->n_slots * sizeof *from->slot);
	memcpy(w->plan.stand_in, from->stand_in, (size_t)from->g->n_nodes * sizeof *from->stand_in);
	for (int i = 0; i < from->n_slots; i++)
		w->own[i] = from->slot[i].node == node;
	plan_quantize_only(&w->plan, w->own);
}

static struct figure *figure_of(struct isolating *w, int value)
{
	struct key k = key_add_text((struct key){0}, "isolated");
	k = key_add_key(key_add_key(k, w->key[0][value]), w->key[1][value]);
	return memo_figure(study_preparation(w->st)->memo, key_add_int(k, w->st->opt.backend));
}

static bool compare(struct tensor_sums *out, const struct sighting *s)
{
	struct rep f = {0}, q = {0}, same = {0};
	struct error err = {0};
	bool ok = rep_to_float(&f, s->rep[SIM_FLOAT], s->width, &err) == STATUS_OK &&
	    rep_to_float(&q, s->rep[SIM_FULL], s->width, &err) == STATUS_OK && rep_to_layout(&same, &q, f.t.layout, s->width, &err) == STATUS_OK;
	if (ok)
		stats_compare(out, &f.t, &same.t, NULL);
	rep_drop(&same);
	rep_drop(&q);
	rep_drop(&f);
	return ok;
}

static void see(void *arg, const struct sighting *s)
{
	struct isolating *w = arg;
	struct tensor_sums sums;
	if (!s->rep[SIM_FLOAT] || !s->rep[SIM_FULL])
		return;
	if (!compare(&sums, s)) {
		atomic_store(&w->failed, true);
		return;
	}
	for (int i = 0; i < w->n_at; i++)
		if (w->at[i] == s->value && !figure_has(w->figure[i], s->sample))
			figure_set(w->figure[i], s->sample, &sums);
}

static enum status run(struct isolating *w, struct error *err)
{
	struct pass pass = {
	    .plan = &w->plan, .data = study_dataset(w->st), .last = w->snap->samples, .visit = see, .arg = w, .cancel = w->cancel};
	pass.want[SIM_FLOAT] = pass.want[SIM_FULL] = w->want;
	return probe_pass(w->st->engine, &pass, w->snap->g, &w->failed, err);
}

static bool all_known(const struct isolating *w)
{
	for (int i = 0; i < w->n_at; i++)
		if (!figure_complete(w->figure[i], w->snap->samples))
			return false;
	return true;
}

struct mean {
	double sum;
	int n;
};

// An output that is NaN or all zero in the float network has no noise over signal to speak of; the others speak for the
// node. One that only becomes NaN counts, and then there is no mean.
static void mean_add(struct mean *m, const struct figures *of, double v)
{
	if (isnan(v) && isfinite(of->pooled.mse))
		return;
	m->sum += v;
	m->n++;
}

static double mean_of(struct mean m)
{
	return m.n ? m.sum / m.n : NAN;
}

// Mean over the outputs.
static struct figures together(const struct isolating *w)
{
	struct mean nsr_mean = {0}, cosine_mean = {0}, nsr = {0}, cosine = {0}, mse = {0};
	struct figures out = {.pooled = {.exact = true}};
	for (int i = 0; i < w->n_at; i++) {
		struct figures one = figure_merge(w->figure[i], w->snap->samples);
		out.known = one.known;
		if (one.pooled.odd)
			continue;
		mean_add(&nsr_mean, &one, one.nsr_mean);
		mean_add(&cosine_mean, &one, one.cosine_mean);
		mean_add(&nsr, &one, one.pooled.nsr);
		mean_add(&cosine, &one, one.pooled.cosine);
		mean_add(&mse, &one, one.pooled.mse);
		out.pooled.exact &= one.pooled.exact;
	}
	out.nsr_mean = mean_of(nsr_mean);
	out.cosine_mean = mean_of(cosine_mean);
	out.pooled.nsr = mean_of(nsr);
	out.pooled.cosine = mean_of(cosine);
	out.pooled.mse = mean_of(mse);
	out.pooled.exact &= mse.n > 0;
	out.pooled.snr_db = out.pooled.exact ? NAN : -10 * log10(out.pooled.nsr);
	return out;
}

static enum status isolate(struct isolating *w, int node, struct figures *out, struct error *err)
{
	const struct graph *g = w->snap->g;
	enum status st = STATUS_OK;
	leave_only(w, node);
	engine_keys(g, &w->plan, SIM_FLOAT, w->key[0]);
	engine_keys(g, &w->plan, SIM_FULL, w->key[1]);
	for (int i = 0; i < w->n_at; i++)
		w->figure[i] = figure_of(w, w->at[i]);
	if (!all_known(w))
		st = run(w, err);
	if (st == STATUS_OK)
		*out = together(w);
	return st;
}

static enum status isolate_all(struct isolating *w, struct isolation *out, atomic_int *done, struct error *err)
{
	const struct plan *p = snapshot_plan(w->snap);
	enum status st = STATUS_OK;
	for (int n = 0; n < out->n && st == STATUS_OK; n++) {
		if (!is_isolated(p, n))
			continue;
		st = isolate(w, n, &out->node[n], err);
		atomic_fetch_add(done, 1);
	}
	return st;
}

// The float outputs; where there is none, as behind an ArgMax, what stands for them elsewhere (points.c).
static void choose_tensors(struct isolating *w)
{
	const struct graph *g = w->snap->g;
	int n_points;
	struct point *point = points_find(g, &n_points);
	w->at = xcalloc((size_t)g->n_outputs + (size_t)n_points + 1, sizeof *w->at);
	for (int i = 0; i < g->n_outputs; i++)
		if (is_float_output(g, i))
			w->at[w->n_at++] = g->output[i];
	bool none = w->n_at == 0;
	for (int i = 0; none && i < n_points; i++)
		w->at[w->n_at++] = point[i].value;
	free(point);
}

static enum status prepare(struct isolating *w, struct error *err)
{
	const struct graph *g = w->snap->g;
	const struct plan *p = snapshot_plan(w->snap);
	if (!p)
		return error_set(err, STATUS_REFUSED, "the network is not calibrated yet: wait for the run");
	w->plan = *p;
	w->plan.slot = xcalloc((size_t)p->n_slots + 1, sizeof *w->plan.slot);
	w->plan.stand_in = xcalloc((size_t)g->n_nodes + 1, sizeof *w->plan.stand_in);
	w->own = xcalloc((size_t)p->n_slots + 1, sizeof *w->own);
	w->want = xcalloc((size_t)g->n_values + 1, sizeof *w->want);
	choose_tensors(w);
	w->figure = xcalloc((size_t)w->n_at + 1, sizeof *w->figure);
	for (int i = 0; i < 2; i++)
		w->key[i] = xcalloc((size_t)g->n_values + 1, sizeof *w->key[i]);
	for (int i = 0; i < w->n_at; i++)
		w->want[w->at[i]] = true;
	return w->n_at || isolate_count(w->snap) == 0 ? STATUS_OK : points_missing(g, err);
}

enum status isolate_nodes(struct study *st, const struct snapshot *s, const atomic_bool *cancel, atomic_int *done, struct error *err)
{
	struct isolating w = {.st = st, .snap = s, .cancel = cancel};
	struct isolation *out = xcalloc(1, sizeof *out);
	*out =
	    (struct isolation){.generation = s->generation, .n = s->g->n_nodes, .node = xcalloc((size_t)s->g->n_nodes + 1, sizeof *out->node)};
	enum status status = prepare(&w, err);
	if (status == STATUS_OK)
		status = isolate_all(&w, out, done, err);
	if (status == STATUS_OK) {
		isolation_free(&st->isolation);
		st->isolation = out;
	} else {
		isolation_free(&out);
	}
	free(w.plan.slot);
	free(w.plan.stand_in);
	free(w.own);
	free(w.at);
	free(w.want);
	free(w.figure);
	free(w.key[0]);
	free(w.key[1]);
	return status;
}

void isolation_free(struct isolation **i)
{
	if (!*i)
		return;
	free((*i)->node);
	free(*i);
	*i = NULL;
}

const struct isolation *study_isolation(const struct study *st, const struct snapshot *s)
{
	return st->isolation && st->isolation->generation == s->generation ? st->isolation : NULL;
}
