// The searches for a range on counts against their plain definitions (docs/NUMERICS.md).
#include <math.h>
#include <stdlib.h>
#include "../../src/engine/plan/observers/observer_impl.h"
#include "kl_plain.h"
#include "support.h"

static int kl_best(const uint32_t *hist, int bins, int levels)
{
	double *h = malloc((size_t)bins * sizeof *h), least = INFINITY;
	int best = 0;
	kl_counts(h, hist, bins);
	for (int k = levels; k <= bins; k += levels) {
		double d = kl_plain(h, bins, k, levels);
		if (d < least) {
			least = d;
			best = k;
		}
	}
	free(h);
	return best;
}

void test_search__kl_is_the_definition(void **state)
{
	struct support_random r = {11};
	for (int round = 0; round < 20; round++) {
		enum { BINS = 512, LEVELS = 16 };
		uint32_t hist[BINS];
		for (int i = 0; i < BINS; i++) {
			double fall = exp(-i * (round + 1) * .002);
			hist[i] = support_random_int(&r, 0, 4) ? (uint32_t)(fall * support_random_int(&r, 0, 5000)) : 0;
		}
		assert_int_equal(kl_search(hist, BINS, LEVELS), kl_best(hist, BINS, LEVELS));
	}
}

// Many bins and few values, as 16 bits have them.
void test_search__kl_of_mostly_empty_bins(void **state)
{
	enum { BINS = 8192, LEVELS = 1024, VALUES = 40 };
	struct support_random r = {12};
	for (int round = 0; round < 20; round++) {
		uint32_t *hist = calloc(BINS, sizeof *hist);
		for (int i = 0; i < VALUES; i++)
			hist[support_random_int(&r, 0, i % 4 ? BINS / 4 : BINS - 1)] += (uint32_t)support_random_int(&r, 1, 9);
		assert_int_equal(kl_search(hist, BINS, LEVELS), kl_best(hist, BINS, LEVELS));
		free(hist);
	}
}

static double mse_plain(const uint32_t *h, int bins, int start, int step, int end)
{
	double loss = 0;
	for (int i = 0; i < bins; i++) {
		double e;
		int l = i >= start ? (i - start) % step : 0, r = step - l - 1;
		if (i < start)
			e = start - i - 1 + .5;
		else if (i > end)
			e = i - end + .5;
		else
			e = l == r ? l + .25 : fmin(l, r) + .5;
		loss += h[i] * e * e;
	}
	return loss;
}

void test_search__mse_is_the_definition(void **state)
{
	struct support_random r = {5};
	for (int round = 0; round < 60; round++) {
		enum { BINS = 512, LEVELS = 64, WIDEST = BINS / LEVELS + 1 };
		uint32_t hist[BINS] = {0};
		for (int i = 0; i < BINS && round < 10; i++)
			hist[i] = (uint32_t)(1e4 * exp(-fabs(i - 200.0) * .01 * (round + 1)) * support_random_float(&r, 0, 1));
		for (int i = 0; i < 8 && round >= 10; i++) // few values, so that those outside decide
			hist[support_random_int(&r, round % 3 * 60, BINS - 1 - round % 5 * 60)] += (uint32_t)support_random_int(&r, 1, 3);
		for (int symmetric = 0; symmetric < 2; symmetric++) {
			double least = mse_plain(hist, BINS, 0, WIDEST, WIDEST * LEVELS);
			double zero_bin = 150;
			int start, end;
			for (int s = 0; s < BINS && s <= (symmetric ? 0 : zero_bin); s += 8)
				for (int step = 1; step < WIDEST && s + step * LEVELS <= BINS + LEVELS; step++)
					least = fmin(least, mse_plain(hist, BINS, s, step, s + step * LEVELS));
			mse_search(hist, BINS, LEVELS, symmetric, zero_bin, &start, &end);
			double found = mse_plain(hist, BINS, start, (end - start) / LEVELS, end);
			assert_float_equal(found / least, 1, 1e-9);
		}
	}
}

// Where no range is better than another: the whole.
void test_search__mse_of_nothing(void **state)
{
	enum { BINS = 512, LEVELS = 64 };
	uint32_t hist[BINS] = {0};
	int start, end;
	mse_search(hist, BINS, LEVELS, false, 100, &start, &end);
	assert_int_equal(start, 0);
	assert_true(end >= BINS);
}
