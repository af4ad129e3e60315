// Merged groups on inputs that are not finite. Between the groups that oneDNN takes for one lie weights of zero,
// and zero times infinity or NaN is NaN: what is wrong with one group would reach the others.
// Then every group is computed beside zeros.
#include "onednn_conv.h"

enum { WIDEST = 16 }; // layout_block() at the most

int64_t conv_groups_merged(const struct onednn_conv *k)
{
	const struct conv_geometry *g = &k->task.g;
	return k->as.group == 1 ? g->group : k->as.c / k->as.group / (g->c / g->group);
}

bool conv_groups_mix(const float *x, int64_t n)
{
	int not_finite = 0;
#pragma omp simd reduction(| : not_finite)
	for (int64_t i = 0; i < n; i++)
		not_finite |= !(x[i] - x[i] == 0.0f);
	return not_finite;
}

void conv_groups_take(float *to, const float *from, const struct conv_groups *g, bool blank)
{
	int64_t block = layout_block(), blocks = g->channels / block;
	for (int64_t b = 0; b < g->images * blocks; b++) {
		bool takes[WIDEST], clears[WIDEST];
		for (int64_t lane = 0; lane < block; lane++) {
			int64_t channel = b % blocks * block + lane;
			takes[lane] = channel < g->real && channel / g->each % g->merged == g->which;
			clears[lane] = blank || channel >= g->real;
		}
		for (int64_t i = b * g->pixels * block; i < (b + 1) * g->pixels * block; i++)
			to[i] = takes[i % block] ? from[i] : clears[i % block] ? 0.0f : to[i];
	}
}
