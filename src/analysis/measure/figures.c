// Sums and ranges of the memo: see figures.h.
#include <math.h>
#include "figures.h"

// Of what a session brought the sums are not known: it is measured again.
static void reopen(struct figure *f)
{
	if (!f->merged)
		return;
	f->merged = false;
	for (int i = 0; i < f->n_part; i++)
		reopen(f->part[i]);
}

void figure_compose(struct figure *f, struct figure *const *part, int n)
{
	f->part = xrealloc(f->part, (size_t)n * sizeof *part);
	for (int i = 0; i < n; i++) {
		f->part[i] = part[i]->n_part == 1 ? part[i]->part[0] : part[i];
		if (n > 1 && !f->merged)
			reopen(f->part[i]);
	}
	f->n_part = n;
}

bool figure_lacks(const struct figure *f, int sample)
{
	return f->n_part == 0 && !figure_has(f, sample);
}

// One of several parts has none that is merged.
bool figure_has(const struct figure *f, int sample)
{
	bool all = f->n_part > 0;
	if (f->merged || atomic_load_explicit(&f->have[sample], memory_order_acquire))
		return true;
	for (int i = 0; all && i < f->n_part; i++)
		all = figure_has(f->part[i], sample);
	return all;
}

static struct tensor_sums sums_of(const struct figure *f, int sample)
{
	if (f->have[sample])
		return f->sums[sample];
	struct tensor_sums all = sums_of(f->part[0], sample);
	for (int i = 1; i < f->n_part; i++) {
		struct tensor_sums one = sums_of(f->part[i], sample);
		sums_merge(&all, &one);
	}
	return all;
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
	if (f->n_part == 1)
		return figure_merge(f->part[0], samples);
	struct figures out = {0};
	struct tensor_sums all = {0};
	double nsr = 0, cosine = 0;
	int n_cosine = 0;
	for (int i = 0; i < samples; i++) {
		if (!figure_has(f, i))
			continue;
		struct tensor_sums s = sums_of(f, i);
		struct metrics m = sums_metrics(&s);
		if (out.known++ == 0)
			all = s;
		else
			sums_merge(&all, &s);
		nsr += s.e2 / (s.f2 + 1e-7); // PPQ's ratio of one sample
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

void range_compose(struct range_memo *r, struct range_memo *const *part, int n)
{
	r->part = xrealloc(r->part, (size_t)n * sizeof *part);
	for (int i = 0; i < n; i++)
		r->part[i] = part[i]->n_part == 1 ? part[i]->part[0] : part[i];
	r->n_part = r->merged ? 0 : n;
}

static bool range_has(const struct range_memo *r, int sample)
{
	bool all = r->n_part > 0;
	if (r->merged || atomic_load_explicit(&r->have[sample], memory_order_acquire))
		return true;
	for (int i = 0; all && i < r->n_part; i++)
		all = range_has(r->part[i], sample);
	return all;
}

bool range_lacks(const struct range_memo *r, int sample)
{
	return r->n_part == 0 && !range_has(r, sample);
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

static void add_range(struct tensor_range *all, const struct tensor_range *one)
{
	if (one->n > 0 && (all->n == 0 || one->min < all->min))
		all->min = one->min;
	if (one->n > 0 && (all->n == 0 || one->max > all->max))
		all->max = one->max;
	all->n += one->n;
	all->nonfinite += one->nonfinite;
}

struct tensor_range range_merge(const struct range_memo *r, int samples)
{
	struct tensor_range out = {0}, one;
	if (r->merged)
		return r->saved;
	for (int i = 0; i < r->n_part; i++) {
		one = range_merge(r->part[i], samples);
		add_range(&out, &one);
	}
	for (int i = 0; r->n_part == 0 && i < samples; i++)
		if (atomic_load_explicit(&r->have[i], memory_order_acquire))
			add_range(&out, &r->range[i]);
	return out;
}
