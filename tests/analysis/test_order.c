// Lists that begin with the worst.
#include <math.h>
#include <stdlib.h>
#include "support.h"
#include "qtui/analysis/snapshot.h"

static int by_figures(const void *a, const void *b)
{
	return figures_order(*(const struct figures *const *)a, *(const struct figures *const *)b);
}

// A tensor of zeros has no ratio of noise to signal: exact, it is the best, with noise the worst, wherever it stood.
void test_order__of_figures_without_a_ratio(void **state)
{
	static const struct figures dead = {.known = 1, .pooled = {.exact = true, .snr_db = NAN, .nsr = NAN}},
				    noise = {.known = 1, .pooled = {.snr_db = NAN, .nsr = NAN}}, unknown = {0},
				    poor = {.known = 1, .pooled = {.snr_db = 26.2}}, fair = {.known = 1, .pooled = {.snr_db = 31.5}},
				    good = {.known = 1, .pooled = {.snr_db = 42.3}};
	const struct figures *sorted[] = {&noise, &poor, &fair, &good, &dead, &unknown}, *list[6];
	for (int first = 0; first < 6; first++)
		for (int step = 1; step <= 5; step += 4) {
			for (int i = 0; i < 6; i++)
				list[i] = sorted[(first + i * step) % 6];
			qsort(list, 6, sizeof *list, by_figures);
			assert_memory_equal(list, sorted, sizeof sorted);
		}
}
