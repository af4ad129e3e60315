// The memo: its entries, and what goes of them. See figures.h.
#include <stddef.h>
#include <stdlib.h>
#include "figures.h"
#include "qtui/engine/plan.h"

enum kind { FIGURE, RANGE, HIST, SCALE, OBSERVER, KINDS };
struct scale_memo {
	float scale;
	int32_t zero;
};
struct observer_memo {
	struct observer *observer; // owned
	int keys;                  // that it is kept under
	unsigned asked;
};
struct memo {
	struct keymap *map[KINDS];
	int samples;
	unsigned run; // those before it have ended
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
	free(f->part);
	free(f);
}

static void free_range(struct key k, void *value, void *arg)
{
	struct range_memo *r = value;
	(void)k, (void)arg;
	free(r->range);
	free(r->have);
	free(r->part);
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
	free(h->part);
	free(h);
}

static void free_scale(struct key k, void *value, void *arg)
{
	(void)k, (void)arg;
	free(value);
}

static void free_observer(struct key k, void *value, void *arg)
{
	struct observer_memo *o = value;
	(void)k, (void)arg;
	if (--o->keys > 0)
		return;
	observer_free(&o->observer);
	free(o);
}

static size_t figure_bytes(const void *value, int samples)
{
	const struct figure *f = value;
	return sizeof *f + (size_t)samples * (sizeof *f->sums + sizeof *f->have) + (size_t)f->n_part * sizeof(void *);
}

static size_t range_bytes(const void *value, int samples)
{
	const struct range_memo *r = value;
	return sizeof *r + (size_t)samples * (sizeof *r->range + sizeof *r->have) + (size_t)r->n_part * sizeof(void *);
}

static size_t hist_bytes(const void *value, int samples)
{
	const struct hist_memo *h = value;
	size_t counts = ((size_t)h->levels >> h->shift) * sizeof *h->count + (size_t)h->levels;
	return sizeof *h + (size_t)samples + (h->grid ? packed_grid_bytes(h->grid) : 0) + counts + (h->shown ? sizeof *h->shown : 0) +
	    (size_t)h->n_part * sizeof(void *);
}

static size_t observer_share(const void *value, int samples)
{
	const struct observer_memo *o = value;
	(void)samples;
	return (sizeof *o + observer_bytes(o->observer)) / (size_t)o->keys;
}

static const struct {
	void (*release)(struct key, void *, void *);
	size_t (*bytes)(const void *value, int samples);
	size_t asked; // where the entry has it
} of_kind[KINDS] = {
	[FIGURE] = {free_figure, figure_bytes, offsetof(struct figure, asked)},
	[RANGE] = {free_range, range_bytes, offsetof(struct range_memo, asked)},
	[HIST] = {free_hist, hist_bytes, offsetof(struct hist_memo, asked)},
	[SCALE] = {free_scale, NULL, 0},
	[OBSERVER] = {free_observer, observer_share, offsetof(struct observer_memo, asked)},
};

void memo_free(struct memo **mp)
{
	struct memo *m = *mp;
	if (!m)
		return;
	for (int k = 0; k < KINDS; k++) {
		keymap_each(m->map[k], of_kind[k].release, NULL);
		keymap_free(&m->map[k]);
	}
	free(m);
	*mp = NULL;
}

// ---- what it holds

struct counting {
	const struct memo *m;
	int kind;
	size_t bytes;
};

static void count_entry(struct key k, void *value, void *arg)
{
	struct counting *c = arg;
	(void)k;
	c->bytes += of_kind[c->kind].bytes(value, c->m->samples);
}

size_t memo_bytes(const struct memo *m)
{
	struct counting c = {.m = m};
	for (c.kind = 0; c.kind < KINDS; c.kind++)
		if (of_kind[c.kind].bytes)
			keymap_each(m->map[c.kind], count_entry, &c);
	return c.bytes;
}

void memo_end_run(struct memo *m)
{
	m->run++;
}

struct forgetting {
	struct keymap *left;
	int kind;
	unsigned before;
};

static void forget_entry(struct key k, void *value, void *arg)
{
	struct forgetting *f = arg;
	const unsigned *asked = (const void *)((const char *)value + of_kind[f->kind].asked);
	if (*asked < f->before)
		of_kind[f->kind].release(k, value, NULL);
	else
		keymap_put(f->left, k, value);
}

// A part is never older than what is composed of it (touch_...), so nothing that stays asks what has gone.
void memo_forget(struct memo *m, unsigned runs)
{
	if (m->run <= runs)
		return;
	for (int k = 0; k < KINDS; k++) {
		struct forgetting f = {.kind = k, .before = m->run - runs};
		if (!of_kind[k].bytes)
			continue;
		f.left = keymap_new();
		keymap_each(m->map[k], forget_entry, &f);
		keymap_free(&m->map[k]);
		m->map[k] = f.left;
	}
}

// Asked for in this run, and so are its parts.
#define TOUCH(name, type)                                                                                              \
	static type *name(type *x, unsigned run)                                                                       \
	{                                                                                                              \
		bool known = x->asked == run;                                                                          \
		x->asked = run;                                                                                        \
		for (int i = 0; !known && i < x->n_part; i++)                                                          \
			name(x->part[i], run);                                                                         \
		return x;                                                                                              \
	}
TOUCH(touch_figure, struct figure)
TOUCH(touch_range, struct range_memo)
TOUCH(touch_hist, struct hist_memo)

struct figure *memo_figure(struct memo *m, struct key k)
{
	struct figure *f = keymap_get(m->map[FIGURE], k);
	if (f)
		return touch_figure(f, m->run);
	f = xcalloc(1, sizeof *f);
	f->key = k;
	f->asked = m->run;
	f->sums = xcalloc((size_t)m->samples, sizeof *f->sums);
	f->have = xcalloc((size_t)m->samples, sizeof *f->have);
	keymap_put(m->map[FIGURE], k, f);
	return f;
}

struct range_memo *memo_range(struct memo *m, struct key k)
{
	struct range_memo *r = keymap_get(m->map[RANGE], k);
	if (r)
		return touch_range(r, m->run);
	r = xcalloc(1, sizeof *r);
	r->key = k;
	r->asked = m->run;
	r->range = xcalloc((size_t)m->samples, sizeof *r->range);
	r->have = xcalloc((size_t)m->samples, sizeof *r->have);
	keymap_put(m->map[RANGE], k, r);
	return r;
}

struct hist_memo *memo_hist(struct memo *m, struct key k)
{
	struct hist_memo *h = keymap_get(m->map[HIST], k);
	if (h)
		return touch_hist(h, m->run);
	h = xcalloc(1, sizeof *h);
	h->key = k;
	h->asked = m->run;
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

const struct observer *memo_observer(struct memo *m, struct key k)
{
	struct observer_memo *o = keymap_get(m->map[OBSERVER], k);
	if (!o)
		return NULL;
	o->asked = m->run;
	return o->observer;
}

void memo_keep_observer(struct memo *m, const struct key *k, int n, struct observer *observer)
{
	struct observer_memo *o = xmalloc(sizeof *o);
	*o = (struct observer_memo){observer, n, m->run};
	for (int i = 0; i < n; i++) {
		void *old = keymap_remove(m->map[OBSERVER], k[i]);
		if (old)
			free_observer(k[i], old, NULL);
		keymap_put(m->map[OBSERVER], k[i], o);
	}
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
