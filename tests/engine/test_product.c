// Products of floats and of codes: the definition, whatever the sizes and however
// the matrices lie, on every processor level.
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <cmocka.h>
#include "../../src/engine/kernels/product/product.h"
#include "../../src/engine/tensor/cpu.h"
#include "support.h"

enum { MOST = 150 };

static const int sizes[][3] = {{1, 1, 1}, {1, 33, 2}, {7, 31, 3}, {8, 32, 8}, {9, 64, 5}, {70, 65, 17}, {130, 40, 9}, {3, 100, 0}, {2, 34, 600}};

// Dense matrices, either of them turned.
static struct matrices shape_of_case(size_t i, int turned)
{
	int64_t m = sizes[i][0], n = sizes[i][1], k = sizes[i][2];
	struct matrices t = {m, n, k, k, 1, n, 1};
	if (turned & 1)
		t.a_row = 1, t.a_col = m;
	if (turned & 2)
		t.b_row = 1, t.b_col = k;
	return t;
}

static void on_every_level(void (*check)(struct matrices t, const void *a, const void *b, int width), const void *a, const void *b)
{
	for (int level = CPU_PLAIN; level < CPU_LEVELS; level++)
		for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
			for (int turned = 0; turned < 4; turned++) {
				cpu_limit((enum cpu_level)level);
				check(shape_of_case(i, turned), a, b, 1 + turned % 2);
			}
	cpu_limit(CPU_LEVELS);
}

static void check_floats(struct matrices t, const void *left, const void *right, int width)
{
	const float *a = left, *b = right;
	float *y = malloc((size_t)(t.m * t.n + 1) * sizeof *y);
	for (int64_t i = 0; i < t.m * t.n; i++)
		y[i] = (float)i;
	product_floats(&t, a, b, y, width);
	for (int64_t i = 0; i < t.m; i++)
		for (int64_t j = 0; j < t.n; j++) {
			float sum = (float)(i * t.n + j);
			for (int64_t k = 0; k < t.k; k++)
				sum += a[i * t.a_row + k * t.a_col] * b[k * t.b_row + j * t.b_col];
			assert_true(y[i * t.n + j] == sum);
		}
	free(y);
}

void test_product__floats_in_order_on_every_level(void **state)
{
	struct support_random r = {92};
	float *a = malloc(MOST * MOST * sizeof *a), *b = malloc(MOST * MOST * sizeof *b);
	support_random_floats(&r, a, MOST * MOST, -1, 1);
	support_random_floats(&r, b, MOST * MOST, -1, 1);
	on_every_level(check_floats, a, b);
	free(a);
	free(b);
}

static void check_codes(struct matrices t, const void *left, const void *right, int width)
{
	const int16_t *a = left, *b = right;
	uint32_t *y = malloc((size_t)(t.m * t.n + 1) * sizeof *y);
	void *scratch = malloc(product_codes_scratch(&t) + 1);
	for (int64_t i = 0; i < t.m * t.n; i++)
		y[i] = (uint32_t)i;
	product_codes(&t, a, b, y, scratch, width);
	for (int64_t i = 0; i < t.m; i++)
		for (int64_t j = 0; j < t.n; j++) {
			uint32_t sum = (uint32_t)(i * t.n + j);
			for (int64_t k = 0; k < t.k; k++)
				sum += (uint32_t)(a[i * t.a_row + k * t.a_col] * b[k * t.b_row + j * t.b_col]);
			assert_true(y[i * t.n + j] == sum);
		}
	free(scratch);
	free(y);
}

void test_product__codes_every_shape_on_every_level(void **state)
{
	struct support_random r = {91};
	int16_t *a = malloc(MOST * MOST * sizeof *a), *b = malloc(MOST * MOST * sizeof *b);
	for (int i = 0; i < MOST * MOST; i++) {
		a[i] = (int16_t)support_random_int(&r, -255, 255);
		b[i] = (int16_t)support_random_int(&r, -255, 255);
	}
	on_every_level(check_codes, a, b);
	free(a);
	free(b);
}

// The largest values of either sign, as long a sum as wraps.
void test_product__codes_sums_wrap(void **state)
{
	enum { K = 70001 };
	int16_t *a = malloc(2 * K * sizeof *a);
	for (int level = CPU_PLAIN; level < CPU_LEVELS; level++)
		for (int sign = -1; sign <= 1; sign += 2) {
			for (int i = 0; i < K; i++) {
				a[i] = 255;
				a[K + i] = (int16_t)(255 * sign);
			}
			cpu_limit((enum cpu_level)level);
			check_codes((struct matrices){1, 1, K, K, 1, 1, 1}, a, a + K, 1);
		}
	cpu_limit(CPU_LEVELS);
	free(a);
}
