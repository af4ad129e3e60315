// How far the quantized numbers of a point are from the float ones: one less Lin's concordance correlation
// coefficient (L. Lin, "A concordance correlation coefficient to evaluate reproducibility", Biometrics 45, 1989),
// channel by channel. Sums are kept for each sample and merge in the order of the samples.
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "qtui/base/order.h"
#include "repair_impl.h"

struct moments {
	double sum, square;             // of the float tensor
	double other_sum, other_square; // of the quantized one
	double noise;                   // squares of the difference
};
struct concord {
	const struct point *point;
	int samples;
	struct tensor *ref;      // [samples] of the float network
	struct moments *moments; // [samples][channels]
};

struct concord *concord_new(const struct point *pt, int samples)
{
	struct concord *c = xcalloc(1, sizeof *c);
	*c = (struct concord){.point = pt, .samples = samples};
	c->ref = xcalloc((size_t)samples + 1, sizeof *c->ref);
	c->moments = xcalloc((size_t)samples * (size_t)pt->channels + 1, sizeof *c->moments);
	return c;
}

void concord_forget(struct concord *c)
{
	for (int s = 0; s < c->samples; s++)
		tensor_drop(&c->ref[s]);
	memset(c->moments, 0, (size_t)c->samples * (size_t)c->point->channels * sizeof *c->moments);
}

void concord_free(struct concord **cp)
{
	struct concord *c = *cp;
	if (!c)
		return;
	concord_forget(c);
	free(c->ref);
	free(c->moments);
	free(c);
	*cp = NULL;
}

static struct moments *moments_of(const struct concord *c, int sample)
{
	return &c->moments[(int64_t)sample * c->point->channels];
}

void concord_float(struct concord *c, int sample, const struct tensor *t)
{
	struct moments *moments = moments_of(c, sample);
	const float *x = t->data;
	c->ref[sample] = tensor_share(t);
	for (int64_t i = 0, n = tensor_count(t); i < n; i++) {
		struct moments *m = &moments[i / c->point->inner % c->point->channels];
		m->sum += (double)x[i];
		m->square += (double)x[i] * (double)x[i];
	}
}

void concord_quantized(struct concord *c, int sample, const struct tensor *t)
{
	struct moments *moments = moments_of(c, sample);
	const float *x = t->data, *ref = c->ref[sample].data;
	int64_t n = tensor_count(t), n_ref = tensor_count(&c->ref[sample]);
	for (int64_t i = 0; i < c->point->channels; i++)
		moments[i].noise = moments[i].other_sum = moments[i].other_square = 0;
	for (int64_t i = 0; i < n && i < n_ref; i++) {
		struct moments *m = &moments[i / c->point->inner % c->point->channels];
		double v = isfinite(x[i]) ? (double)x[i] : 0, d = v - (double)ref[i];
		m->noise += d * d;
		m->other_sum += v;
		m->other_square += v * v;
	}
}

// Sums over a channel that holds NaN or infinite numbers are such numbers themselves.
bool concord_finite(const struct concord *c)
{
	for (int64_t i = 0; i < c->samples * c->point->channels; i++)
		if (isfinite(c->moments[i].square))
			return true;
	return false;
}

static struct moments pool(const struct concord *c, int samples, int64_t channel, double *count)
{
	struct moments m = {0};
	*count = 0;
	for (int s = 0; s < samples; s++) {
		const struct moments *one = &moments_of(c, s)[channel];
		m.sum += one->sum;
		m.square += one->square;
		m.other_sum += one->other_sum;
		m.other_square += one->other_square;
		m.noise += one->noise;
		*count += (double)tensor_count(&c->ref[s]) / (double)c->point->channels;
	}
	return m;
}

static double variance_of(const struct moments *m, double count)
{
	return count > 0 ? fmax(0, m->square / count - m->sum / count * (m->sum / count)) : 0;
}

// The mean squared difference over both variances and the squared difference of the means.
static double discord(const struct moments *m, double count)
{
	double shift = (m->sum - m->other_sum) / count, other = m->other_sum / count;
	double other_variance = fmax(0, m->other_square / count - other * other);
	return fmin(1, m->noise / count / (variance_of(m, count) + other_variance + shift * shift));
}

// The middle one of the channels' variances.
static double typical(const double *variance, int64_t n)
{
	double *sorted = xcalloc((size_t)n + 1, sizeof *sorted);
	memcpy(sorted, variance, (size_t)n * sizeof *sorted);
	qsort(sorted, (size_t)n, sizeof *sorted, order_doubles);
	double middle = sorted[n / 2];
	free(sorted);
	return middle;
}

// A channel that says less than others (a class that none of the samples shows) counts less: there everything is noise.
struct damage concord_damage(const struct concord *c, int samples)
{
	int64_t n = c->point->channels;
	double damage = 0, weights = 0, signal = 0, noise = 0, count = 0;
	double *variance = xcalloc((size_t)n + 1, sizeof *variance);
	struct moments *m = xcalloc((size_t)n + 1, sizeof *m);
	for (int64_t i = 0; i < n; i++) {
		m[i] = pool(c, samples, i, &count);
		variance[i] = variance_of(&m[i], count);
		signal += m[i].square;
		noise += m[i].noise;
	}
	double middle = typical(variance, n);
	for (int64_t i = 0; i < n; i++) {
		if (!(variance[i] > 1e-9 * m[i].square / count))
			continue; // it does not vary
		double weight = variance[i] / (variance[i] + middle);
		damage += weight * discord(&m[i], count);
		weights += weight;
	}
	free(variance);
	free(m);
	return (struct damage){weights > 0 ? damage / weights : 0, noise > 0 ? 10 * log10(signal / noise) : INFINITY};
}
