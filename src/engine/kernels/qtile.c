// Expanding input pixels into tiles.
#include "qtile.h"

static void fill(int16_t *y, int64_t n, int16_t value)
{
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
	int64_t block = layout_block();

	for (int64_t c = 0; c < im->pitch; c += 8) {
		int64_t at = act_offset(LAYOUT_BLOCK, block, im->c, im->h * im->w, n, c, row * im->w + col);
		m->widen[im->type](y + c, im->pitch, x + (size_t)at * dtype_size(im->type), block, count, im->entry.shift);
	}
}

static void row_plain(int16_t *y, const struct qimage *im, const char *x, int64_t n, int64_t row, int64_t col, int64_t count)
{
	for (int64_t c = 0; c < im->c; c++) {
		int64_t at = act_offset(LAYOUT_PLAIN, 1, im->c, im->h * im->w, n, c, row * im->w + col);
		int16_t *to = y + c;
#define SPREAD(type)                                                                                                   \
	for (int64_t i = 0; i < count; i++, to += im->pitch)                                                           \
		*to = (int16_t)(((const type *)x)[at + i] - im->entry.shift)
		switch (im->type) {
		case DT_I8: SPREAD(int8_t); break;
		case DT_U8: SPREAD(uint8_t); break;
		case DT_I16: SPREAD(int16_t); break;
		default: SPREAD(uint16_t); break;
		}
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
			row_plain(tile + first * im->pitch, im, x, n, r, col + first, last - first);
		fill(tile + last * im->pitch, (cols - last) * im->pitch, im->entry.pad);
	}
	fill(tile, QTILE_SLACK, 0);
}
