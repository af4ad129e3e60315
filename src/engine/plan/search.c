// The searches of KL and MSE over a histogram: the tools' objective, without their loops over all bins for every candidate.
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include "observer_impl.h"

#define LOGS 16384 // counts are mostly small: their logarithms are looked up
static double small_log[LOGS];

static void fill_logs(void)
{
	for (int i = 1; i < LOGS; i++)
		small_log[i] = log((double)i);
}

static double log_of(uint64_t n)
{
	return n < LOGS ? small_log[n] : log((double)n);
}

struct kl {
	uint32_t *hist;
	int bins, levels;
	uint64_t *sum;      // [bins + 1] of the bins before
	uint32_t *occupied; // [bins + 1] bins before that are not empty
};

// Divergence of the distribution clipped at r bins (the clipped mass in the last) from its form in `levels` groups, up to a
// factor: sum p (log p - log q), where q is constant over the occupied bins of a group. P and Q are sums to normalise by.
static double kl_divergence(const struct kl *k, int r, double entropy)
{
	int ratio = r / k->levels;
	double P = (double)k->sum[k->bins], Q = (double)k->sum[r];
	uint64_t tail = k->sum[k->bins] - k->sum[r];
	double last = (double)(k->hist[r - 1] + tail), cross = 0;
	for (int g = 0; g < k->levels; g++) {
		uint64_t mass = k->sum[(g + 1) * ratio] - k->sum[g * ratio];
		uint32_t occupied = k->occupied[(g + 1) * ratio] - k->occupied[g * ratio];
		if (mass > 0)
			cross += (double)mass * (log_of(mass) - log_of(occupied));
	}
	// The tail sits in the last bin, whose q is that of its group, or nothing where the bin was empty.
	double tail_q = log(1e-30);
	if (k->hist[r - 1] > 0) {
		uint64_t mass = k->sum[r] - k->sum[r - ratio];
		tail_q = log_of(mass) - log_of(k->occupied[r] - k->occupied[r - ratio]) - log(Q);
	}
	entropy += last > 0 ? last * log(last) : 0;
	double divergence = (entropy - P * log(P)) - (cross - Q * log(Q)) - (double)tail * tail_q;
	return divergence / P;
}

static double add_entropy(const struct kl *k, double entropy, int from, int to)
{
	for (int i = from; i < to; i++)
		if (k->hist[i] > 0)
			entropy += k->hist[i] * log_of(k->hist[i]);
	return entropy;
}

static int kl_best(const struct kl *k)
{
	double least = INFINITY, entropy = 0;
	int best = k->bins, at = 0;
	for (int r = k->levels; r <= k->bins; r += k->levels) {
		entropy = add_entropy(k, entropy, at, r - 1);
		at = r - 1;
		double d = kl_divergence(k, r, entropy);
		if (d < least) {
			least = d;
			best = r;
		}
	}
	return best;
}

// The first bins hold values next to zero, which would outweigh all others: they are left out.
static void drop_first_bins(uint32_t *hist, int bins)
{
	int first = (int)(bins * .002);
	memset(hist, 0, (size_t)first * sizeof *hist);
	hist[first] = 1;
}

int kl_search(const uint32_t *hist, int bins, int levels)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	pthread_once(&once, fill_logs);
	struct kl k = { .bins = bins, .levels = levels };
	size_t n = (size_t)bins + 1;
	k.hist = xmalloc(n * sizeof *k.hist);
	k.sum = xcalloc(n, sizeof *k.sum);
	k.occupied = xcalloc(n, sizeof *k.occupied);
	memcpy(k.hist, hist, (size_t)bins * sizeof *hist);
	drop_first_bins(k.hist, bins);
	for (int i = 0; i < bins; i++) {
		k.sum[i + 1] = k.sum[i] + k.hist[i];
		k.occupied[i + 1] = k.occupied[i] + (k.hist[i] > 0);
	}
	int best = kl_best(&k);
	free(k.hist);
	free(k.sum);
	free(k.occupied);
	return best;
}

struct mse {
	int bins, levels;
	double *n, *n1, *n2; // [bins + 1] sums over the bins before of h, h i, h i^2
	double *grid;        // [bins + 1] sums of h * (distance to the grid)^2 for the step and phase at hand
};

// Squared distance, in bins, from the middle of bin `at` to the nearest point of a grid of `step` bins that it lies on.
static double grid_error(int at, int step)
{
	int left = at % step, right = step - left - 1;
	double e = left == right ? left + .25 : (left < right ? left : right) + .5;
	return e * e;
}

static void fill_grid(struct mse *m, const uint32_t *hist, int step, int phase)
{
	m->grid[0] = 0;
	for (int i = 0; i < m->bins; i++)
		m->grid[i + 1] = m->grid[i] + hist[i] * grid_error((i - phase % step + step) % step, step);
}

// Sum over bins [from, to) of h * (i - at)^2.
static double outside(const struct mse *m, int from, int to, double at)
{
	if (to <= from)
		return 0;
	return m->n2[to] - m->n2[from] - 2 * at * (m->n1[to] - m->n1[from]) + at * at * (m->n[to] - m->n[from]);
}

// Of the range from bin `start` to bin `end`, both inside.
static double range_error(const struct mse *m, int start, int end)
{
	int stop = end + 1 < m->bins ? end + 1 : m->bins;
	return outside(m, 0, start, start - .5) + m->grid[stop] - m->grid[start] + outside(m, stop, m->bins, end - .5);
}

struct best {
	double error;
	int start, end;
};

static void consider(struct best *b, const struct mse *m, int start, int step)
{
	int end = start + m->levels * step;
	double error = range_error(m, start, end);
	if (error < b->error)
		*b = (struct best){ error, start, end };
}

static void fill_sums(struct mse *m, const uint32_t *hist)
{
	for (int i = 0; i < m->bins; i++) {
		m->n[i + 1] = m->n[i] + hist[i];
		m->n1[i + 1] = m->n1[i] + (double)hist[i] * i;
		m->n2[i + 1] = m->n2[i] + (double)hist[i] * i * i;
	}
}

// Every start in steps of MSE_INTERVAL up to the bin of zero, for one step width. Starts of equal phase share a grid.
#define MSE_INTERVAL 8
static void try_starts(struct best *b, struct mse *m, const uint32_t *hist, int step, double zero_bin)
{
	for (int phase = 0; phase < step; phase++) {
		bool filled = false;
		for (int start = 0; start < m->bins && start <= zero_bin; start += MSE_INTERVAL) {
			if (start % step != phase || start + m->levels * step > m->bins + m->levels)
				continue;
			if (!filled)
				fill_grid(m, hist, step, phase);
			filled = true;
			consider(b, m, start, step);
		}
	}
}

void mse_search(const uint32_t *hist, int bins, int levels, bool symmetric, double zero_bin, int *start, int *end)
{
	struct mse m = { .bins = bins, .levels = levels };
	struct best best = { INFINITY, 0, bins };
	size_t n = (size_t)bins + 1;
	m.n = xcalloc(4 * n, sizeof *m.n);
	m.n1 = m.n + n;
	m.n2 = m.n1 + n;
	m.grid = m.n2 + n;
	fill_sums(&m, hist);
	int widest = bins / levels + 1;
	fill_grid(&m, hist, widest, 0);
	consider(&best, &m, 0, widest); // first, so that it wins ties: at least the whole range
	for (int step = 1; step < widest; step++)
		try_starts(&best, &m, hist, step, symmetric ? 0 : zero_bin);
	free(m.n);
	*start = best.start;
	*end = best.end;
}
