// A matrix times a vector: the definition, and the same bits on every processor level.
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "../../src/engine/kernels/product/dot.h"
#include "../../src/engine/tensor/cpu.h"
#include "support.h"

void test_dot__every_size_on_every_level(void **state)
{
	enum { ROWS = 9, MOST = 21 };
	struct support_random r = {81};
	float matrix[ROWS * MOST], x[MOST], first[ROWS], y[ROWS];
	support_random_floats(&r, matrix, ROWS * MOST, -1.0f, 1.0f);
	support_random_floats(&r, x, MOST, -1.0f, 1.0f);
	for (int n = 0; n <= MOST; n++)
		for (int level = CPU_PLAIN; level < CPU_LEVELS; level++) {
			cpu_limit((enum cpu_level)level);
			for (int i = 0; i < ROWS; i++)
				y[i] = (float)i;
			dot_rows(y, matrix, x, ROWS, n);
			for (int i = 0; i < ROWS; i++) {
				double sum = i;
				for (int k = 0; k < n; k++)
					sum += (double)matrix[i * n + k] * x[k];
				assert_float_equal(y[i], sum, 1e-5);
			}
			if (level == CPU_PLAIN)
				memcpy(first, y, sizeof first);
			assert_memory_equal(first, y, sizeof first);
		}
	cpu_limit(CPU_LEVELS);
}

// Some rows of a turned matrix, from one that begins nowhere in particular, for one vector and several.
void test_dot__columns_on_every_level(void **state)
{
	enum { N = 7, FIRST = 3, MOST = 150, APART = 160, MANY = 6 };
	struct support_random r = {82};
	float turned[N * APART + DOT_PAD + FIRST], x[MANY][N], first[MANY][MOST + 1], y[MANY][MOST + 1];
	const float *from[MANY];
	float *to[MANY];
	support_random_floats(&r, turned, sizeof turned / sizeof *turned, -1.0f, 1.0f);
	for (int s = 0; s < MANY; s++) {
		support_random_floats(&r, x[s], N, -1.0f, 1.0f);
		from[s] = x[s];
		to[s] = y[s];
	}
	for (int rows = 0; rows <= MOST; rows++)
		for (int level = CPU_PLAIN; level < CPU_LEVELS; level++) {
			cpu_limit((enum cpu_level)level);
			for (int s = 0; s < MANY; s++)
				for (int i = 0; i <= MOST; i++)
					y[s][i] = (float)((s + i) % 8);
			dot_columns(to, turned + FIRST, APART, from, MANY, rows, N);
			for (int s = 0; s < MANY; s++) {
				for (int i = 0; i < rows; i++) {
					double sum = (s + i) % 8;
					for (int k = 0; k < N; k++)
						sum += (double)turned[k * APART + FIRST + i] * x[s][k];
					assert_float_equal(y[s][i], sum, 1e-5);
				}
				assert_true(y[s][rows] == (float)((s + rows) % 8));
			}
			if (level == CPU_PLAIN)
				memcpy(first, y, sizeof first);
			assert_memory_equal(first, y, sizeof first);
		}
	cpu_limit(CPU_LEVELS);
}
