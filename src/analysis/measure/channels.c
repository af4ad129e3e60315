// Figures of channels from their sums: see channels.h.
#include "qtui/analysis/channels.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "qtui/base/mem.h"
#include "qtui/base/order.h"

static const double MUCH_CLIPPED = 0.01; // of the elements
static const double MUCH_SHIFTED = 0.5, SHIFT_SHARE = 0.1; // of a step; of the squared error

const char *channel_flag_name(int bit)
{
	static const char *const name[CHANNEL_FLAGS] = {"dead", "outlier", "few codes", "clipped", "shifted"};
	return name[bit];
}

struct channels *channels_take(struct channels *c)
{
	if (c)
		atomic_fetch_add(&c->refs, 1);
	return c;
}

void channels_drop(struct channels **cp)
{
	struct channels *c = *cp;
	*cp = NULL;
	if (!c || atomic_fetch_sub(&c->refs, 1) != 1)
		return;
	free(c->at);
	free(c->sample);
	free(c);
}

static double reach_of(const struct channel *c)
{
	if (c->min > c->max)
		return 0; // it has no elements
	return fmax(fabs((double)c->min), fabs((double)c->max));
}

static double snr_of(const struct tensor_sums *s)
{
	struct metrics m = sums_metrics(s);
	return m.exact ? INFINITY : m.snr_db;
}

static float scale_of(const struct quantizer *q, int channel)
{
	return q->kind == QUANT_LINEAR ? q->scale[q->n > 1 ? channel % q->n : 0] : 0;
}

static struct channel one_channel(const struct channel_sums *s, const struct quantizer *q, int i)
{
	struct channel c = {.min = s->sums.fmin, .max = s->sums.fmax, .qmin = s->sums.qmin, .qmax = s->sums.qmax, .scale = scale_of(q, i),
	    .now = sums_metrics(&s->sums), .alone_db = NAN, .share = NAN, .shift = s->shift / fmax(s->sums.n, 1), .used = NAN};
	int64_t codes = q->qmax - q->qmin + 1;
	if (q->kind == QUANT_LINEAR && codes <= 256)
		c.used = (double)channel_sums_codes(s) / (double)codes;
	return c;
}

static bool is_dead(double reach, double top)
{
	return !(reach > CHANNEL_DEAD_SHARE * top);
}

static bool is_outlier(double reach, double median)
{
	return reach >= CHANNEL_OUTLIER_RATIO * median;
}

struct channel_spread channel_spread(const double *reach, int n)
{
	struct channel_spread s = {0};
	double *alive = xcalloc((size_t)n + 1, sizeof *alive);
	int k = 0;
	for (int i = 0; i < n; i++)
		s.top = fmax(s.top, reach[i]);
	for (int i = 0; i < n; i++)
		if (!is_dead(reach[i], s.top))
			alive[k++] = reach[i];
	qsort(alive, (size_t)k, sizeof *alive, order_doubles);
	s.dead = n - k;
	s.median = k > 0 ? alive[k / 2] : 0;
	for (int i = 0; i < k; i++) {
		s.unused_bits += log2(s.top / alive[i]) / k;
		s.outliers += is_outlier(alive[i], s.median);
	}
	free(alive);
	return s;
}

// What a bias could make good: it is no small part of the error.
static bool is_shifted(const struct channel *c)
{
	return c->scale > 0 && fabs(c->shift) > MUCH_SHIFTED * (double)c->scale && c->shift * c->shift > SHIFT_SHARE * c->now.mse;
}

static unsigned flags_of(const struct channel *c, const struct channel_spread *all)
{
	double r = reach_of(c);
	if (is_dead(r, all->top))
		return CHANNEL_DEAD;
	return (is_outlier(r, all->median) ? CHANNEL_OUTLIER : 0u) |
	    (c->scale > 0 && r < CHANNEL_FEW_CODES * (double)c->scale ? CHANNEL_COARSE : 0u) |
	    (c->now.clipped > MUCH_CLIPPED ? CHANNEL_CLIPPED : 0u) |
	    (is_shifted(c) ? CHANNEL_SHIFTED : 0u);
}

// What each channel is next to the others.
static void relate(struct channels *c)
{
	double *reach = xcalloc((size_t)c->n + 1, sizeof *reach);
	for (int i = 0; i < c->n; i++)
		reach[i] = reach_of(&c->at[i]);
	struct channel_spread all = channel_spread(reach, c->n);
	for (int i = 0; i < c->n; i++) {
		c->at[i].unused_bits = log2(all.top / reach[i]);
		c->at[i].flags = flags_of(&c->at[i], &all);
		for (int bit = 0; bit < CHANNEL_FLAGS; bit++)
			c->count[bit] += c->at[i].flags >> bit & 1;
	}
	c->spread = all.unused_bits;
	free(reach);
}

struct channels *channels_of(const struct channel_split *split, const struct channel_sums *sums, const struct channel_sums *alone,
    const struct quantizer *q, int samples, int of)
{
	struct channels *c = xcalloc(1, sizeof *c);
	double error = 0;
	*c = (struct channels){.refs = 1, .axis = split->axis, .n = (int)split->n, .samples = samples, .of = of};
	c->at = xcalloc((size_t)c->n + 1, sizeof *c->at);
	for (int i = 0; i < c->n; i++)
		error += sums[i].sums.e2;
	for (int i = 0; i < c->n; i++) {
		c->at[i] = one_channel(&sums[i], q, i);
		c->at[i].share = error > 0 ? sums[i].sums.e2 / error : NAN;
		if (alone)
			c->at[i].alone_db = snr_of(&alone[i].sums);
	}
	relate(c);
	return c;
}

static int worst_first(const void *a, const void *b)
{
	const struct channel_sample *x = a, *y = b;
	if (isnan(x->snr_db) != isnan(y->snr_db))
		return isnan(x->snr_db) - isnan(y->snr_db);
	if (x->snr_db < y->snr_db || x->snr_db > y->snr_db)
		return x->snr_db < y->snr_db ? -1 : 1;
	return strcmp(x->name, y->name);
}

void channels_set_samples(struct channels *c, const struct channel_sample *sample, int n)
{
	c->n_samples = n;
	c->sample = xcalloc((size_t)n + 1, sizeof *c->sample);
	memcpy(c->sample, sample, (size_t)n * sizeof *sample);
	qsort(c->sample, (size_t)n, sizeof *c->sample, worst_first);
}
