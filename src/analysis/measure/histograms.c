// Histograms of the memo: see figures.h.
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include "figures.h"

void hist_compose(struct hist_memo *h, struct hist_memo *const *part, int n)
{
	bool known = h->n_have == 0 && !h->merged;
	for (int i = 0; i < n; i++)
		known &= !part[i]->merged;
	h->part = xrealloc(h->part, (size_t)n * sizeof *part);
	for (int i = 0; i < n; i++)
		h->part[i] = part[i]->n_part == 1 ? part[i]->part[0] : part[i];
	h->n_part = known ? n : 0;
}

static int samples_of(const struct hist_memo *h)
{
	int n = h->n_part ? INT_MAX : h->n_have;
	for (int i = 0; i < h->n_part; i++) {
		int of_part = samples_of(h->part[i]);
		n = of_part < n ? of_part : n;
	}
	return n;
}

bool hist_complete(const struct hist_memo *h, int samples)
{
	return h->merged || samples_of(h) >= samples;
}

bool hist_wants(const struct hist_memo *h, int samples)
{
	return h->n_part == 0 && !hist_complete(h, samples);
}

bool hist_lacks_floats(struct hist_memo *h, int sample, struct grid *g)
{
	pthread_mutex_lock(&h->lock);
	bool lacks = !h->merged && h->n_part == 0 && !h->have[sample];
	grid_clear(g);
	if (lacks && h->grid)
		packed_grid_shape(g, h->grid);
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
		struct grid sum;
		grid_clear(&sum);
		if (h->grid)
			packed_grid_open(&sum, h->grid);
		grid_merge(&sum, g);
		free(h->grid);
		h->grid = packed_grid_new(&sum);
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

// Of 16-bit codes a small tensor has few: those that none has are passed over,
// a line of the processor's cache at a time.
static void add_counts(struct hist_memo *h, const uint32_t *count)
{
	enum { LINE = 16 };
	for (int i = 0; i < h->levels; i += LINE) {
		uint32_t any = 0;
		for (int k = 0; k < LINE; k++)
			any |= count[i + k];
		for (int k = i; any && k < i + LINE; k++) {
			h->count[k >> h->shift] += count[k];
			h->used[k] |= count[k] > 0;
		}
	}
}

void hist_add_codes(struct hist_memo *h, int sample, const uint32_t *count, enum dtype type, const struct quantizer *q)
{
	pthread_mutex_lock(&h->lock);
	if (take_sample(h, sample)) {
		if (!h->count)
			open_codes(h, type, q);
		add_counts(h, count);
	}
	pthread_mutex_unlock(&h->lock);
}

void hist_clear(struct hist_memo *h, int samples)
{
	pthread_mutex_lock(&h->lock);
	hist_drop(&h->shown);
	free(h->grid);
	free(h->count);
	free(h->used);
	h->grid = NULL;
	h->count = NULL;
	h->used = NULL;
	memset(h->have, 0, (size_t)samples);
	h->n_have = 0;
	h->n_shown = h->levels = h->shift = h->n_part = 0;
	h->merged = false;
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

// On the heap: parts are spread within parts.
static void spread_floats(const struct packed_grid *p, float lo, float hi, uint32_t *bin)
{
	struct grid *g = xmalloc(sizeof *g);
	packed_grid_open(g, p);
	grid_spread(g, lo, hi, bin, STATS_BINS);
	free(g);
}

// Adds its counts, or its parts', to the bins over [lo, hi].
static void spread(struct hist_memo *h, float lo, float hi, uint32_t *bin)
{
	h->quant.scale = &h->scale;
	h->quant.zero = &h->zero;
	if (h->grid)
		spread_floats(h->grid, lo, hi, bin);
	if (h->count)
		grid_codes(&(struct code_counts){h->count, h->type, h->shift, &h->quant}, lo, hi, bin, STATS_BINS);
	for (int i = 0; i < h->n_part; i++) {
		pthread_mutex_lock(&h->part[i]->lock);
		spread(h->part[i], lo, hi, bin);
		pthread_mutex_unlock(&h->part[i]->lock);
	}
}

static struct hist *make_hist(struct hist_memo *h, float lo, float hi)
{
	struct hist *out = xcalloc(1, sizeof *out);
	out->refs = 1;
	out->lo = lo;
	out->hi = hi;
	spread(h, lo, hi, out->bin);
	return out;
}

static struct hist *publish(struct hist_memo *h, int samples, float lo, float hi, bool same_edges)
{
	pthread_mutex_lock(&h->lock);
	int n = samples_of(h);
	bool stale = !h->shown || n >= 2 * h->n_shown || (n > h->n_shown && n >= samples) ||
	    (same_edges && (h->shown->lo != lo || h->shown->hi != hi));
	if (!h->merged && stale && n > 0) {
		hist_drop(&h->shown);
		h->shown = make_hist(h, lo, hi);
		h->n_shown = n;
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

static int levels_of(struct hist_memo *h)
{
	if (h->n_part == 0)
		return h->levels;
	pthread_mutex_lock(&h->part[0]->lock);
	int levels = levels_of(h->part[0]);
	pthread_mutex_unlock(&h->part[0]->lock);
	return levels;
}

static void add_used(struct hist_memo *h, uint8_t *used, int levels)
{
	for (int i = 0; i < h->levels && i < levels; i++)
		used[i] |= h->used[i];
	for (int i = 0; i < h->n_part; i++) {
		pthread_mutex_lock(&h->part[i]->lock);
		add_used(h->part[i], used, levels);
		pthread_mutex_unlock(&h->part[i]->lock);
	}
}

double hist_used(struct hist_memo *h)
{
	int n = 0;
	pthread_mutex_lock(&h->lock);
	int levels = levels_of(h);
	uint8_t *used = xcalloc((size_t)levels + 1, 1);
	add_used(h, used, levels);
	for (int i = 0; i < levels; i++)
		n += used[i];
	double share = levels > 0 ? (double)n / levels : h->used_saved;
	pthread_mutex_unlock(&h->lock);
	free(used);
	return share;
}
