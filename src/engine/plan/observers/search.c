// The searches of KL and MSE over a histogram: the tools' objective,
// without their loops over all bins for every candidate.
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
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

// Of 16 bits there are a million bins, most of them empty: only the others have a sum, which is found by their number.
struct kl {
	const uint32_t *hist;
	int bins, levels;
	int first;        // the first bin that counts, as if it held one value: those before it are next to zero and would outweigh all others
	uint32_t *before; // [bins / WORD + 1] bins that are not empty before the word of WORD bins
	uint8_t *within;  // [bins + 1] and before the bin, in its word
	uint64_t *sum;    // by the number of bins before that are not empty: of what they hold
};
enum { WORD = 128 };

static uint32_t kl_count(const struct kl *k, int bin)
{
	return bin > k->first ? k->hist[bin] : bin == k->first;
}

static uint32_t kl_occupied(const struct kl *k, unsigned bin)
{
	return k->before[bin / WORD] + k->within[bin];
}

// Divergence of the distribution clipped at r bins (the clipped mass in the last) from its form in `levels` groups,
// up to a factor: sum p (log p - log q), where q is constant over the occupied bins of a group.
// The masses are what p and q are normalised by.
static double kl_divergence(const struct kl *k, int r, double entropy)
{
	int ratio = r / k->levels;
	uint32_t seen = 0, below = kl_occupied(k, r - ratio), inside = kl_occupied(k, r);
	uint64_t all = k->sum[kl_occupied(k, k->bins)], tail = all - k->sum[inside];
	double mass_p = (double)all, mass_q = (double)k->sum[inside], last = (double)(kl_count(k, r - 1) + tail), cross = 0;
	for (int end = ratio; end <= r; end += ratio) {
		uint32_t next = kl_occupied(k, end);
		if (next > seen) {
			uint64_t mass = k->sum[next] - k->sum[seen];
			cross += (double)mass * (log_of(mass) - log_of(next - seen));
		}
		seen = next;
	}
	// The tail sits in the last bin, whose q is that of its group, or nothing where the bin was empty.
	double tail_q = log(1e-30);
	if (kl_count(k, r - 1) > 0)
		tail_q = log_of(k->sum[inside] - k->sum[below]) - log_of(inside - below) - log(mass_q);
	entropy += last > 0 ? last * log(last) : 0;
	double divergence = (entropy - mass_p * log(mass_p)) - (cross - mass_q * log(mass_q)) - (double)tail * tail_q;
	return divergence / mass_p;
}

static double add_entropy(const struct kl *k, double entropy, int from, int to)
{
	uint32_t end = kl_occupied(k, to);
	for (uint32_t i = kl_occupied(k, from); i < end; i++) {
		uint64_t n = k->sum[i + 1] - k->sum[i];
		entropy += (double)n * log_of(n);
	}
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

// How many bins are not empty.
static uint32_t number_bins(struct kl *k)
{
	uint32_t n = 0;
	for (int bin = 0; bin <= k->bins; bin++) {
		if (bin % WORD == 0)
			k->before[bin / WORD] = n;
		k->within[bin] = (uint8_t)(n - k->before[bin / WORD]);
		n += bin < k->bins && kl_count(k, bin) > 0;
	}
	return n;
}

static void sum_bins(struct kl *k)
{
	uint64_t *sum = k->sum;
	for (int bin = k->first; bin < k->bins; bin++) {
		uint32_t n = kl_count(k, bin);
		sum[1] = sum[0] + n;
		sum += n > 0;
	}
}

int kl_search(const uint32_t *hist, int bins, int levels)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	pthread_once(&once, fill_logs);
	struct kl k = {.hist = hist, .bins = bins, .levels = levels, .first = (int)(bins * .002)};
	k.before = xcalloc((size_t)bins / WORD + 1, sizeof *k.before);
	k.within = xcalloc((size_t)bins + 1, sizeof *k.within);
	k.sum = xcalloc((size_t)number_bins(&k) + 2, sizeof *k.sum);
	sum_bins(&k);
	int best = kl_best(&k);
	free(k.before);
	free(k.within);
	free(k.sum);
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
		*b = (struct best){error, start, end};
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
	struct mse m = {.bins = bins, .levels = levels};
	struct best best = {INFINITY, 0, bins};
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
