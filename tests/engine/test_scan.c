// Counting floats into bins: every level of the processor against the plain loop.
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "../../src/engine/plan/observers/observer_impl.h"
#include "../../src/engine/tensor/cpu.h"
#include "support.h"

// The bin of a value is computed in floats, which the largest ones leave: they belong into the last bin.
void test_scan__the_largest_floats_are_counted(void **state)
{
	enum { EDGE = 64 };
	uint32_t hist[65];
	float x[EDGE];
	for (int level = CPU_PLAIN; level < CPU_LEVELS; level++) {
		cpu_limit((enum cpu_level)level);
		memset(hist, 0, sizeof hist);
		for (int i = 0; i < EDGE; i++)
			x[i] = i % 4 ? FLT_MAX : 0.0f;
		scan_hist_abs(hist, 64, FLT_MAX, x, EDGE);
		assert_int_equal(hist[0], EDGE / 4);
		assert_int_equal(hist[63], EDGE / 4 * 3);
	}
	cpu_limit(CPU_LEVELS);
}

static void hist_plainly(uint32_t *hist, int bins, bool absolute, float lo, float hi, const float *x, int64_t n)
{
	for (int64_t i = 0; i < n; i++) {
		float v = absolute ? fabsf(x[i]) : x[i], t = (v - lo) * (float)bins / (hi - lo);
		hist[v >= lo && v <= hi ? t < (float)(bins - 1) ? (int)t : bins - 1 : bins]++;
	}
}

// Lengths around whatever a loop takes at a time, and counts that were there before.
void test_scan__levels_count_alike(void **state)
{
	enum { MOST = 8192, LONGEST = 1037 };
	static const int64_t length[] = {0, 1, 15, 16, 31, 33, 64, 127, 128, 129, 159, 160, 161, 256, 512, LONGEST};
	static const int bins[] = {1, 7, 2048, 4096, MOST};
	static const float odd[] = {NAN, INFINITY, -INFINITY, 3, -3, 2, -2, 0, -0.0f, FLT_MAX, 1e-40f};
	struct support_random r = {5};
	float x[LONGEST];
	static uint32_t got[MOST + 1], want[MOST + 1];
	for (int i = 0; i < LONGEST; i++)
		x[i] = i % 3 == 1 ? odd[i / 3 % 11] : i % 3 ? 0.25f : support_random_float(&r, -2.2, 2.2);
	for (int level = CPU_PLAIN; level < CPU_LEVELS; level++) {
		cpu_limit((enum cpu_level)level);
		for (int i = 0; i < 16 * 5 * 2; i++) {
			int64_t n = length[i % 16];
			int b = bins[i / 16 % 5];
			bool absolute = i / 80;
			memset(got, 0, sizeof got);
			memset(want, 0, sizeof want);
			got[b / 2] = want[b / 2] = 9;
			if (absolute)
				scan_hist_abs(got, b, 2, x, n);
			else
				scan_hist(got, b, -2, 2, x, n);
			hist_plainly(want, b, absolute, absolute ? 0 : -2, 2, x, n);
			assert_memory_equal(got, want, sizeof got);
		}
	}
	cpu_limit(CPU_LEVELS);
}

// More equal values than a table of 16 bits can count.
void test_scan__many_equal_values(void **state)
{
	enum { MANY = 600000 };
	float *x = xcalloc(MANY, sizeof *x);
	for (int64_t i = 0; i < MANY; i++)
		x[i] = i % 1000 ? 0.0f : 1.0f;
	for (int level = CPU_PLAIN; level < CPU_LEVELS; level++) {
		uint32_t hist[65] = {0};
		cpu_limit((enum cpu_level)level);
		scan_hist_abs(hist, 64, 1, x, MANY);
		assert_int_equal(hist[0], MANY - MANY / 1000);
		assert_int_equal(hist[63], MANY / 1000);
	}
	free(x);
	cpu_limit(CPU_LEVELS);
}

// What is not finite has no part in a range, wherever it stands.
void test_scan__levels_agree_on_ranges(void **state)
{
	enum { N = 71 };
	static const float odd[] = {NAN, INFINITY, -INFINITY};
	struct support_random r = {7};
	for (int level = CPU_PLAIN; level < CPU_LEVELS; level++) {
		cpu_limit((enum cpu_level)level);
		for (int i = 0; i < 4 * N * (N + 1); i++) { // no odd value or one of the three, at each place, for each length
			int kind = i % 4, at = i / 4 % N, n = i / 4 / N;
			float x[N], lo = INFINITY, hi = -INFINITY;
			struct range got;
			for (int k = 0; k < n; k++) {
				x[k] = kind < 3 && (k == at || k % 5 == 3) ? odd[kind] : support_random_float(&r, -3, 3);
				if (isfinite(x[k])) {
					lo = fminf(lo, x[k]);
					hi = fmaxf(hi, x[k]);
				}
			}
			scan_range(&got, x, n);
			assert_true(got.seen == (lo <= hi));
			assert_true(!got.seen || (got.lo == lo && got.hi == hi));
		}
	}
	cpu_limit(CPU_LEVELS);
}

void test_scan__a_range_of_nothing_finite(void **state)
{
	static const float odd[] = {NAN, INFINITY, -INFINITY};
	for (int level = CPU_PLAIN; level < CPU_LEVELS; level++) {
		cpu_limit((enum cpu_level)level);
		for (int kind = 0; kind < 3; kind++) {
			float x[40];
			struct range got;
			for (int k = 0; k < 40; k++)
				x[k] = odd[kind];
			scan_range(&got, x, 40);
			assert_false(got.seen);
		}
	}
	cpu_limit(CPU_LEVELS);
}
