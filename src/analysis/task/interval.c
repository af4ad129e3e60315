// How much of a difference between two networks is chance: a bootstrap over the samples.
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "task_impl.h"
#include "qtui/base/mem.h"
#include "qtui/base/order.h"

static uint64_t next_random(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15;
	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
	z = (z ^ z >> 27) * 0x94d049bb133111eb;
	return z ^ z >> 31;
}

// Two networks over the samples that both have results of.
struct pair {
	struct frozen before, after;
	int *sample, n;
	bool alone; // `before` has no figures of its own: it is what `after` is compared with
};

static double difference(const struct task *t, const struct pair *p, const int *weight)
{
	double after = t->ops->score(t, &p->after, weight);
	return p->alone ? after - 1 : after - t->ops->score(t, &p->before, weight);
}

// Fills value[] with the differences of `draws` draws; returns how many are known (a draw may have no objects at all).
static int draw(const struct task *t, const struct pair *p, int draws, uint64_t seed, double *value)
{
	int *weight = xcalloc((size_t)t->n_samples + 1, sizeof *weight), known = 0;
	for (int d = 0; d < draws; d++) {
		memset(weight, 0, (size_t)t->n_samples * sizeof *weight);
		for (int i = 0; i < p->n; i++)
			weight[p->sample[next_random(&seed) % (uint64_t)p->n]]++;
		double v = difference(t, p, weight);
		if (!isnan(v))
			value[known++] = v;
	}
	free(weight);
	return known;
}

static double normal_share(double z)
{
	return erfc(-z / sqrt(2)) / 2;
}

static double normal_quantile(double share)
{
	double low = -9, high = 9;
	while (high - low > 1e-9) {
		double middle = (low + high) / 2;
		if (normal_share(middle) < share)
			low = middle;
		else
			high = middle;
	}
	return low;
}

// Bias-corrected percentiles: a draw has samples twice, which shifts an average precision, and by how much is seen from
// the share of draws that are below the figure itself.
static void correct(struct task_interval *out, const double *value, int n)
{
	double below = .5;
	for (int i = 0; i < n; i++)
		below += value[i] < out->difference ? 1 : value[i] > out->difference ? 0 : .5;
	double bias = 2 * normal_quantile(below / (n + 1));
	out->low = fmin(value[(int)(normal_share(bias - 1.96) * (n - 1) + .5)], out->difference);
	out->high = fmax(value[(int)(normal_share(bias + 1.96) * (n - 1) + .5)], out->difference);
}

static void pair_open(struct task *t, struct pair *p, const struct task_net *before, const struct task_net *after)
{
	*p = (struct pair){.before = task_freeze(t, before, 0, t->n_samples),
	    .after = task_freeze(t, after, 0, t->n_samples),
	    .sample = xcalloc((size_t)t->n_samples + 1, sizeof *p->sample)};
	p->alone = t->kind == TASK_AGREE;
	for (int i = 0; p->alone && i < t->n_samples; i++)
		p->alone = !p->before.at[i];
	p->n = task_paired(p->alone ? NULL : &p->before, &p->after, p->sample);
}

static void pair_done(const struct task *t, struct pair *p)
{
	task_thaw(t, &p->before);
	task_thaw(t, &p->after);
	free(p->sample);
}

bool task_interval(struct task *t, const struct task_net *before, const struct task_net *after, int draws,
    uint64_t seed, struct task_interval *out)
{
	struct pair p;
	int known = 0, *once = xcalloc((size_t)t->n_samples + 1, sizeof *once);
	double *value = xcalloc((size_t)draws + 1, sizeof *value);
	pair_open(t, &p, before, after);
	*out = (struct task_interval){.samples = p.n};
	for (int i = 0; i < p.n; i++)
		once[p.sample[i]] = 1;
	if (p.n >= 2)
		known = draw(t, &p, draws, seed, value);
	if (known) {
		qsort(value, (size_t)known, sizeof *value, order_doubles);
		out->difference = difference(t, &p, once);
		correct(out, value, known);
	}
	pair_done(t, &p);
	free(once);
	free(value);
	return known > 0;
}
