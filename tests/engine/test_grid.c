// Histograms of floats on steps of a power of two: whatever the parts, they merge to the grid of the whole.
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "stats_case.h"

static struct grid *grid_of(const struct tensor *f)
{
	struct grid *g = calloc(1, sizeof *g);
	stats_site(&(struct stats_site){.f = f, .q = {f, f}, .grid = g});
	return g;
}

// Parts of any ranges and in any order give the grid of the whole.
void test_grid__parts_merge_exactly(void **state)
{
	static const float reach[] = {1e-6f, 0.02f, 7.0f, 3000.0f}, shift[] = {0.0f, -50.0f, 1e5f};
	const int64_t each = 3000, parts = 4, n = each * parts;
	for (int s = 0; s < 3; s++) {
		struct tensor f = tensor(DT_F32, LAYOUT_PLAIN, 1, &n);
		struct grid *whole, *up = calloc(1, sizeof *up), *down = calloc(1, sizeof *down), *part[4];
		for (int64_t i = 0; i < n; i++)
			((float *)f.data)[i] = shift[s] + noise() * reach[i / each];
		whole = grid_of(&f);
		for (int i = 0; i < parts; i++) {
			struct tensor piece = f;
			piece.shape = shape_of(1, &each);
			piece.data = (float *)f.data + i * each;
			part[i] = grid_of(&piece);
		}
		for (int i = 0; i < parts; i++) {
			grid_merge(up, part[i]);
			grid_merge(down, part[parts - 1 - i]);
		}
		assert_int_equal(whole->exponent, up->exponent);
		assert_true(whole->n == up->n && whole->first == up->first && whole->n == down->n && whole->first == down->first);
		assert_memory_equal(whole->bin, up->bin, (size_t)whole->n * sizeof whole->bin[0]);
		assert_memory_equal(whole->bin, down->bin, (size_t)whole->n * sizeof whole->bin[0]);
		for (int i = 0; i < parts; i++)
			free(part[i]);
		free(whole);
		free(up);
		free(down);
		tensor_drop(&f);
	}
}

// Ranges of which one is nothing beside the other, up to all that a float can be.
void test_grid__far_apart_merge(void **state)
{
	const int64_t n = 64;
	struct tensor small = tensor(DT_F32, LAYOUT_PLAIN, 1, &n), large = tensor(DT_F32, LAYOUT_PLAIN, 1, &n);
	for (int apart = 1; apart < 220; apart++) {
		for (int i = 0; i < n; i++) {
			((float *)small.data)[i] = ldexpf(1.0f + (float)i, -100);
			((float *)large.data)[i] = ldexpf(1.0f + (float)i, -100 + apart);
		}
		struct grid *a = grid_of(&small), *b = grid_of(&large);
		double step;
		grid_merge(a, b);
		step = ldexp(1, a->exponent);
		assert_true(total(a->bin, a->n) == 2 * (double)n);
		assert_true((double)a->first * step <= (double)((float *)small.data)[0]);
		assert_true((double)(a->first + a->n) * step > (double)((float *)large.data)[n - 1]);
		if (apart > 20) // all that is small lies in the bin at zero
			assert_true(a->bin[-a->first] >= n);
		free(a);
		free(b);
	}
	tensor_drop(&small);
	tensor_drop(&large);
}

// Few elements and many, far from each other and close: what is packed comes out as it was, in a small part of the bytes.
void test_grid__packed_is_the_same(void **state)
{
	static const int64_t counts[] = {1, 500, 40000, 3000000};
	for (int k = 0; k < 4; k++) {
		struct tensor f = tensor(DT_F32, LAYOUT_PLAIN, 1, &counts[k]);
		for (int64_t i = 0; i < counts[k]; i++) // half of them zeros, as a Relu leaves them: one bin has more than 16 bits
			((float *)f.data)[i] = i % 2 ? noise() : 0;
		struct grid *g = grid_of(&f), *back = malloc(sizeof *back);
		struct packed_grid *p = packed_grid_new(g);
		memset(back, 0xa5, sizeof *back);
		packed_grid_open(back, p);
		assert_true(back->n == g->n && back->exponent == g->exponent && back->first == g->first);
		assert_memory_equal(back->bin, g->bin, (size_t)g->n * sizeof g->bin[0]);
		size_t filled = 0; // a byte each at the least
		for (int i = 0; i < g->n; i++)
			filled += g->bin[i] != 0;
		assert_true(packed_grid_bytes(p) > filled && packed_grid_bytes(p) < sizeof *g * (counts[k] < 100000 ? 10 : 20) / 32);
		memset(back, 0xa5, sizeof *back);
		packed_grid_shape(back, p);
		assert_true(back->n == g->n && back->exponent == g->exponent && back->first == g->first);
		assert_true(total(back->bin, back->n) == 0);
		free(p);
		free(back);
		free(g);
		tensor_drop(&f);
	}
}

void test_grid__odd_values(void **state)
{
	const int64_t n = 16;
	struct tensor f = tensor(DT_F32, LAYOUT_PLAIN, 1, &n);
	float *x = f.data;
	struct grid *g = grid_of(&f);
	uint32_t hist[8] = {0};
	assert_int_equal(g->n, 1); // zeros
	assert_int_equal(g->bin[0], 16);
	free(g);
	x[0] = 1e37f;
	x[1] = -1e37f;
	x[2] = 1e-42f;
	x[3] = NAN;
	x[4] = INFINITY;
	g = grid_of(&f);
	assert_in_range(g->n, 2, GRID_BINS);
	grid_spread(g, -1e37f, 1e37f, hist, 8);
	assert_int_equal(hist[0] + hist[7], 3); // the infinity with the largest
	assert_int_equal(hist[4], 12);
	free(g);
	for (int i = 0; i < n; i++)
		x[i] = NAN;
	g = grid_of(&f);
	assert_int_equal(g->n, 0);
	free(g);
	tensor_drop(&f);
}

// Codes go where their values lie; neighbours of 16 bit go together.
void test_grid__codes(void **state)
{
	struct quantizer quant = quantizer(0), wide = quantizer(2);
	uint32_t count[4096] = {0}, hist[64] = {0};
	count[0] = 3;    // 0
	count[0x80] = 5; // -128 * 0.0625 = -8
	count[0x40] = 7; // 4
	grid_codes(&(struct code_counts){count, DT_I8, 0, &quant}, -8.0f, 8.0f, hist, 64);
	assert_true(hist[32] == 3 && hist[0] == 5 && hist[48] == 7);
	memset(hist, 0, sizeof hist);
	memset(count, 0, sizeof count);
	count[0x800] = 2; // -32768 and the 15 above it
	count[0x7ff] = 9;
	grid_codes(&(struct code_counts){count, DT_I16, 4, &wide}, -16.5f, 16.5f, hist, 64);
	assert_true(hist[0] == 2 && hist[63] == 9);
}
