// Expanding input pixels into tiles.
#include <string.h>
#include "qtile.h"

static void fill_pairs(int16_t *y, int64_t n, int16_t value)
{
#pragma omp simd
	for (int64_t i = 0; i < n; i++)
		y[i] = value;
}

static void fill(char *y, int64_t n, int size, int16_t value)
{
	if (size == 1)
		memset(y, value, (size_t)n);
	else
		fill_pairs((int16_t *)y, n, value);
}

static int64_t clamp(int64_t v, int64_t low, int64_t high)
{
	return v < low ? low : v > high ? high : v;
}

int64_t qimage_pitch(const struct qimage *im, const struct qmicro *m)
{
	return im->layout == LAYOUT_BLOCK ? (im->c + m->lot - 1) / m->lot * m->lot : im->c;
}

// A row whose pixels all lie inside.
static void row_blocked(char *y, const struct qimage *im, const struct qmicro *m, const char *x, const struct qarea *row)
{
	int64_t block = layout_block(), plane = im->h * im->w;
	size_t elem = dtype_size(im->type), step = (size_t)(plane * block) * elem;
	x += (size_t)act_offset(LAYOUT_BLOCK, block, im->c, plane, row->n, 0, row->row * im->w + row->col) * elem;
	for (int64_t b = 0; b < im->pitch; b += block, x += step)
		for (int64_t c = 0; c < block && b + c < im->pitch; c += m->lot)
			m->widen[im->type](y + (b + c) * m->size, im->pitch, x + (size_t)c * elem, block, row->cols, im->entry.shift);
}

// n neighbours of one channel, `step` values apart.
static void widen_one(char *y, const struct qimage *im, const struct qmicro *m, const char *x, int64_t at, int64_t n, int64_t step)
{
	for (int64_t i = 0; i < n; i++)
		qvalue_put(y, m, i * step, qcode_at(x, im->type, at + i) - im->entry.shift);
}

// The same side by side.
static void widen_all(char *y, const struct qimage *im, const struct qmicro *m, const char *x, int64_t at, int64_t n)
{
	int64_t whole = n / m->lot * m->lot;
	m->widen[im->type](y, m->lot, x + (size_t)at * dtype_size(im->type), m->lot, whole / m->lot, im->entry.shift);
	widen_one(y + whole * m->size, im, m, x, at + whole, n - whole, 1);
}

// The first layer of most networks: three channels.
static void row_of_three(char *y, const struct qimage *im, const struct qmicro *m, const char *x, const int64_t at[3], int64_t count)
{
	enum { PART = 256 };
	_Alignas(64) char part[3][PART * sizeof(int16_t)];

	for (int64_t i = 0; i < count; i += PART) {
		int64_t n = count - i < PART ? count - i : PART;
		for (int c = 0; c < 3; c++)
			widen_all(part[c], im, m, x, at[c] + i, n);
		m->interleave3(y + i * 3 * m->size, part[0], part[1], part[2], n);
	}
}

static void row_plain(char *y, const struct qimage *im, const struct qmicro *m, const char *x, const struct qarea *row)
{
	int64_t plane = im->h * im->w, count = row->cols, at = (row->n * im->c * im->h + row->row) * im->w + row->col;
	if (im->c == 1) {
		widen_all(y, im, m, x, at, count);
	} else if (im->c == 3) {
		row_of_three(y, im, m, x, (const int64_t[]){at, at + plane, at + 2 * plane}, count);
	} else {
		for (int64_t c = 0; c < im->c; c++, at += plane)
			widen_one(y + c * m->size, im, m, x, at, count, im->pitch);
	}
}

void qtile_fill(void *tile, const struct qimage *im, const struct qmicro *m, const void *x, const struct qarea *area)
{
	int64_t cols = area->cols, pixel = im->pitch * m->size;
	int64_t first = clamp(-area->col, 0, cols), last = clamp(im->w - area->col, first, cols); // of a row, those inside
	char *y = tile;
	for (int64_t r = area->row; r < area->row + area->rows; r++, y += cols * pixel) {
		const struct qarea row = {area->n, r, 1, area->col + first, last - first};
		if (r < 0 || r >= im->h || first == last) {
			fill(y, cols * im->pitch, m->size, im->entry.pad);
			continue;
		}
		fill(y, first * im->pitch, m->size, im->entry.pad);
		if (im->layout == LAYOUT_BLOCK)
			row_blocked(y + first * pixel, im, m, x, &row);
		else
			row_plain(y + first * pixel, im, m, x, &row);
		fill(y + last * pixel, (cols - last) * im->pitch, m->size, im->entry.pad);
	}
	memset(y, 0, QTILE_SLACK);
}
