// Products of codes: both matrices in pairs of neighbours along k, two of whose products one instruction adds up.
#define PRODUCT_ROWS product_rows_plain
#include <stdbool.h>
#include "../../tensor/cpu.h"
#include "product_codes_body.h"
#include "qtui/base/parts.h"

enum { ROWS = 64 }; // of a thread's turn, which stay in the second-level cache while panel after panel passes

static int64_t pairs_of_k(const struct matrices *t)
{
	return (t->k + 1) / 2;
}

static int64_t panels(const struct matrices *t)
{
	return (t->n + PRODUCT_PANEL - 1) / PRODUCT_PANEL;
}

static size_t packed_size(const struct matrices *t)
{
	return (size_t)(panels(t) * PRODUCT_PANEL * 2 * pairs_of_k(t)) * sizeof(int16_t);
}

// Are the rows of a pairs as they lie?
static bool lies_in_pairs(const struct matrices *t)
{
	return t->a_col == 1 && t->k % 2 == 0;
}

size_t product_codes_scratch(const struct matrices *t)
{
	return packed_size(t) + (lies_in_pairs(t) ? 0 : (size_t)(t->m * 2 * pairs_of_k(t)) * sizeof(int16_t));
}

static void pack_rows(const struct matrices *t, int16_t *to, const int16_t *a)
{
	for (int64_t i = 0; i < t->m; i++, to += 2 * pairs_of_k(t)) {
		for (int64_t k = 0; k < t->k; k++)
			to[k] = a[i * t->a_row + k * t->a_col];
		if (t->k % 2)
			to[t->k] = 0;
	}
}

// Two rows of b, `next` NULL behind the last: value by value in turn.
static void pack_pair(const struct matrices *t, int16_t *to, const int16_t *row, const int16_t *next, int64_t columns)
{
	if (t->b_col == 1 && next && columns == PRODUCT_PANEL) {
		_Pragma("omp simd") for (int j = 0; j < PRODUCT_PANEL; j++)
		{
			to[2 * j] = row[j];
			to[2 * j + 1] = next[j];
		}
		return;
	}
	for (int64_t j = 0; j < PRODUCT_PANEL; j++) {
		to[2 * j] = j < columns ? row[j * t->b_col] : 0;
		to[2 * j + 1] = j < columns && next ? next[j * t->b_col] : 0;
	}
}

static void pack_panel(const struct matrices *t, int16_t *to, const int16_t *b, int64_t columns)
{
	for (int64_t k = 0; k < t->k; k += 2, to += 2 * PRODUCT_PANEL)
		pack_pair(t, to, b + k * t->b_row, k + 1 < t->k ? b + (k + 1) * t->b_row : NULL, columns);
}

static product_rows_fn *rows_here(void)
{
#if defined(__x86_64__)
	if (cpu_level() >= CPU_AVX512)
		return product_rows_avx512;
#endif
	return cpu_level() >= CPU_AVX2 ? product_rows_avx2 : product_rows_plain;
}

struct codes_call {
	const struct matrices *t;
	product_rows_fn *multiply;
	const int16_t *a, *b;
	int16_t *packed; // the panels of b
	uint32_t *y;
	int64_t pitch, pairs; // between rows of a; pairs of a row
};

static void pack_one(void *arg, int64_t from, int64_t columns)
{
	const struct codes_call *c = arg;
	pack_panel(c->t, c->packed + 2 * from * c->pairs, c->b + from * c->t->b_col, columns);
}

static void multiply_some(void *arg, int64_t from, int64_t rows)
{
	const struct codes_call *c = arg;
	const struct matrices *t = c->t;
	c->multiply(c->y + from * t->n, t->n, c->a + from * c->pitch, c->pitch, rows, c->packed, c->pairs);
}

void product_codes(const struct matrices *t, const int16_t *a, const int16_t *b, uint32_t *y, void *scratch, int width)
{
	int64_t pairs = pairs_of_k(t), pitch = t->a_row;
	int16_t *packed = scratch;
	if (!lies_in_pairs(t)) {
		int16_t *rows = (int16_t *)((char *)scratch + packed_size(t));
		pack_rows(t, rows, a);
		a = rows;
		pitch = 2 * pairs;
	}
	struct codes_call c = {t, rows_here(), a, b, packed, y, pitch, pairs};
	parts_cut(t->n, PRODUCT_PANEL, width, pack_one, &c);
	parts_cut(t->m, ROWS, width, multiply_some, &c);
}
