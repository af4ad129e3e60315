// The definition of KL, as docs/NUMERICS.md writes it.
#ifndef TESTS_ENGINE_KL_PLAIN_H
#define TESTS_ENGINE_KL_PLAIN_H

#include <math.h>
#include <stdint.h>
#include <stdlib.h>

// What the search looks at: the counts without the first bins, whose values next to zero would outweigh all others.
static inline void kl_counts(double *h, const uint32_t *hist, int bins)
{
	int first = (int)(bins * .002);
	for (int i = 0; i < bins; i++)
		h[i] = i < first ? 0 : i == first ? 1 : hist[i];
}

// The divergence when clipped at r of the bins.
static inline double kl_plain(const double *h, int bins, int r, int levels)
{
	double *q = calloc((size_t)r, sizeof *q), P = 0, Q = 0, kl = 0, tail = 0;
	int ratio = r / levels;
	for (int i = 0; i < bins; i++) {
		P += h[i];
		tail += i >= r ? h[i] : 0;
	}
	for (int g = 0; g < levels; g++) {
		double sum = 0, n = 0;
		for (int i = g * ratio; i < (g + 1) * ratio; i++) {
			sum += h[i];
			n += h[i] > 0;
		}
		for (int i = g * ratio; i < (g + 1) * ratio; i++)
			Q += q[i] = h[i] > 0 ? sum / n : 0;
	}
	for (int i = 0; i < r; i++) {
		double p = (h[i] + (i == r - 1 ? tail : 0)) / P;
		kl += p * (log10(p + 1e-30) - log10(q[i] / Q + 1e-30));
	}
	free(q);
	return kl;
}

#endif
