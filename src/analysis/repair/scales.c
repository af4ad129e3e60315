// Plans of edits that the study has not calibrated. A tensor's scale is looked up by tensor and observer;
// what is missing is observed in one pass over all samples of the study.
#include <stdlib.h>
#include <string.h>
#include "qtui/base/hash.h"
#include "repair_impl.h"

struct known_scale {
	float scale;
	int32_t zero;
};
struct scales {
	const struct graph *g;
	const struct target *target;
	struct engine *engine;
	int samples;
	const atomic_bool *cancel;
	struct plan_cache *cache;
	struct keymap *known; // of tensor and observer -> struct known_scale
};

struct scales *scales_new(const struct graph *g, const struct target *t, struct engine *e, int samples, const atomic_bool *cancel)
{
	struct scales *s = xcalloc(1, sizeof *s);
	*s = (struct scales){.g = g, .target = t, .engine = e, .samples = samples, .cancel = cancel};
	s->cache = plan_cache_new();
	s->known = keymap_new();
	return s;
}

static void drop_scale(struct key k, void *value, void *arg)
{
	(void)k;
	(void)arg;
	free(value);
}

void scales_free(struct scales **s)
{
	if (!*s)
		return;
	keymap_each((*s)->known, drop_scale, NULL);
	keymap_free(&(*s)->known);
	plan_cache_free(&(*s)->cache);
	free(*s);
	*s = NULL;
}

static struct key key_of_observation(const struct observe *o)
{
	return key_add_int(o->key, o->value);
}

static void remember(struct scales *s, const struct observe *o, float scale, int32_t zero)
{
	struct key k = key_of_observation(o);
	if (keymap_get(s->known, k))
		return;
	struct known_scale *e = xcalloc(1, sizeof *e);
	*e = (struct known_scale){scale, zero};
	keymap_put(s->known, k, e);
}

void scales_learn(struct scales *s, const struct plan *p)
{
	for (int i = 0; i < p->n_observe; i++)
		remember(s, &p->observe[i], p->observe[i].scale, p->observe[i].zero);
}

struct watch {
	struct scales *s;
	const struct plan *plan;
	struct observer **observer; // [n_observe] NULL where the scale is known
	bool *want;                 // [n_values]
	int phase;
	atomic_bool failed;
};

static bool watches(const struct watch *w, int i)
{
	return w->observer[i] && w->phase < observer_phases(w->observer[i]);
}

static void see(void *arg, const struct sighting *s)
{
	struct watch *w = arg;
	struct rep x = {0};
	struct error err = {0};
	if (!s->rep[SIM_WEIGHTS])
		return;
	if (rep_to_float(&x, s->rep[SIM_WEIGHTS], s->width, &err) != STATUS_OK) {
		atomic_store(&w->failed, true);
		return;
	}
	for (int i = 0; i < w->plan->n_observe; i++)
		if (watches(w, i) && w->plan->observe[i].value == s->value)
			observer_feed(w->observer[i], w->phase, s->sample, &x.t);
	rep_drop(&x);
}

// Observes constants at once: a pass does not show them. False when nothing is left to watch in a pass.
static bool begin_phase(struct watch *w)
{
	bool any = false;
	memset(w->want, 0, (size_t)w->s->g->n_values);
	for (int i = 0; i < w->plan->n_observe; i++) {
		const struct tensor *constant = w->s->g->value[w->plan->observe[i].value].constant;
		if (!watches(w, i))
			continue;
		any = true;
		w->want[w->plan->observe[i].value] = !constant;
		for (int k = 0; constant && k < w->s->samples; k++)
			observer_feed(w->observer[i], w->phase, k, constant);
	}
	return any;
}

static enum status observe(struct watch *w, struct error *err)
{
	enum status st = STATUS_OK;
	for (w->phase = 0; st == STATUS_OK && w->phase < 2 && begin_phase(w); w->phase++) {
		struct pass p = {.plan = w->plan, .want = {[SIM_WEIGHTS] = w->want}, .last = w->s->samples, .visit = see, .arg = w,
		    .cancel = w->s->cancel};
		st = engine_pass(w->s->engine, &p, err);
		if (st == STATUS_OK && atomic_load(&w->failed)) {
			error_set(err, STATUS_NOMEM, "no memory to calibrate");
			st = graph_error(w->s->g, -1, err);
		}
	}
	for (int i = 0; st == STATUS_OK && i < w->plan->n_observe; i++) {
		struct known_scale k;
		if (!w->observer[i])
			continue;
		observer_finish(w->observer[i], &k.scale, &k.zero);
		remember(w->s, &w->plan->observe[i], k.scale, k.zero);
	}
	return st;
}

static enum status calibrate(struct scales *s, const struct plan *p, struct error *err)
{
	struct watch w = {.s = s, .plan = p};
	bool missing = false;
	w.observer = xcalloc((size_t)p->n_observe + 1, sizeof *w.observer);
	w.want = xcalloc((size_t)s->g->n_values + 1, 1);
	for (int i = 0; i < p->n_observe; i++)
		if (!keymap_get(s->known, key_of_observation(&p->observe[i]))) {
			w.observer[i] = observer_new(p, i, s->samples);
			missing = true;
		}
	enum status st = missing ? observe(&w, err) : STATUS_OK;
	for (int i = 0; i < p->n_observe; i++)
		observer_free(&w.observer[i]);
	free(w.observer);
	free(w.want);
	return st;
}

static enum status finish(const struct scales *s, struct plan *p, const struct edits *e, struct error *err)
{
	float *scale = xcalloc((size_t)p->n_observe + 1, sizeof *scale);
	int32_t *zero = xcalloc((size_t)p->n_observe + 1, sizeof *zero);
	for (int i = 0; i < p->n_observe; i++) {
		const struct known_scale *k = keymap_get(s->known, key_of_observation(&p->observe[i]));
		scale[i] = k->scale;
		zero[i] = k->zero;
	}
	enum status st = plan_finish(p, scale, zero, e, err);
	free(scale);
	free(zero);
	return st;
}

enum status scales_plan(struct scales *s, struct plan **out, const struct trial *t, struct error *err)
{
	struct plan *p = NULL;
	enum status st = plan_new(&p, s->g, s->target, t->method, t->edits, s->cache, err);
	if (st == STATUS_OK)
		st = calibrate(s, p, err);
	if (st == STATUS_OK)
		st = finish(s, p, t->edits, err);
	if (st == STATUS_OK)
		*out = p;
	else
		plan_free(&p);
	return st;
}
