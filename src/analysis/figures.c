// The memo of figures: see figures.h.
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "figures.h"

enum kind { FIGURE, RANGE, HIST, SCALE, KINDS };
struct scale_memo {
	float scale;
	int32_t zero;
};
struct memo {
	struct keymap *map[KINDS];
	int samples;
};

struct memo *memo_new(int samples)
{
	struct memo *m = xcalloc(1, sizeof *m);
	m->samples = samples;
	for (int k = 0; k < KINDS; k++)
		m->map[k] = keymap_new();
	return m;
}

static void free_figure(struct key k, void *value, void *arg)
{
	struct figure *f = value;
	(void)k, (void)arg;
	free(f->sums);
	free(f->have);
	free(f);
}

static void free_range(struct key k, void *value, void *arg)
{
	struct range_memo *r = value;
	(void)k, (void)arg;
	free(r->range);
	free(r->have);
	free(r);
}

static void free_hist(struct key k, void *value, void *arg)
{
	struct hist_memo *h = value;
	(void)k, (void)arg;
	pthread_mutex_destroy(&h->lock);
	hist_drop(&h->h);
	free(h->have);
	free(h->used);
	free(h);
}

static void free_scale(struct key k, void *value, void *arg)
{
	(void)k, (void)arg;
	free(value);
}

void memo_free(struct memo **mp)
{
	static void (*const release[KINDS])(struct key, void *, void *) = {
	    [FIGURE] = free_figure, [RANGE] = free_range, [HIST] = free_hist, [SCALE] = free_scale};
	struct memo *m = *mp;
	if (!m)
		return;
	for (int k = 0; k < KINDS; k++) {
		keymap_each(m->map[k], release[k], NULL);
		keymap_free(&m->map[k]);
	}
	free(m);
	*mp = NULL;
}

struct figure *memo_figure(struct memo *m, struct key k)
{
	struct figure *f = keymap_get(m->map[FIGURE], k);
	if (f)
		return f;
	f = xcalloc(1, sizeof *f);
	f->key = k;
	f->sums = xcalloc((size_t)m->samples, sizeof *f->sums);
	f->have = xcalloc((size_t)m->samples, sizeof *f->have);
	keymap_put(m->map[FIGURE], k, f);
	return f;
}

struct range_memo *memo_range(struct memo *m, struct key k)
{
	struct range_memo *r = keymap_get(m->map[RANGE], k);
	if (r)
		return r;
	r = xcalloc(1, sizeof *r);
	r->key = k;
	r->range = xcalloc((size_t)m->samples, sizeof *r->range);
	r->have = xcalloc((size_t)m->samples, sizeof *r->have);
	keymap_put(m->map[RANGE], k, r);
	return r;
}

struct hist_memo *memo_hist(struct memo *m, struct key k, float lo, float hi, int levels)
{
	return memo_hist_keyed(m, key_add(k, (float[]){lo, hi}, 2 * sizeof(float)), lo, hi, levels);
}

struct hist_memo *memo_hist_keyed(struct memo *m, struct key k, float lo, float hi, int levels)
{
	struct hist_memo *h = keymap_get(m->map[HIST], k);
	if (h)
		return h;
	h = xcalloc(1, sizeof *h);
	*h = (struct hist_memo){.key = k, .levels = levels, .used_saved = -1};
	pthread_mutex_init(&h->lock, NULL);
	h->h = xcalloc(1, sizeof *h->h);
	h->h->refs = 1;
	h->h->lo = lo;
	h->h->hi = hi;
	h->have = xcalloc((size_t)m->samples, 1);
	h->used = levels > 0 ? xcalloc((size_t)levels, 1) : NULL;
	keymap_put(m->map[HIST], k, h);
	return h;
}

bool memo_scale(struct memo *m, struct key k, float *scale, int32_t *zero)
{
	const struct scale_memo *s = keymap_get(m->map[SCALE], k);
	if (!s)
		return false;
	*scale = s->scale;
	*zero = s->zero;
	return true;
}

void memo_set_scale(struct memo *m, struct key k, float scale, int32_t zero)
{
	struct scale_memo *s = keymap_get(m->map[SCALE], k);
	if (!s) {
		s = xmalloc(sizeof *s);
		keymap_put(m->map[SCALE], k, s);
	}
	*s = (struct scale_memo){scale, zero};
}

struct scale_visit {
	void (*fn)(struct key, float, int32_t, void *);
	void *arg;
};

static void visit_scale(struct key k, void *value, void *arg)
{
	const struct scale_visit *v = arg;
	const struct scale_memo *s = value;
	v->fn(k, s->scale, s->zero, v->arg);
}

void memo_each_scale(struct memo *m, void (*fn)(struct key, float, int32_t, void *), void *arg)
{
	keymap_each(m->map[SCALE], visit_scale, &(struct scale_visit){fn, arg});
}

bool figure_has(const struct figure *f, int sample)
{
	return f->merged || atomic_load_explicit(&f->have[sample], memory_order_acquire);
}

bool figure_complete(const struct figure *f, int samples)
{
	for (int i = 0; i < samples; i++)
		if (!figure_has(f, i))
			return false;
	return true;
}

void figure_set(struct figure *f, int sample, const struct tensor_sums *s)
{
	f->sums[sample] = *s;
	atomic_store_explicit(&f->have[sample], 1, memory_order_release);
}

struct figures figure_merge(const struct figure *f, int samples)
{
	if (f->merged)
		return f->saved;
	struct figures out = {0};
	struct tensor_sums all = {0};
	double nsr = 0, cosine = 0;
	int n_cosine = 0;
	for (int i = 0; i < samples; i++) {
		if (!figure_has(f, i))
			continue;
		const struct tensor_sums *s = &f->sums[i];
		struct metrics m = sums_metrics(s);
		if (out.known++ == 0)
			all = *s;
		else
			sums_merge(&all, s);
		nsr += s->e2 / (s->f2 + 1e-7); // PPQ's ratio of one sample: numerics.md 2.1
		if (isfinite(m.cosine)) {
			cosine += m.cosine;
			n_cosine++;
		}
	}
	if (out.known == 0)
		return out;
	out.pooled = sums_metrics(&all);
	out.nsr_mean = nsr / out.known;
	out.cosine_mean = n_cosine ? cosine / n_cosine : NAN;
	out.min = all.qmin;
	out.max = all.qmax;
	return out;
}

bool range_complete(const struct range_memo *r, int samples)
{
	for (int i = 0; !r->merged && i < samples; i++)
		if (!atomic_load_explicit(&r->have[i], memory_order_acquire))
			return false;
	return true;
}

void range_set(struct range_memo *r, int sample, const struct tensor_range *one)
{
	r->range[sample] = *one;
	atomic_store_explicit(&r->have[sample], 1, memory_order_release);
}

struct tensor_range range_merge(const struct range_memo *r, int samples)
{
	if (r->merged)
		return r->saved;
	struct tensor_range out = {0};
	for (int i = 0; i < samples; i++) {
		const struct tensor_range *one = &r->range[i];
		if (!atomic_load_explicit(&r->have[i], memory_order_acquire))
			continue;
		if (one->n > 0 && (out.n == 0 || one->min < out.min))
			out.min = one->min;
		if (one->n > 0 && (out.n == 0 || one->max > out.max))
			out.max = one->max;
		out.n += one->n;
		out.nonfinite += one->nonfinite;
	}
	return out;
}

bool hist_complete(const struct hist_memo *h, int samples)
{
	return h->n_have >= samples;
}

bool hist_has(struct hist_memo *h, int sample)
{
	pthread_mutex_lock(&h->lock);
	bool has = h->have[sample];
	pthread_mutex_unlock(&h->lock);
	return has;
}

void hist_add(struct hist_memo *h, int sample, const uint32_t *bin, const uint8_t *used)
{
	pthread_mutex_lock(&h->lock);
	if (!h->have[sample]) {
		for (int i = 0; i < STATS_BINS; i++)
			h->h->bin[i] += bin[i];
		for (int i = 0; used && h->used && i < h->levels; i++)
			h->used[i] |= used[i];
		h->have[sample] = 1;
		h->n_have++;
	}
	pthread_mutex_unlock(&h->lock);
}

struct hist *hist_publish(struct hist_memo *h, int samples)
{
	struct hist *out = NULL;
	pthread_mutex_lock(&h->lock);
	if (hist_complete(h, samples)) {
		out = hist_take(h->h);
	} else if (h->n_have > 0) {
		out = xmalloc(sizeof *out);
		memcpy(out, h->h, sizeof *out);
		out->refs = 1;
	}
	pthread_mutex_unlock(&h->lock);
	return out;
}

double hist_used(struct hist_memo *h)
{
	int n = 0;
	if (!h->used || h->used_saved >= 0)
		return h->used_saved;
	pthread_mutex_lock(&h->lock);
	for (int i = 0; i < h->levels; i++)
		n += h->used[i] != 0;
	bool any = h->n_have > 0;
	pthread_mutex_unlock(&h->lock);
	return any ? (double)n / h->levels : -1;
}
