// Products of floats: columns of b are panels, copied where they do not lie so that the loop can read them.
#define PRODUCT_PANEL_FN product_panel_plain
#include <stdbool.h>
#include "../../tensor/cpu.h"
#include "../../tensor/transpose.h"
#include "product_floats_body.h"
#include "qtui/base/parts.h"

enum {
	ROWS = 256,    // of a thread's turn at most, which share what is copied of b; threads have as many turns
	BLOCK_K = 256, // rows of b that stay in the cache meanwhile
	TILE = 8       // rows and columns that are transposed in registers
};

static product_panel_fn *panel_here(void)
{
#if defined(__x86_64__)
	if (cpu_level() >= CPU_AVX512)
		return product_panel_avx512;
#endif
	return cpu_level() >= CPU_AVX2 ? product_panel_avx2 : product_panel_plain;
}

// Columns that are not side by side, or too few to be read as a panel, are copied.
static void copy_plain(float *to, const struct matrices *t, const float *b, int64_t columns, int64_t k)
{
	for (int64_t i = 0; i < k; i++, b += t->b_row, to += PRODUCT_PANEL)
		for (int64_t j = 0; j < columns; j++)
			to[j] = b[j * t->b_col];
}

// Of a matrix that lies transposed, tiles are turned in registers;
// returns the rows that are whole tiles of a whole panel.
static int64_t copy_turned(float *to, const struct matrices *t, const float *b, int64_t columns, int64_t k)
{
	const size_t row = PRODUCT_PANEL * sizeof *to, column = (size_t)t->b_col * sizeof *b;
	transpose_fn *turn = t->b_row == 1 && columns == PRODUCT_PANEL ? transpose_find(sizeof *b) : NULL;
	for (int64_t j = 0; turn && j < PRODUCT_PANEL; j += TILE)
		turn((uint8_t *)(to + j), row, TILE * row, (const uint8_t *)(b + j * t->b_col), column, TILE * sizeof *b, k / TILE);
	return turn ? k / TILE * TILE : 0;
}

static void copy_panel(float *to, const struct matrices *t, const float *b, int64_t columns, int64_t k)
{
	if (columns < PRODUCT_PANEL)
		memset(to, 0, (size_t)k * PRODUCT_PANEL * sizeof *to);
	int64_t done = copy_turned(to, t, b, columns, k);
	copy_plain(to + done * PRODUCT_PANEL, t, b + done * t->b_row, columns, k - done);
}

static void multiply_rows(const struct matrices *t, const float *a, const float *b, float *y, int64_t rows)
{
	product_panel_fn *multiply = panel_here();
	float copy[BLOCK_K * PRODUCT_PANEL];
	for (int64_t from = 0; from < t->k; from += BLOCK_K) {
		int64_t k = t->k - from < BLOCK_K ? t->k - from : BLOCK_K;
		for (int64_t j = 0; j < t->n; j += PRODUCT_PANEL) {
			int64_t columns = t->n - j < PRODUCT_PANEL ? t->n - j : PRODUCT_PANEL;
			const float *panel = b + from * t->b_row + j * t->b_col;
			bool as_it_lies = t->b_col == 1 && columns == PRODUCT_PANEL;
			if (!as_it_lies)
				copy_panel(copy, t, panel, columns, k);
			multiply(y + j, t->n, columns, a + from * t->a_col, t, rows, as_it_lies ? panel : copy,
			    as_it_lies ? t->b_row : PRODUCT_PANEL, k);
		}
	}
}

struct shares {
	const struct matrices *t;
	const float *a, *b;
	float *y;
};

static void one_share(void *arg, int64_t from, int64_t rows)
{
	const struct shares *s = arg;
	multiply_rows(s->t, s->a + from * s->t->a_row, s->b, s->y + from * s->t->n, rows);
}

void product_floats(const struct matrices *t, const float *a, const float *b, float *y, int width)
{
	int64_t turns = (t->m + ROWS * width - 1) / (ROWS * width), shares = width * (turns + !turns);
	int64_t rows = t->m > shares ? (t->m + shares - 1) / shares : 1;

	parts_cut(t->m, rows, width, one_share, &(struct shares){t, a, b, y});
}
