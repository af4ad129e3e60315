// Mean and variance of a row: the definition, and the same bits on every processor level.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <cmocka.h>
#include "../../src/engine/kernels/rows/row_moments.h"
#include "../../src/engine/tensor/cpu.h"
#include "support.h"

void test_row_moments__every_length_on_every_level(void **state)
{
	enum { MOST = 140 };
	struct support_random r = {82};
	float x[MOST];
	support_random_floats(&r, x, MOST, -3.0f, 5.0f);
	for (int n = 0; n <= MOST; n++) {
		struct row_moments first = {0};
		double mean = 0, variance = 0;
		for (int i = 0; i < n; i++)
			mean += (double)x[i] / n;
		for (int i = 0; i < n; i++)
			variance += ((double)x[i] - mean) * ((double)x[i] - mean) / n;
		for (int level = CPU_PLAIN; level < CPU_LEVELS; level++) {
			cpu_limit((enum cpu_level)level);
			struct row_moments m = row_moments_of(x, n);
			assert_float_equal(m.mean, mean, 1e-12);
			assert_float_equal(m.variance, variance, 1e-12);
			if (level == CPU_PLAIN)
				first = m;
			assert_memory_equal(&first, &m, sizeof m);
		}
	}
	cpu_limit(CPU_LEVELS);
}

// What lies behind the row is not read: the last elements are fewer than a register holds.
void test_row_moments__one_that_is_not_finite_tells(void **state)
{
	float x[40] = {0};
	for (int level = CPU_PLAIN; level < CPU_LEVELS; level++)
		for (int i = 0; i < 40; i++) {
			cpu_limit((enum cpu_level)level);
			x[i] = NAN;
			assert_true(isnan(row_moments_of(x, i + 1).mean));
			assert_false(isnan(row_moments_of(x, i).variance));
			x[i] = 0;
		}
	cpu_limit(CPU_LEVELS);
}
