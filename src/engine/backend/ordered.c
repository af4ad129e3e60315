#include "ordered.h"

#include <math.h>
#include <string.h>
#include "../tensor/cpu.h"

static void element(const struct product *p, int64_t i, int64_t j, int64_t k0, int64_t k1)
{
	float acc = 0;
	for (int64_t k = k0; k < k1; k++)
		acc = fmaf(p->a.at[i * p->a.row + k], p->b.at[k * p->b.row + j], acc);
	float *c = &p->c[i * p->c_row + j];
	*c = ordered_fresh(p, k0) ? acc : *c + acc;
}

static void block(const struct product *p, int64_t i0, int64_t rows, int64_t k0, int64_t k1)
{
	int64_t j = 0;
#ifdef __x86_64__
	if (cpu_level() >= CPU_AVX2)
		for (; j < p->n; j += 16)
			ordered_block_avx2(p, i0, rows, j, least(16, p->n - j), k0, k1);
#endif
	for (; j < p->n; j++)
		for (int64_t i = i0; i < i0 + rows; i++)
			element(p, i, j, k0, k1);
}

// A single row (depthwise convolutions) has an order of its own there:
// products of four k are added up from the first, without fusing, and then onto the sum so far.
static void add_four(float *c, const float *a, const float *b, int64_t b_row, int64_t n)
{
	for (int64_t j = 0; j < n; j++)
		c[j] += ((a[0] * b[j] + a[1] * b[b_row + j]) + a[2] * b[2 * b_row + j]) + a[3] * b[3 * b_row + j];
}

static void add_rest(float *c, const float *a, const float *b, int64_t b_row, int64_t n, int64_t count)
{
	for (int64_t j = 0; j < n; j++) {
		float sum = a[0] * b[j];
		for (int64_t k = 1; k < count; k++)
			sum += a[k] * b[k * b_row + j];
		c[j] += sum;
	}
}

static void single_row(const struct product *p)
{
	int64_t k = 0;
	memset(p->c, 0, (size_t)p->n * sizeof *p->c);
	for (; k + 4 <= p->k; k += 4)
		add_four(p->c, p->a.at + k, p->b.at + k * p->b.row, p->b.row, p->n);
	if (k < p->k)
		add_rest(p->c, p->a.at + k, p->b.at + k * p->b.row, p->b.row, p->n, p->k - k);
}

void ordered_gemm_blocks(const struct product *p, int64_t step)
{
	for (int64_t k = 0; k < p->k; k += step)
		for (int64_t i = 0; i < p->m; i += 4)
			block(p, i, least(4, p->m - i), k, least(k + step, p->k));
}

int64_t ordered_step(int64_t n, int64_t k)
{
	int64_t step = 128, width = 128;
	while (n < k && width > 16 && width / 2 >= n) {
		step *= 2;
		width /= 2;
	}
	return step;
}

void ordered_gemm(const struct product *p, int64_t columns)
{
	if (p->m == 1)
		single_row(p);
	else
		ordered_gemm_blocks(p, ordered_step(columns, p->k));
}
