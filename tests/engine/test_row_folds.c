// Totals and ends of a row: the definition, and the same bits on every processor level.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "../../src/engine/kernels/rows/row_folds.h"
#include "../../src/engine/tensor/cpu.h"
#include "support.h"

enum { MOST = 140 };

struct folded {
	double sum, abs, square;
	float most, least;
};

static struct folded folded_of(const float *x, int n)
{
	const struct row_folds *f = row_folds_here();
	struct folded y;
	memset(&y, 0, sizeof y);
	y.sum = f->sum(x, n);
	y.abs = f->abs(x, n);
	y.square = f->square(x, n);
	y.most = f->most(x, n);
	y.least = f->least(x, n);
	return y;
}

void test_row_folds__every_length_on_every_level(void **state)
{
	struct support_random r = {83};
	float x[MOST];
	support_random_floats(&r, x, MOST, -3.0f, 5.0f);
	for (int n = 1; n <= MOST; n++) {
		struct folded want = {.most = x[0], .least = x[0]}, first = {0};
		for (int i = 0; i < n; i++) {
			want.sum += (double)x[i];
			want.abs += fabs((double)x[i]);
			want.square += (double)x[i] * (double)x[i];
			want.most = fmaxf(want.most, x[i]);
			want.least = fminf(want.least, x[i]);
		}
		for (int level = CPU_PLAIN; level < CPU_LEVELS; level++) {
			cpu_limit((enum cpu_level)level);
			struct folded y = folded_of(x, n);
			assert_float_equal(y.sum, want.sum, 1e-12 * want.abs);
			assert_float_equal(y.abs, want.abs, 1e-12 * want.abs);
			assert_float_equal(y.square, want.square, 1e-12 * want.square);
			assert_true(y.most == want.most && y.least == want.least);
			if (level == CPU_PLAIN)
				first = y;
			assert_memory_equal(&first, &y, sizeof y);
		}
	}
	cpu_limit(CPU_LEVELS);
}

// Wherever it stands, and not where it lies behind the row.
void test_row_folds__nan_is_the_largest_and_the_least_and_infinity_is_a_number(void **state)
{
	float x[MOST] = {0};
	for (int level = CPU_PLAIN; level < CPU_LEVELS; level++)
		for (int i = 1; i < MOST; i++) {
			cpu_limit((enum cpu_level)level);
			const struct row_folds *f = row_folds_here();
			for (int sign = -1; sign <= 1; sign += 2) {
				x[i] = copysignf(NAN, (float)sign);
				assert_true(isnan(f->most(x, i + 1)) && isnan(f->least(x, MOST)));
				assert_true(f->most(x, i) == 0 && f->least(x, i) == 0);
				x[i] = (float)sign * INFINITY;
				assert_true(f->most(x, MOST) == (sign > 0 ? INFINITY : 0));
				assert_true(f->least(x, MOST) == (sign < 0 ? -INFINITY : 0));
			}
			x[i] = 0;
		}
	cpu_limit(CPU_LEVELS);
}
