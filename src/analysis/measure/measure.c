// The second half of a run: the pass that compares float and quantized tensors at the sites.
#include <stdlib.h>
#include <string.h>
#include "../study/study_impl.h"

// ---- one value on one sample

static void compare(struct figure *f, int sample, const struct tensor *x, struct rep *y, const struct quantizer *clip)
{
	struct tensor_sums sums;
	if (!figure_lacks(f, sample))
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

// What one sample of an output lacks, before it goes to the memo. One for each worker:
// large memory that is taken from the system and given back for every tensor would cost more than the walk.
struct lack {
	struct tensor_sums sums[2];
	struct tensor_range range;
	struct grid grid, grid_q;
	uint32_t codes[65536];
	struct stats_scratch scratch;
};

static void ask(struct stats_site *ask, struct lack *l, const struct site_work *sw, int sample)
{
	if (ask->q[0]->data && figure_lacks(sw->graphwise, sample))
		ask->sums[0] = &l->sums[0];
	if (ask->q[1]->data && figure_lacks(sw->layerwise, sample))
		ask->sums[1] = &l->sums[1];
	if (range_lacks(sw->range, sample))
		ask->range = &l->range;
	if (!sw->hist_float)
		return;
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

// Both versions, the range and the histograms in one walk.
// `full` and `alone` are in the layout of the floats, or empty.
static void measure_both(struct work *w, struct site_work *sw, const struct sighting *s, struct rep *full, struct rep *alone)
{
	struct lack *l = &w->lack[s->worker];
	const struct quantizer *clip = &w->plan->slot[sw->site.slot].quant, *qf = rep_quantizer(full), *qa = rep_quantizer(alone);
	struct stats_site site = {.f = &s->rep[SIM_FLOAT]->t, .q = {&full->t, &alone->t}, .quant = {qf ? qf : clip, qa ? qa : clip},
	    .scratch = &l->scratch, .thin = w->look};
	ask(&site, l, sw, s->sample);
	stats_site(&site);
	keep(&site, sw, s->sample);
}

static void align(struct rep *out, const struct sighting *s, struct rep *y, enum layout l)
{
	struct error err = {0};
	if (y && rep_to_layout(out, y, l, s->width, &err) != STATUS_OK)
		rep_drop(out);
}

// A tensor as the quantizer of an input makes it, in the layout of the floats.
static void requantize(struct rep *out, const struct sighting *s, struct rep *from, const struct quantizer *q)
{
	struct error err = {0};
	struct rep y = {0};
	if (from && rep_apply(&y, from, q, s->width, &err) == STATUS_OK)
		align(out, s, &y, s->rep[SIM_FLOAT]->t.layout);
	rep_drop(&y);
}

static void measure_site(struct work *w, struct site_work *sw, const struct sighting *s)
{
	struct rep *x = s->rep[SIM_FLOAT], full = {0}, alone = {0};
	const struct quantizer *q = &w->plan->slot[sw->site.slot].quant;
	if (sw->site.kind != SITE_INPUT) {
		align(&full, s, s->rep[SIM_FULL], x->t.layout);
		align(&alone, s, s->rep[SIM_ALONE], x->t.layout);
	} else {
		if (figure_lacks(sw->graphwise, s->sample) || sw->hist_quant)
			requantize(&full, s, s->rep[SIM_FULL], q);
		if (sw->layerwise != sw->graphwise && figure_lacks(sw->layerwise, s->sample)) // of the network's inputs they are one
			requantize(&alone, s, x, q);
	}
	measure_both(w, sw, s, &full, &alone);
	rep_drop(&full);
	rep_drop(&alone);
}

static void see(void *arg, const struct sighting *s)
{
	struct work *w = arg;
	if (s->rep[SIM_FLOAT]) {
		for (int i = w->first_site[s->value]; i < w->first_site[s->value + 1]; i++)
			measure_site(w, &w->site[w->site_at[i]], s);
		const struct output_work *o = w->output_of[s->value];
		if (o && o->graphwise && s->rep[SIM_FULL] && figure_lacks(o->graphwise, s->sample))
			compare_aligned(o->graphwise, s, s->rep[SIM_FLOAT], s->rep[SIM_FULL], NULL);
	}
	if (w->gather)
		task_gather_see(w->gather, s);
	work_tick(w);
}

// ---- passes

static enum status pass(struct work *w, const bool *const want[SIM_COUNT], void (*visit)(void *, const struct sighting *), struct error *err)
{
	struct pass p = {.plan = w->plan,
	    .data = w->study->d,
	    .first = 0,
	    .last = w->samples,
	    .visit = visit,
	    .arg = w,
	    .cancel = &w->study->cancel,
	    .done = &w->done,
	    .computed = &w->computed,
	    .reused = &w->reused,
	    .busy_ns = w->busy_ns,
	    .keep = w->study->opt.batch ? KEEP_NOTHING : KEEP_FOR_EDITS};
	memcpy(p.want, want, sizeof p.want);
	w->total_steps = engine_pass_steps(w->study->engine, &p) * w->samples;
	atomic_store(&w->done, 0);
	return engine_pass(w->study->engine, &p, err);
}

static bool wants_figure(const struct figure *f, int samples)
{
	return f->n_part == 0 && !figure_complete(f, samples);
}

static bool wants_quantized(const struct site_work *sw, int samples)
{
	return wants_figure(sw->graphwise, samples) || (sw->hist_quant && hist_wants(sw->hist_quant, samples));
}

static bool wants_alone(const struct site_work *sw, int samples)
{
	return sw->site.kind != SITE_FLOAT && wants_figure(sw->layerwise, samples);
}

// Whether anything of the site has yet to be measured. What is composed of other sites (n_part > 0) never has.
static bool site_missing(const struct site_work *sw, int samples)
{
	return wants_quantized(sw, samples) || wants_alone(sw, samples) ||
	    (sw->range->n_part == 0 && !range_complete(sw->range, samples)) || (sw->hist_float && hist_wants(sw->hist_float, samples));
}

// The task reads the network's outputs in this same pass.
static void want_outputs(const struct work *w, bool *const want[SIM_COUNT])
{
	const struct graph *g = w->study->g;
	for (int i = 0; i < g->n_outputs; i++)
		if (!g->value[g->output[i]].constant) {
			want[SIM_FLOAT][g->output[i]] |= task_gather_wants(w->gather, TASK_FLOAT);
			want[SIM_FULL][g->output[i]] |= task_gather_wants(w->gather, TASK_QUANT);
		}
}

static enum status measure_values(struct work *w, struct error *err)
{
	size_t n = (size_t)w->study->g->n_values + 1;
	bool *want[SIM_COUNT], any = false;
	bool layerwise = !w->study->opt.skip_layerwise && !w->look;
	for (int sim = 0; sim < SIM_COUNT; sim++)
		want[sim] = xcalloc(n, 1);
	for (int i = 0; i < w->n_sites; i++) {
		const struct site_work *sw = &w->site[i];
		int v = sw->site.value;
		if (sw->site.kind == SITE_WEIGHT || !site_missing(sw, w->samples))
			continue;
		any = want[SIM_FLOAT][v] = true;
		want[SIM_FULL][v] |= wants_quantized(sw, w->samples);
		want[SIM_ALONE][v] |= layerwise && sw->site.kind == SITE_OUTPUT && wants_alone(sw, w->samples);
	}
	for (int i = 0; i < w->study->g->n_outputs; i++)
		if (w->output[i].graphwise && wants_figure(w->output[i].graphwise, w->samples))
			any = want[SIM_FLOAT][w->output[i].value] = want[SIM_FULL][w->output[i].value] = true;
	if (any && w->gather)
		want_outputs(w, want);
	const bool *const wants[SIM_COUNT] = {want[SIM_FLOAT], NULL, want[SIM_FULL], want[SIM_ALONE]};
	enum status st = any ? pass(w, wants, see, err) : STATUS_OK;
	for (int sim = 0; sim < SIM_COUNT; sim++)
		free(want[sim]);
	return st;
}

enum status work_measure(struct work *w, struct error *err)
{
	if (!w->lack)
		w->lack = xcalloc((size_t)w->study->opt.threads, sizeof *w->lack);
	// Weights last: they take a while, and do not tell how the network does.
	enum status st = measure_values(w, err);
	if (st == STATUS_OK && w->look)
		work_publish(w, NULL);
	for (int i = 0; st == STATUS_OK && i < w->n_sites; i++)
		if (w->site[i].site.kind == SITE_WEIGHT && site_missing(&w->site[i], 1))
			st = work_measure_weight(w, &w->site[i], &w->lack->scratch, err);
	return st;
}

void work_reset(struct work *w)
{
	for (int i = 0; w->look && i < w->n_sites; i++)
		if (w->site[i].site.kind != SITE_WEIGHT && w->site[i].hist_float) {
			hist_clear(w->site[i].hist_float, w->samples);
			hist_clear(w->site[i].hist_quant, w->samples);
		}
	free(w->site);
	free(w->site_at);
	free(w->first_site);
	free(w->output);
	free(w->output_of);
	free(w->lack);
	w->lack = NULL;
	w->site = NULL;
	w->site_at = w->first_site = NULL;
	w->output = NULL;
	w->output_of = NULL;
	w->n_sites = 0;
	shared_plan_drop(&w->shared);
	w->plan = NULL;
}
