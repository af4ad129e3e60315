// Histograms: shared, immutable once published.
#include <stdlib.h>
#include <string.h>
#include "qtui/analysis/snapshot.h"

struct hist *hist_take(struct hist *h)
{
	if (h)
		atomic_fetch_add(&h->refs, 1);
	return h;
}

void hist_drop(struct hist **h)
{
	if (*h && atomic_fetch_sub(&(*h)->refs, 1) == 1)
		free(*h);
	*h = NULL;
}

void hist_shrink(const struct hist *h, uint64_t *out, int n)
{
	memset(out, 0, (size_t)n * sizeof *out);
	for (int i = 0; i < STATS_BINS; i++)
		out[(2 * i + 1) * n / (2 * STATS_BINS)] += h->bin[i];
}

double hist_share(const struct hist *h, double above, double below)
{
	double width = ((double)h->hi - h->lo) / STATS_BINS, inside = 0, all = 0;
	for (int i = 0; i < STATS_BINS; i++) {
		double middle = h->lo + (i + 0.5) * width;
		all += h->bin[i];
		inside += middle > above && middle < below ? h->bin[i] : 0;
	}
	return all > 0 ? inside / all : 0;
}
