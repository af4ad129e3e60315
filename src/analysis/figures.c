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
	hist_drop(&h->shown);
	free(h->grid);
	free(h->count);
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

struct hist_memo *memo_hist(struct memo *m, struct key k)
{
	struct hist_memo *h = keymap_get(m->map[HIST], k);
	if (h)
		return h;
	h = xcalloc(1, sizeof *h);
	h->key = k;
	h->used_saved = -1;
	pthread_mutex_init(&h->lock, NULL);
	h->have = xcalloc((size_t)m->samples, 1);
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

bool range_has(const struct range_memo *r, int sample)
{
	return r->merged || atomic_load_explicit(&r->have[sample], memory_order_acquire);
}

bool range_complete(const struct range_memo *r, int samples)
{
	for (int i = 0; i < samples; i++)
		if (!range_has(r, i))
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
	return h->merged || h->n_have >= samples;
}

bool hist_lacks_floats(struct hist_memo *h, int sample, struct grid *g)
{
	pthread_mutex_lock(&h->lock);
	bool lacks = !h->merged && !h->have[sample];
	g->n = 0;
	if (lacks && h->grid)
		grid_shape(g, h->grid);
	pthread_mutex_unlock(&h->lock);
	return lacks;
}

static bool take_sample(struct hist_memo *h, int sample)
{
	bool first = !h->merged && !h->have[sample];
	h->have[sample] = 1;
	h->n_have += first;
	return first;
}

void hist_add_floats(struct hist_memo *h, int sample, const struct grid *g)
{
	pthread_mutex_lock(&h->lock);
	if (take_sample(h, sample)) {
		if (!h->grid)
			h->grid = xcalloc(1, sizeof *h->grid);
		grid_merge(h->grid, g);
	}
	pthread_mutex_unlock(&h->lock);
}

// Neighbouring codes of 16 bit share a count: there are more of them than a histogram has bins.
static void open_codes(struct hist_memo *h, enum dtype type, const struct quantizer *q)
{
	enum { COUNTS = 4096 };
	h->type = type;
	h->scale = q->scale[0];
	h->zero = q->zero ? q->zero[0] : 0;
	h->quant = *q;
	h->levels = 1 << (8 * dtype_size(type));
	while (h->levels >> h->shift > COUNTS)
		h->shift++;
	h->count = xcalloc((size_t)h->levels >> h->shift, sizeof *h->count);
	h->used = xcalloc((size_t)h->levels, 1);
}

void hist_add_codes(struct hist_memo *h, int sample, const uint32_t *count, enum dtype type, const struct quantizer *q)
{
	pthread_mutex_lock(&h->lock);
	if (take_sample(h, sample)) {
		if (!h->count)
			open_codes(h, type, q);
		for (int i = 0; i < h->levels; i++) {
			h->count[i >> h->shift] += count[i];
			h->used[i] |= count[i] > 0;
		}
	}
	pthread_mutex_unlock(&h->lock);
}

void hist_set(struct hist_memo *h, struct hist *whole)
{
	pthread_mutex_lock(&h->lock);
	hist_drop(&h->shown);
	h->shown = whole;
	h->merged = true;
	pthread_mutex_unlock(&h->lock);
}

static bool has_counts(const struct hist_memo *h)
{
	return h->n_have > 0 && ((h->grid && h->grid->n > 0) || h->count);
}

static struct hist *make_hist(struct hist_memo *h, float lo, float hi)
{
	struct hist *out = xcalloc(1, sizeof *out);
	out->refs = 1;
	out->lo = lo;
	out->hi = hi;
	h->quant.scale = &h->scale;
	h->quant.zero = &h->zero;
	if (h->grid)
		grid_spread(h->grid, lo, hi, out->bin, STATS_BINS);
	if (h->count)
		grid_codes(h->count, h->type, h->shift, &h->quant, lo, hi, out->bin, STATS_BINS);
	return out;
}

static struct hist *publish(struct hist_memo *h, int samples, float lo, float hi, bool same_edges)
{
	pthread_mutex_lock(&h->lock);
	bool stale = !h->shown || h->n_have >= 2 * h->n_shown || (h->n_have > h->n_shown && h->n_have >= samples) ||
	    (same_edges && (h->shown->lo != lo || h->shown->hi != hi));
	if (!h->merged && stale && has_counts(h)) {
		hist_drop(&h->shown);
		h->shown = make_hist(h, lo, hi);
		h->n_shown = h->n_have;
	}
	struct hist *out = hist_take(h->shown);
	pthread_mutex_unlock(&h->lock);
	return out;
}

struct hist *hist_publish(struct hist_memo *h, int samples, const struct tensor_range *range)
{
	return publish(h, samples, range->min, range->max, false);
}

struct hist *hist_publish_beside(struct hist_memo *h, int samples, const struct hist *edges)
{
	return publish(h, samples, edges->lo, edges->hi, true);
}

double hist_used(struct hist_memo *h)
{
	int n = 0;
	pthread_mutex_lock(&h->lock);
	for (int i = 0; i < h->levels; i++)
		n += h->used[i] != 0;
	double share = h->levels > 0 ? (double)n / h->levels : h->used_saved;
	pthread_mutex_unlock(&h->lock);
	return share;
}
