// Masks as runs of pixels, held against bitmaps.
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "qtui/analysis/rle.h"
#include "qtui/base/mem.h"
#include "support.h"

static int draw(uint64_t *x, int below)
{
	*x = *x * 6364136223846793005u + 1442695040888963407u;
	return (int)((*x >> 33) % (unsigned)below);
}

enum { W = 37, H = 23 };

static struct rle empty(void)
{
	return (struct rle){.w = W, .h = H};
}

// A mask of some rectangles, and the same as a bitmap, column by column.
static struct rle draw_mask(uint64_t *x, uint8_t bits[W * H])
{
	struct rle m = empty();
	memset(bits, 0, W * H);
	for (int k = draw(x, 4); k > 0; k--) {
		int left = draw(x, W), top = draw(x, H), right = left + draw(x, W - left + 1), low = top + draw(x, H - top + 1);
		for (int column = left; column < right; column++)
			memset(bits + column * H + top, 1, (size_t)(low - top));
	}
	for (uint32_t i = 0; i < W * H; i++)
		if (bits[i])
			rle_add(&m, i, i + 1);
	return m;
}

static void check(const struct rle *m, const uint8_t bits[W * H])
{
	int64_t area = 0;
	for (int i = 0; i < W * H; i++) {
		if (rle_has(m, i / H, i % H) != bits[i])
			fail_msg("pixel %d,%d", i / H, i % H);
		area += bits[i];
	}
	assert_int_equal(rle_area(m), area);
	for (int i = 1; i < m->n; i++)
		assert_true(m->edge[i - 1] < m->edge[i]);
	assert_false(rle_has(m, -1, 0) || rle_has(m, 0, -1) || rle_has(m, W, 0) || rle_has(m, 0, H));
}

void test_rle__two_masks_are_as_two_bitmaps(void **state)
{
	uint64_t x = 1;
	for (int i = 0; i < 300; i++) {
		uint8_t p[W * H], q[W * H];
		struct rle a = draw_mask(&x, p), b = draw_mask(&x, q);
		int both = 0, either = 0, own = 0;
		check(&a, p);
		for (int k = 0; k < W * H; k++) {
			both += p[k] & q[k];
			either += p[k] | q[k];
			own += p[k];
		}
		assert_true(rle_iou(&a, &b, false) == (both ? (double)both / either : 0));
		assert_true(rle_iou(&a, &b, true) == (both ? (double)both / own : 0));
		for (int k = 0; k < W * H; k++)
			p[k] |= q[k];
		rle_join(&a, &b);
		check(&a, p);
		struct rle *copy = rle_copy(&a);
		check(copy, p);
		copy->h++;
		assert_true(rle_iou(copy, &a, false) == 0);
		rle_free(&copy);
		rle_done(&a);
		rle_done(&b);
	}
	assert_null(rle_copy(NULL));
}

// ---- outlines

// As pycocotools has them: all places that an outline passes in fifths of a pixel are listed, and where two that follow
// each other are on both sides of the middle of a column, every pixel below changes sides.
static void dense(uint8_t bits[W * H], const double (*corner)[2], int n)
{
	enum { PLACES = 1 << 14 };
	static int u[PLACES], v[PLACES];
	int m = 0;
	for (int i = 0; i < n; i++) {
		const double *p = corner[i], *q = corner[(i + 1) % n];
		int xs = (int)(5 * p[0] + .5), ys = (int)(5 * p[1] + .5), xe = (int)(5 * q[0] + .5), ye = (int)(5 * q[1] + .5);
		int dx = abs(xe - xs), dy = abs(ye - ys), longer = dx > dy ? dx : dy;
		bool flip = dx >= dy ? xs > xe : ys > ye;
		for (int d = 0; d <= longer; d++) {
			int t = flip ? longer - d : d, x0 = flip ? xe : xs, y0 = flip ? ye : ys;
			double slope = !longer ? 0 : (double)(dx >= dy ? (flip ? ys - ye : ye - ys) : (flip ? xs - xe : xe - xs)) / longer;
			u[m] = dx >= dy ? x0 + t : (int)(x0 + slope * t + .5);
			v[m++] = dx >= dy ? (int)(y0 + slope * t + .5) : y0 + t;
			assert_true(m < PLACES);
		}
	}
	memset(bits, 0, W * H);
	for (int i = 1; i < m; i++) {
		double column = ((u[i] < u[i - 1] ? u[i] : u[i - 1]) + .5) / 5 - .5, row = ((v[i] < v[i - 1] ? v[i] : v[i - 1]) + .5) / 5 - .5;
		if (u[i] == u[i - 1] || column != floor(column) || column < 0 || column > W - 1)
			continue;
		for (int y = (int)ceil(fmin(fmax(row, 0), H)); y < H; y++)
			bits[(int)column * H + y] ^= 1;
	}
}

void test_rle__an_outline_has_the_pixels_that_pycocotools_chooses(void **state)
{
	uint64_t x = 7;
	for (int i = 0; i < 500; i++) {
		uint8_t bits[W * H];
		double corner[12][2];
		int n = 3 + draw(&x, 10), beyond = draw(&x, 3) ? 0 : 8;
		struct rle m = empty();
		for (int k = 0; k < n; k++) {
			corner[k][0] = draw(&x, 100 * (W + 2 * beyond)) / 100. - beyond;
			corner[k][1] = draw(&x, 100 * (H + 2 * beyond)) / 100. - beyond;
		}
		dense(bits, (const double(*)[2])corner, n);
		assert_true(rle_outline(&m, (const double(*)[2])corner, n));
		check(&m, bits);
		rle_done(&m);
	}
}

void test_rle__a_box_of_whole_numbers_has_its_pixels(void **state)
{
	const double corner[4][2] = {{3, 4}, {13, 4}, {13, 10}, {3, 10}};
	struct rle m = empty();
	assert_true(rle_outline(&m, corner, 4));
	assert_int_equal(rle_area(&m), 60);
	assert_true(rle_has(&m, 3, 4) && rle_has(&m, 12, 9));
	assert_false(rle_has(&m, 2, 4) || rle_has(&m, 3, 3) || rle_has(&m, 13, 4) || rle_has(&m, 3, 10));
	rle_done(&m);
}

// Numbers of any size come from files; the work is bounded.
void test_rle__outlines_far_outside_end(void **state)
{
	const double far[3][2] = {{-1e300, -1e300}, {1e300, -1e300}, {1e300, 1e300}};
	struct rle m = empty(), wide = {.w = RLE_SIDE_MAX, .h = 1};
	assert_true(rle_outline(&m, far, 3));
	assert_true(rle_area(&m) > 0);
	rle_done(&m);
	assert_true(rle_fits(RLE_SIDE_MAX, 1));
	assert_false(rle_fits(RLE_SIDE_MAX + 1, 1) || rle_fits(1 << 15, 1 << 14) || rle_fits(0, 5) || rle_fits(5, -1));
	assert_false(rle_outline(&wide, far, 3));
	rle_done(&wide);
}

// ---- COCO's files

// A text of COCO's from runs.
static void write_text(char *out, const uint32_t *run, int n)
{
	for (int i = 0; i < n; i++) {
		int64_t v = (int64_t)run[i] - (i > 2 ? (int64_t)run[i - 2] : 0);
		for (bool more = true; more;) {
			int c = v & 31;
			v >>= 5;
			more = c & 16 ? v != -1 : v != 0;
			*out++ = (char)((more ? c | 32 : c) + 48);
		}
	}
	*out = '\0';
}

void test_rle__runs_and_texts_are_read_back(void **state)
{
	uint64_t x = 3;
	for (int i = 0; i < 100; i++) {
		uint8_t bits[W * H];
		uint32_t run[W * H + 1], at = 0;
		char text[8 * (W * H + 1)];
		struct rle m = draw_mask(&x, bits), again = empty(), told = empty();
		int n = 0;
		for (int k = 0; k < m.n; k++) {
			run[n++] = m.edge[k] - at;
			at = m.edge[k];
		}
		run[n++] = W * H - at;
		write_text(text, run, n);
		assert_true(rle_runs(&again, run, n) && rle_text(&told, text));
		check(&again, bits);
		check(&told, bits);
		rle_done(&m);
		rle_done(&again);
		rle_done(&told);
	}
}

void test_rle__runs_that_are_not_the_images_are_refused(void **state)
{
	static const uint32_t few[] = {10, 5}, many[] = {10, W * H}, huge[] = {UINT32_MAX, UINT32_MAX, 2};
	static const char *const texts[] = {"", "5", "\x7f", "oooooooo", "0o", "5 5", "PPPP", "a"};
	struct rle m = empty();
	assert_false(rle_runs(&m, few, 2));
	assert_false(rle_runs(&m, many, 2));
	assert_false(rle_runs(&m, huge, 3));
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
		rle_done(&m);
		m = empty();
		if (rle_text(&m, texts[i]))
			fail_msg("%s", texts[i]);
	}
	rle_done(&m);
}
