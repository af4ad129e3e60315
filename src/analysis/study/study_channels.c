// Channels of the tensor that somebody looks at: gathered by the conductor between runs,
// over the calibration samples, and shown as they come.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include "body.h"
#include "qtui/analysis/channels.h"

enum { MOST = 1 << 16 };   // channels
enum { WITH_ALONE = 2 };   // networks that are compared with the float one
enum { PERIOD_MS = 100 };  // at which what is gathered so far is shown

struct gathering {
	struct study *s;
	const struct snapshot *snap;
	const struct plan *plan;
	const struct site *site;
	struct quantizer quant;
	struct channel_split split;
	int variants;                 // 1: the quantized network; WITH_ALONE: also the node alone
	pthread_mutex_t lock;
	struct channel_sums *all;     // [variants * split.n] of samples 0..next-1
	struct channel_sums **part;   // [samples] of those that wait for their turn: sums merge in the order of samples
	struct channel_sample *sample; // [samples] of which `next` are known
	int next, samples;
	double shown_at;
	atomic_bool failed;
};

// ---- showing

static void publish(const struct gathering *w, struct channels *c)
{
	c->slot = w->site->slot;
	c->decision = w->snap->decision;
	study_publish_channels(w->s, c);
}

static void show(const struct gathering *w, int of)
{
	struct channels *c = channels_of(&w->split, w->all, w->variants == WITH_ALONE ? w->all + w->split.n : NULL, &w->quant, w->next, of);
	if (w->site->kind != SITE_WEIGHT)
		channels_set_samples(c, w->sample, w->next);
	publish(w, c);
}

static void show_problem(const struct gathering *w, const char *text)
{
	struct channels *c = xcalloc(1, sizeof *c);
	*c = (struct channels){.refs = 1, .axis = CHANNELS_UNKNOWN};
	snprintf(c->problem, sizeof c->problem, "%s", text);
	publish(w, c);
}

// ---- one sample

static bool as_floats(struct rep *out, struct rep *r, int width)
{
	struct rep floats = {0};
	struct error err;
	bool ok = rep_to_float(&floats, r, width, &err) == STATUS_OK && rep_to_layout(out, &floats, LAYOUT_PLAIN, width, &err) == STATUS_OK;
	rep_drop(&floats);
	return ok;
}

// What an input's own quantizer makes of it.
static bool as_quantized(const struct gathering *w, struct rep *out, struct rep *r, int width)
{
	struct rep codes = {0};
	struct error err;
	bool ok = rep_apply(&codes, r, &w->plan->slot[w->site->slot].quant, width, &err) == STATUS_OK && as_floats(out, &codes, width);
	rep_drop(&codes);
	return ok;
}

static bool quantized_version(const struct gathering *w, struct rep *out, const struct sighting *s, int variant)
{
	if (w->site->kind == SITE_INPUT)
		return as_quantized(w, out, s->rep[variant ? SIM_FLOAT : SIM_FULL], s->width);
	return as_floats(out, s->rep[variant ? SIM_ALONE : SIM_FULL], s->width);
}

static bool sum_variants(const struct gathering *w, struct channel_sums *out, const struct sighting *s)
{
	struct rep f = {0};
	bool ok = as_floats(&f, s->rep[SIM_FLOAT], s->width) && shape_equal(&f.t.shape, &w->plan->g->value[s->value].shape);
	for (int i = 0; ok && i < w->variants; i++) {
		struct rep q = {0};
		ok = quantized_version(w, &q, s, i);
		if (ok)
			channel_sums(out + i * w->split.n, &w->split, &f.t, &q.t, &w->quant);
		rep_drop(&q);
	}
	rep_drop(&f);
	return ok;
}

// All channels together.
static struct channel_sample sample_of(const struct gathering *w, const struct channel_sums *part, int sample)
{
	struct tensor_sums all = part[0].sums;
	for (int64_t i = 1; i < w->split.n; i++)
		sums_merge(&all, &part[i].sums);
	struct metrics m = sums_metrics(&all);
	return (struct channel_sample){dataset_name(w->s->preparation[w->snap->preparation].d, sample), m.exact ? INFINITY : m.snr_db};
}

// The caller holds the lock.
static void merge(struct gathering *w)
{
	while (w->next < w->samples && w->part[w->next]) {
		struct channel_sums *part = w->part[w->next];
		for (int64_t i = 0; i < w->variants * w->split.n; i++)
			if (w->next == 0)
				w->all[i] = part[i];
			else
				channel_sums_merge(&w->all[i], &part[i]);
		w->sample[w->next] = sample_of(w, part, w->next);
		free(part);
		w->part[w->next++] = NULL;
	}
}

static void see(void *arg, const struct sighting *s)
{
	struct gathering *w = arg;
	struct channel_sums *part = mem_try_array((size_t)(w->variants * w->split.n), sizeof *part);
	if (!part || !sum_variants(w, part, s)) {
		atomic_store(&w->failed, true);
		free(part);
		return;
	}
	pthread_mutex_lock(&w->lock);
	int before = w->next;
	w->part[s->sample] = part;
	merge(w);
	if (w->next > before && w->next < w->samples && clock_seconds() - w->shown_at > PERIOD_MS * 1e-3) {
		show(w, w->samples);
		w->shown_at = clock_seconds();
	}
	pthread_mutex_unlock(&w->lock);
}

// ---- all of them

static enum status gather_samples(struct gathering *w, struct error *err)
{
	size_t values = (size_t)w->plan->g->n_values + 1;
	bool *want = xcalloc(values, sizeof *want);
	struct pass pass = {.plan = w->plan, .data = w->s->preparation[w->snap->preparation].d, .last = w->samples,
	    .keep = KEEP_NOTHING, .visit = see, .arg = w,
	    .cancel = &w->s->cancel};
	want[w->site->value] = true;
	pass.want[SIM_FLOAT] = pass.want[SIM_FULL] = want;
	if (w->variants == WITH_ALONE && w->site->kind == SITE_OUTPUT)
		pass.want[SIM_ALONE] = want;
	enum status st = engine_pass(w->s->engine, &pass, err);
	if (st == STATUS_OK && atomic_load(&w->failed))
		st = error_set(err, STATUS_UNSUPPORTED, "its shape is not that of the model, or memory is short");
	free(want);
	return st;
}

static enum status gather_weight(struct gathering *w, struct error *err)
{
	const struct tensor *x = w->plan->g->value[w->site->value].constant;
	struct tensor y = *x;
	y.buf = NULL;
	enum status st = tensor_alloc(&y, NULL, err);
	if (st != STATUS_OK)
		return st;
	fake_quantize(&y, plan_constant(w->plan, w->site->slot), &w->plan->slot[w->site->slot].quant, 1);
	channel_sums(w->all, &w->split, x, &y, &w->quant);
	tensor_drop(&y);
	w->next = 1;
	return STATUS_OK;
}

static enum status gather(struct gathering *w, struct error *err)
{
	bool weight = w->site->kind == SITE_WEIGHT;
	w->variants = weight || w->site->kind == SITE_FLOAT || w->s->opt.skip_layerwise ? 1 : WITH_ALONE;
	w->samples = weight ? 1 : w->snap->samples;
	w->all = mem_try_array((size_t)(w->variants * w->split.n), sizeof *w->all);
	w->part = xcalloc((size_t)w->samples + 1, sizeof *w->part);
	w->sample = xcalloc((size_t)w->samples + 1, sizeof *w->sample);
	if (!w->all)
		return error_set(err, STATUS_NOMEM, "no memory for the figures of %lld channels", (long long)w->split.n);
	return weight ? gather_weight(w, err) : gather_samples(w, err);
}

// Where the operators do not say, a quantizer with a scale per channel does.
static struct channel_split split_of(const struct gathering *w)
{
	const struct graph *g = w->plan->g;
	const struct slot *slot = &w->plan->slot[w->site->slot];
	int *axes = channel_axes(g);
	struct channel_split s = slot->parameter ? channel_split_constant(g, axes, slot->node, slot->index) :
	    channel_split(&g->value[slot->value].shape, axes[slot->value]);
	free(axes);
	if (s.axis == CHANNELS_UNKNOWN && slot->quant.n > 1)
		s = channel_split(&g->value[slot->value].shape, slot->quant.axis);
	return s;
}

static enum status begin(struct gathering *w, struct error *err)
{
	char dims[160];
	w->split = split_of(w);
	w->quant = w->plan->slot[w->site->slot].quant;
	if (w->quant.n > 1 && w->quant.axis != w->split.axis)
		w->quant.kind = QUANT_NONE; // its scales are not those of the channels
	if (w->split.axis == CHANNELS_UNKNOWN)
		return error_set(err, STATUS_UNSUPPORTED, "channels unknown: no operator around it says which dimension of %s they are",
		    shape_text(&w->plan->g->value[w->site->value].shape, dims, sizeof dims));
	if (w->split.n < 1 || w->split.n > MOST)
		return error_set(err, STATUS_UNSUPPORTED, "%lld channels: figures are made of 1 to %d", (long long)w->split.n, MOST);
	return STATUS_OK;
}

static const struct site *site_of(const struct snapshot *s, int slot)
{
	for (int i = 0; i < s->n_sites; i++)
		if (s->site[i].slot == slot)
			return &s->site[i];
	return NULL;
}

static void gather_and_show(struct gathering *w)
{
	struct error err = {0};
	enum status st = begin(w, &err);
	if (st == STATUS_OK)
		st = gather(w, &err);
	if (st == STATUS_OK)
		show(w, w->samples);
	else if (st != STATUS_CANCELLED)
		show_problem(w, err.text);
	for (int i = 0; w->part && i < w->samples; i++)
		free(w->part[i]);
	free(w->part);
	free(w->sample);
	free(w->all);
}

void study_gather_channels(struct study *s, int slot)
{
	struct snapshot *snap = study_latest(s);
	struct gathering w = {.s = s, .snap = snap, .plan = snapshot_plan(snap), .site = site_of(snap, slot)};
	if (w.plan && w.site && !snap->dirty) {
		pthread_mutex_init(&w.lock, NULL);
		gather_and_show(&w);
		pthread_mutex_destroy(&w.lock);
	}
	snapshot_drop(&snap);
}

bool study_gathering(const struct study *s)
{
	study_lock(s);
	bool gathering = s->channels_slot || s->gathering;
	study_unlock(s);
	return gathering;
}

void study_channels(struct study *s, int slot)
{
	study_lock(s);
	s->channels_slot = slot + 1;
	if (s->gathering)
		atomic_store(&s->cancel, true);
	pthread_cond_broadcast(&s->changed);
	study_unlock(s);
}
