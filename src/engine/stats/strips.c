// Which elements of a tensor count: runs of whole vectors, without the padding of LAYOUT_BLOCK.
#include "../tensor/cpu.h"
#include "stats_impl.h"

const struct stats_table *stats_loops(void)
{
#if defined(__x86_64__)
	if (cpu_level() >= CPU_AVX512)
		return &stats_avx512;
	return cpu_level() >= CPU_AVX2 ? &stats_avx2 : &stats_plain;
#else
	return &stats_plain;
#endif
}

void strips_of_run(int64_t at, int64_t n, strip_fn *fn, void *arg)
{
	int64_t whole = n / STATS_LANES, rest = n % STATS_LANES;
	if (whole)
		fn(arg, at, (struct strip){whole, STATS_LANES, STATS_LANES});
	if (rest)
		fn(arg, at + whole * STATS_LANES, (struct strip){1, STATS_LANES, (int)rest});
}

// The last channel block of an image: `channels` of `block` count.
static void strips_of_fringe(int64_t at, int64_t plane, int64_t channels, int64_t block, strip_fn *fn, void *arg)
{
	for (int64_t c = 0; c < channels; c += STATS_LANES) {
		int64_t left = channels - c;
		fn(arg, at + c, (struct strip){plane, block, (int)(left < STATS_LANES ? left : STATS_LANES)});
	}
}

void strips_each(const struct tensor *t, strip_fn *fn, void *arg)
{
	if (t->layout == LAYOUT_PLAIN) {
		strips_of_run(0, tensor_count(t), fn, arg);
		return;
	}
	int64_t block = layout_block(), full = t->shape.dim[1] / block, rest = t->shape.dim[1] % block, plane = 1;
	for (int d = 2; d < t->shape.rank; d++)
		plane *= t->shape.dim[d];
	if (plane == 0)
		return;
	for (int64_t n = 0, at = 0; n < t->shape.dim[0]; n++, at += (full + (rest > 0)) * block * plane) {
		strips_of_run(at, full * block * plane, fn, arg);
		strips_of_fringe(at + full * block * plane, plane, rest, block, fn, arg);
	}
}
