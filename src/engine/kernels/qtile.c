// Expanding input pixels into tiles.
#include "qtile.h"

static void fill(int16_t *y, int64_t n, int16_t value)
{
#pragma omp simd
	for (int64_t i = 0; i < n; i++)
		y[i] = value;
}

static int64_t clamp(int64_t v, int64_t low, int64_t high)
{
	return v < low ? low : v > high ? high : v;
}

// Pixels col .. col + n of an input row that lie inside.
static void row_blocked(int16_t *y, const struct qimage *im, const struct qmicro *m, const char *x, int64_t n, int64_t row, int64_t col,
    int64_t count)
{
	int64_t block = layout_block(), plane = im->h * im->w;
	size_t elem = dtype_size(im->type), step = (size_t)(plane * block) * elem;

	x += (size_t)act_offset(LAYOUT_BLOCK, block, im->c, plane, n, 0, row * im->w + col) * elem;
	for (int64_t b = 0; b < im->pitch; b += block, x += step)
		for (int64_t c = 0; c < block && b + c < im->pitch; c += 8)
			m->widen[im->type](y + b + c, im->pitch, x + (size_t)c * elem, block, count, im->entry.shift);
}

// n neighbours of one channel.
static void widen_all(int16_t *y, const struct qimage *im, const struct qmicro *m, const char *x, int64_t at, int64_t n)
{
	m->widen[im->type](y, 8, x + (size_t)at * dtype_size(im->type), 8, n / 8, im->entry.shift);
	for (int64_t i = n / 8 * 8; i < n; i++)
		y[i] = (int16_t)(qcode_at(x, im->type, at + i) - im->entry.shift);
}

// The first layer of most networks: three channels.
static void row_of_three(int16_t *y, const struct qimage *im, const struct qmicro *m, const char *x, const int64_t at[3], int64_t count)
{
	enum { PART = 256 };
	int16_t part[3][PART];

	for (int64_t i = 0; i < count; i += PART) {
		int64_t n = count - i < PART ? count - i : PART;
		for (int c = 0; c < 3; c++)
			widen_all(part[c], im, m, x, at[c] + i, n);
		m->interleave3(y + i * 3, part[0], part[1], part[2], n);
	}
}

static void row_plain(int16_t *y, const struct qimage *im, const struct qmicro *m, const char *x, int64_t n, int64_t row, int64_t col,
    int64_t count)
{
	int64_t plane = im->h * im->w, at = (n * im->c * im->h + row) * im->w + col;

	if (im->c == 1) {
		widen_all(y, im, m, x, at, count);
	} else if (im->c == 3) {
		row_of_three(y, im, m, x, (const int64_t[]) { at, at + plane, at + 2 * plane }, count);
	} else {
		for (int64_t c = 0; c < im->c; c++, at += plane)
			for (int64_t i = 0; i < count; i++)
				y[i * im->pitch + c] = (int16_t)(qcode_at(x, im->type, at + i) - im->entry.shift);
	}
}

void qtile_fill(int16_t *tile, const struct qimage *im, const struct qmicro *m, const void *x, int64_t n, int64_t row, int64_t rows,
    int64_t col, int64_t cols)
{
	int64_t first = clamp(-col, 0, cols), last = clamp(im->w - col, first, cols);

	for (int64_t r = row; r < row + rows; r++, tile += cols * im->pitch) {
		if (r < 0 || r >= im->h || first == last) {
			fill(tile, cols * im->pitch, im->entry.pad);
			continue;
		}
		fill(tile, first * im->pitch, im->entry.pad);
		if (im->layout == LAYOUT_BLOCK)
			row_blocked(tile + first * im->pitch, im, m, x, n, r, col + first, last - first);
		else
			row_plain(tile + first * im->pitch, im, m, x, n, r, col + first, last - first);
		fill(tile + last * im->pitch, (cols - last) * im->pitch, im->entry.pad);
	}
	fill(tile, QTILE_SLACK, 0);
}
