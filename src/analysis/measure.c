// The second half of a run: the sites of the finished plan, and the pass that compares float and quantized tensors at them.
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "study_impl.h"

// ---- sites

static void add_site(struct work *w, size_t *cap, enum site_kind kind, int slot, int value)
{
	const struct slot *s = &w->plan->slot[slot];
	const struct quantizer *q = &s->quant;
	w->site = xgrow(w->site, cap, (size_t)w->n_sites + 1, sizeof *w->site);
	struct site_work *sw = &w->site[w->n_sites++];
	*sw = (struct site_work){.site = {.kind = kind, .node = s->node, .slot = slot, .value = value, .state = s->state, .follows = -1,
	    .locked = s->locked, .bits = q->bits, .axis = q->axis, .n_scale = q->n, .scale = q->scale, .zero = q->zero, .qmin = q->qmin,
	    .qmax = q->qmax, .used_levels = -1}};
	if (s->follows >= 0)
		sw->site.follows = w->plan->slot[s->follows].value;
}

static bool quantizes(const struct slot *s)
{
	return s->value >= 0 && s->quant.kind != QUANT_NONE && (s->state == SLOT_ACTIVE || s->state == SLOT_PASSIVE);
}

// An input is a site when it is quantized again: not when its producer's output already lies on the same grid.
static bool requantizes(const struct work *w, const struct slot *s)
{
	const struct graph *g = w->study->g;
	if (!quantizes(s) || s->parameter || g->value[s->value].type != DT_F32)
		return false;
	int p = g->value[s->value].producer;
	for (int i = 0; p >= 0 && i < g->node[p].n_out; i++)
		if (g->node[p].out[i] == s->value) {
			const struct slot *o = plan_out(w->plan, p, i);
			return !(o->quant.kind != QUANT_NONE && quantizer_equal(&o->quant, &s->quant));
		}
	return true;
}

// The node at which a group's figures stand is the one that owns the quantizer of the group's end.
static int row_of(const struct work *w, int node)
{
	const struct group *gr = &w->plan->group[node];
	return gr->kind == GROUP_NONE ? node : gr->owner;
}

static void node_sites(struct work *w, size_t *cap, int n)
{
	const struct graph *g = w->study->g;
	const struct node *node = &g->node[n];
	for (int i = 0; i < node->n_out; i++) {
		int slot = w->plan->first_out[n] + i;
		const struct slot *s = &w->plan->slot[slot];
		bool shared = s->value >= 0 && s->state == SLOT_OVERLAPPED && engine_group_value(g, w->plan, s->value) == s->value &&
		    s->quant.kind != QUANT_NONE && g->value[s->value].type == DT_F32;
		if (quantizes(s) || shared)
			add_site(w, cap, SITE_OUTPUT, slot, s->value);
	}
	for (int i = 0; i < node->n_in; i++) {
		int slot = w->plan->first_in[n] + i;
		const struct slot *s = &w->plan->slot[slot];
		if (quantizes(s) && s->parameter && s->quant.kind == QUANT_LINEAR && g->value[s->value].constant)
			add_site(w, cap, SITE_WEIGHT, slot, s->value);
		else if (requantizes(w, s))
			add_site(w, cap, SITE_INPUT, slot, s->value);
	}
}

static struct key pair_key(const char *what, struct key a, struct key b, struct key base)
{
	return key_add_key(key_add_key(key_add_key(key_add_text((struct key){0}, what), a), b), base);
}

static struct key backend_key(const struct work *w)
{
	return key_add_int((struct key){0}, w->study->opt.backend);
}

static void site_memos(struct work *w, struct site_work *sw)
{
	struct key base = backend_key(w);
	struct memo *m = w->study->memo;
	const struct slot *slot = &w->plan->slot[sw->site.slot];
	struct key f = w->key[SIM_FLOAT][sw->site.value], q = w->key[SIM_FULL][sw->site.value], a = w->key[SIM_ALONE][sw->site.value];
	if (sw->site.kind != SITE_OUTPUT) {
		q = key_add_key(q, quantizer_key(&slot->quant));
		a = key_add_key(f, quantizer_key(&slot->quant));
	}
	if (sw->site.kind == SITE_WEIGHT)
		base = (struct key){0};
	sw->graphwise = memo_figure(m, pair_key("figure", f, q, base));
	sw->layerwise = memo_figure(m, pair_key("figure", f, a, base));
	sw->range = memo_range(m, key_add_key(f, base));
	if (sw->site.kind != SITE_INPUT) {
		sw->hist_float = memo_hist(m, sw->range->key);
		sw->hist_quant = memo_hist(m, sw->graphwise->key);
	}
}

static void index_sites(struct work *w)
{
	int n = w->study->g->n_values;
	w->first_site = xcalloc((size_t)n + 2, sizeof *w->first_site);
	w->site_at = xcalloc((size_t)w->n_sites + 1, sizeof *w->site_at);
	for (int i = 0; i < w->n_sites; i++)
		w->first_site[w->site[i].site.value + 2]++;
	for (int v = 2; v <= n + 1; v++)
		w->first_site[v] += w->first_site[v - 1];
	for (int i = 0; i < w->n_sites; i++)
		w->site_at[w->first_site[w->site[i].site.value + 1]++] = i;
}

void work_sites(struct work *w)
{
	const struct graph *g = w->study->g;
	size_t cap = 0;
	for (int sim = 0; sim < SIM_COUNT; sim++)
		engine_keys(g, w->plan, (enum sim)sim, w->key[sim]);
	for (int n = 0; n < g->n_nodes; n++)
		node_sites(w, &cap, n);
	for (int i = 0; i < w->n_sites; i++) {
		site_memos(w, &w->site[i]);
		if (w->site[i].site.kind == SITE_OUTPUT)
			w->site[i].site.node = row_of(w, w->site[i].site.node);
	}
	index_sites(w);
	w->output = xcalloc((size_t)g->n_outputs + 1, sizeof *w->output);
	for (int i = 0; i < g->n_outputs; i++) {
		int v = g->output[i];
		w->output[i].value = v;
		if (g->value[v].type == DT_F32 && !g->value[v].constant)
			w->output[i].graphwise = memo_figure(w->study->memo,
			    pair_key("figure", w->key[SIM_FLOAT][v], w->key[SIM_FULL][v], backend_key(w)));
	}
}

// ---- one value on one sample

static void compare(struct figure *f, int sample, const struct tensor *x, struct rep *y, const struct quantizer *clip)
{
	struct tensor_sums sums;
	if (figure_has(f, sample))
		return;
	const struct quantizer *q = rep_quantizer(y);
	stats_compare(&sums, x, &y->t, q ? q : clip);
	figure_set(f, sample, &sums);
}

// Both tensors in the layout of the float one, so that they can be walked side by side.
static void compare_aligned(struct figure *f, const struct sighting *s, struct rep *x, struct rep *y, const struct quantizer *clip)
{
	struct error err = {0};
	struct rep moved = {0};
	if (rep_to_layout(&moved, y, x->t.layout, s->width, &err) == STATUS_OK)
		compare(f, s->sample, &x->t, &moved, clip);
	rep_drop(&moved);
}

static void requantized(struct figure *f, const struct sighting *s, struct rep *x, struct rep *from, const struct quantizer *q)
{
	struct error err = {0};
	struct rep y = {0};
	if (!figure_has(f, s->sample) && rep_apply(&y, from, q, s->width, &err) == STATUS_OK)
		compare_aligned(f, s, x, &y, q);
	rep_drop(&y);
}

// What one sample of an output lacks, before it goes to the memo. One for each worker: large memory that is taken from the system and
// given back for every tensor would cost more than the walk.
struct lack {
	struct tensor_sums sums[2];
	struct tensor_range range;
	struct grid grid, grid_q;
	uint32_t codes[65536];
	struct stats_scratch scratch;
};

static void ask(struct stats_site *ask, struct lack *l, const struct site_work *sw, int sample)
{
	if (ask->q[0]->data && !figure_has(sw->graphwise, sample))
		ask->sums[0] = &l->sums[0];
	if (ask->q[1]->data && !figure_has(sw->layerwise, sample))
		ask->sums[1] = &l->sums[1];
	if (!range_has(sw->range, sample))
		ask->range = &l->range;
	if (hist_lacks_floats(sw->hist_float, sample, &l->grid))
		ask->grid = &l->grid;
	if (!ask->q[0]->data || !hist_lacks_floats(sw->hist_quant, sample, &l->grid_q))
		return;
	if (ask->q[0]->type == DT_F32)
		ask->grid_q = &l->grid_q;
	else
		ask->codes_q = memset(l->codes, 0, sizeof *l->codes << (8 * dtype_size(ask->q[0]->type)));
}

static void keep(const struct stats_site *got, struct site_work *sw, int sample)
{
	if (got->sums[0])
		figure_set(sw->graphwise, sample, got->sums[0]);
	if (got->sums[1])
		figure_set(sw->layerwise, sample, got->sums[1]);
	if (got->range)
		range_set(sw->range, sample, got->range);
	if (got->grid)
		hist_add_floats(sw->hist_float, sample, got->grid);
	if (got->grid_q)
		hist_add_floats(sw->hist_quant, sample, got->grid_q);
	if (got->codes_q)
		hist_add_codes(sw->hist_quant, sample, got->codes_q, got->q[0]->type, got->quant[0]);
}

// Both versions, the range and the histograms in one walk. `full` and `alone` are in the layout of x, or empty.
static void measure_output(struct lack *l, struct site_work *sw, int sample, const struct tensor *x, struct rep *full,
    struct rep *alone, const struct quantizer *clip)
{
	const struct quantizer *qf = rep_quantizer(full), *qa = rep_quantizer(alone);
	struct stats_site site = {.f = x, .q = {&full->t, &alone->t}, .quant = {qf ? qf : clip, qa ? qa : clip}, .scratch = &l->scratch};
	ask(&site, l, sw, sample);
	stats_site(&site);
	keep(&site, sw, sample);
}

static void align(struct rep *out, const struct sighting *s, struct rep *y, enum layout l)
{
	struct error err = {0};
	if (y && rep_to_layout(out, y, l, s->width, &err) != STATUS_OK)
		rep_drop(out);
}

static void note_range(struct range_memo *r, int sample, const struct tensor *x)
{
	struct tensor_range range;
	if (range_has(r, sample))
		return;
	stats_range(&range, x);
	range_set(r, sample, &range);
}

static void measure_site(struct work *w, struct site_work *sw, const struct sighting *s)
{
	struct rep *x = s->rep[SIM_FLOAT], full = {0}, alone = {0};
	const struct quantizer *q = &w->plan->slot[sw->site.slot].quant;
	if (sw->site.kind == SITE_INPUT) {
		note_range(sw->range, s->sample, &x->t);
		if (s->rep[SIM_FULL])
			requantized(sw->graphwise, s, x, s->rep[SIM_FULL], q);
		requantized(sw->layerwise, s, x, x, q);
		return;
	}
	align(&full, s, s->rep[SIM_FULL], x->t.layout);
	align(&alone, s, s->rep[SIM_ALONE], x->t.layout);
	measure_output(&w->lack[s->worker], sw, s->sample, &x->t, &full, &alone, q);
	rep_drop(&full);
	rep_drop(&alone);
}

static void see(void *arg, const struct sighting *s)
{
	struct work *w = arg;
	if (s->rep[SIM_FLOAT]) {
		for (int i = w->first_site[s->value]; i < w->first_site[s->value + 1]; i++)
			measure_site(w, &w->site[w->site_at[i]], s);
		for (int i = 0; i < w->study->g->n_outputs; i++)
			if (w->output[i].value == s->value && w->output[i].graphwise && s->rep[SIM_FULL] &&
			    !figure_has(w->output[i].graphwise, s->sample))
				compare_aligned(w->output[i].graphwise, s, s->rep[SIM_FLOAT], s->rep[SIM_FULL], NULL);
	}
	work_tick(w);
}

// ---- passes

static enum status pass(struct work *w, const bool *const want[SIM_COUNT], void (*visit)(void *, const struct sighting *), struct error *err)
{
	struct pass p = {.plan = w->plan, .first = 0, .last = w->samples, .visit = visit, .arg = w, .cancel = &w->study->cancel,
	    .done = &w->done, .computed = &w->computed, .reused = &w->reused, .busy_ns = w->busy_ns};
	memcpy(p.want, want, sizeof p.want);
	w->total_steps = engine_pass_steps(w->study->engine, &p) * w->samples;
	atomic_store(&w->done, 0);
	return engine_pass(w->study->engine, &p, err);
}

static bool site_missing(const struct site_work *sw, int samples)
{
	return !figure_complete(sw->graphwise, samples) || !figure_complete(sw->layerwise, samples) || !range_complete(sw->range, samples) ||
	    (sw->hist_float && !hist_complete(sw->hist_float, samples)) || (sw->hist_quant && !hist_complete(sw->hist_quant, samples));
}

static void set_hist(struct hist_memo *m, const struct tensor *t, const struct tensor_range *r)
{
	struct hist *h = xcalloc(1, sizeof *h);
	*h = (struct hist){.refs = 1, .lo = r->min, .hi = r->max};
	if (r->n > 0)
		stats_hist(h->bin, STATS_BINS, r->min, r->max, t);
	hist_set(m, h);
}

// Weights are the same for every sample: compared once, as sample 0, by the conductor.
static enum status measure_weight(struct work *w, struct site_work *sw, struct error *err)
{
	const struct tensor *x = w->study->g->value[sw->site.value].constant;
	const struct quantizer *q = &w->plan->slot[sw->site.slot].quant;
	if (!site_missing(sw, 1))
		return STATUS_OK;
	if (atomic_load(&w->study->cancel))
		return error_set(err, STATUS_CANCELLED, "cancelled");
	struct tensor y = *x;
	y.buf = NULL;
	enum status st = tensor_alloc(&y, NULL, err);
	if (st != STATUS_OK)
		return st;
	fake_quantize(&y, x, q, 1);
	struct tensor_sums sums;
	struct tensor_range range;
	stats_site(&(struct stats_site){.f = x, .q = {&y, &y}, .quant = {q, q}, .sums = {&sums}, .range = &range});
	figure_set(sw->graphwise, 0, &sums);
	figure_set(sw->layerwise, 0, &sums);
	range_set(sw->range, 0, &range);
	set_hist(sw->hist_float, x, &range);
	set_hist(sw->hist_quant, &y, &range);
	tensor_drop(&y);
	return STATUS_OK;
}

static enum status measure_values(struct work *w, struct error *err)
{
	size_t n = (size_t)w->study->g->n_values + 1;
	bool *want[SIM_COUNT], any = false;
	bool layerwise = !w->study->opt.skip_layerwise && w->samples == w->total_samples; // a first look is to be quick
	for (int sim = 0; sim < SIM_COUNT; sim++)
		want[sim] = xcalloc(n, 1);
	for (int i = 0; i < w->n_sites; i++) {
		const struct site_work *sw = &w->site[i];
		int v = sw->site.value;
		if (sw->site.kind == SITE_WEIGHT || !site_missing(sw, w->samples))
			continue;
		any = want[SIM_FLOAT][v] = true;
		want[SIM_FULL][v] |= !figure_complete(sw->graphwise, w->samples) || (sw->hist_quant && !hist_complete(sw->hist_quant, w->samples));
		want[SIM_ALONE][v] |= layerwise && sw->site.kind == SITE_OUTPUT && !figure_complete(sw->layerwise, w->samples);
	}
	for (int i = 0; i < w->study->g->n_outputs; i++)
		if (w->output[i].graphwise && !figure_complete(w->output[i].graphwise, w->samples))
			any = want[SIM_FLOAT][w->output[i].value] = want[SIM_FULL][w->output[i].value] = true;
	const bool *const wants[SIM_COUNT] = {want[SIM_FLOAT], NULL, want[SIM_FULL], want[SIM_ALONE]};
	if (any && !w->lack)
		w->lack = xcalloc((size_t)w->study->opt.threads, sizeof *w->lack);
	enum status st = any ? pass(w, wants, see, err) : STATUS_OK;
	for (int sim = 0; sim < SIM_COUNT; sim++)
		free(want[sim]);
	return st;
}

enum status work_measure(struct work *w, struct error *err)
{
	enum status st = STATUS_OK;
	for (int i = 0; st == STATUS_OK && i < w->n_sites; i++)
		if (w->site[i].site.kind == SITE_WEIGHT)
			st = measure_weight(w, &w->site[i], err);
	return st == STATUS_OK ? measure_values(w, err) : st;
}

bool work_complete(const struct work *w)
{
	for (int i = 0; i < w->n_sites; i++) {
		int samples = w->site[i].site.kind == SITE_WEIGHT ? 1 : w->samples;
		if (!figure_complete(w->site[i].graphwise, samples))
			return false;
	}
	return true;
}

void work_reset(struct work *w)
{
	free(w->site);
	free(w->site_at);
	free(w->first_site);
	free(w->output);
	free(w->lack);
	w->lack = NULL;
	w->site = NULL;
	w->site_at = w->first_site = NULL;
	w->output = NULL;
	w->n_sites = 0;
	shared_plan_drop(&w->shared);
	w->plan = NULL;
}
