#include "qtui/tui/plot.h"

#include <math.h>

int plot_bins(const struct canvas *c, int width)
{
	return c->ascii ? width : 2 * width;
}

// Height in dots of `dots`: anything that occurs at all is seen.
static int bar_height(uint64_t count, uint64_t most, int dots)
{
	if (!count || !most)
		return 0;
	return 1 + (int)(log1p((double)count) / log1p((double)most) * (dots - 1) + 0.5);
}

static int clamp4(int v)
{
	return v < 0 ? 0 : v > 4 ? 4 : v;
}

// Dots of one cell's column that are filled, from `low` to `high` - 1 of its four.
static uint32_t braille_column(int low, int high, int right)
{
	static const uint32_t dot[2][4] = {{0x40, 0x04, 0x02, 0x01}, {0x80, 0x20, 0x10, 0x08}};
	uint32_t bits = 0;
	for (int i = low; i < high; i++)
		bits |= dot[right][i];
	return bits;
}

struct span {
	int from, to;
};

static void put_ascii(struct canvas *c, int x, int y, int below, struct span s, enum role role)
{
	int fill = clamp4(s.to - below) - clamp4(s.from - below);
	canvas_put(c, x, y, (uint32_t)" .:+#"[fill > 0 ? fill : 0], role);
}

// Braille patterns: a bit for each dot.
enum { BRAILLE_BLANK = 0x2800 };

static void put_braille(struct canvas *c, int x, int y, int below, struct span left, struct span right, enum role role)
{
	uint32_t bits = braille_column(clamp4(left.from - below), clamp4(left.to - below), 0) |
	    braille_column(clamp4(right.from - below), clamp4(right.to - below), 1);
	if (bits)
		canvas_put(c, x, y, BRAILLE_BLANK + bits, role);
}

// What the columns of dots of cell x show, over all lines.
static void put_cells(struct canvas *c, struct rect r, int x, struct span left, struct span right, enum role role)
{
	for (int y = 0; y < r.h; y++) {
		int below = 4 * (r.h - 1 - y);
		if (c->ascii)
			put_ascii(c, r.x + x, r.y + y, below, left, role);
		else
			put_braille(c, r.x + x, r.y + y, below, left, right, role);
	}
}

void plot_bars(struct canvas *c, struct rect r, const uint64_t *bin, uint64_t most, enum role role)
{
	for (int x = 0; x < r.w; x++) {
		int left = bar_height(bin[c->ascii ? x : 2 * x], most, 4 * r.h);
		int right = c->ascii ? left : bar_height(bin[2 * x + 1], most, 4 * r.h);
		put_cells(c, r, x, (struct span){0, left}, (struct span){0, right}, role);
	}
}

void plot_spans(struct canvas *c, struct rect r, const int *from, const int *to, enum role role)
{
	for (int x = 0; x < r.w; x++) {
		int left = c->ascii ? x : 2 * x, right = c->ascii ? x : 2 * x + 1;
		put_cells(c, r, x, (struct span){from[left], to[left]}, (struct span){from[right], to[right]}, role);
	}
}

void plot_gauge(struct canvas *c, int x, int y, int width, double share, enum role role)
{
	int eighths = (int)(share * 8 * width + 0.5);
	if (share > 0 && eighths == 0)
		eighths = 1;
	for (int i = 0; i < width && eighths > 0; i++, eighths -= 8)
		canvas_put(c, x + i, y, U'█' + (uint32_t)(eighths < 8 ? 8 - eighths : 0), role);
}
