// Sixel: columns of six pixels a character, one colour at a time, on the 6x6x6 cube with ordered dithering.
#include <stdlib.h>
#include <string.h>

#include "qtui/base/mem.h"
#include "qtui/tui/graphics.h"

enum { LEVELS = 6, COLOURS = LEVELS * LEVELS * LEVELS, BAND = 6, LEAST_RUN = 4 };

static int level_of(int v, int x, int y)
{
	static const int bayer[4][4] = {{0, 8, 2, 10}, {12, 4, 14, 6}, {3, 11, 1, 9}, {15, 7, 13, 5}};
	int level = (v * (LEVELS - 1) * 16 + bayer[y & 3][x & 3] * 255) / (255 * 16);
	return level < LEVELS - 1 ? level : LEVELS - 1;
}

static int colour_at(const uint8_t *rgb, int w, int x, int y)
{
	const uint8_t *p = rgb + 3 * ((size_t)y * (size_t)w + (size_t)x);
	return (level_of(p[0], x, y) * LEVELS + level_of(p[1], x, y)) * LEVELS + level_of(p[2], x, y);
}

static void add_run(struct str *out, int bits, int n)
{
	char c = (char)(63 + bits);
	if (n >= LEAST_RUN)
		str_addf(out, "!%d%c", n, c);
	else
		for (int i = 0; i < n; i++)
			str_addn(out, &c, 1);
}

// One colour's bits of a band; what is blank at its end is left out.
static void add_colour(struct str *out, int colour, const unsigned char *bits, int w)
{
	int end = w;
	while (end > 0 && !bits[end - 1])
		end--;
	str_addf(out, "#%d", colour);
	for (int x = 0, n; x < end; x += n) {
		for (n = 1; x + n < end && bits[x + n] == bits[x]; n++)
			;
		add_run(out, bits[x], n);
	}
	str_add(out, "$");
}

static void add_band(struct str *out, const uint8_t *rgb, int w, int rows, int top, unsigned char *bits)
{
	bool used[COLOURS] = {0};
	memset(bits, 0, (size_t)COLOURS * (size_t)w);
	for (int y = 0; y < rows; y++)
		for (int x = 0; x < w; x++) {
			int colour = colour_at(rgb, w, x, top + y);
			bits[(size_t)colour * (size_t)w + (size_t)x] |= (unsigned char)(1u << y);
			used[colour] = true;
		}
	for (int c = 0; c < COLOURS; c++)
		if (used[c])
			add_colour(out, c, bits + (size_t)c * (size_t)w, w);
	str_add(out, "-");
}

void sixel_encode(struct str *out, const uint8_t *rgb, int w, int h)
{
	unsigned char *bits = mem_try_array((size_t)w, COLOURS);
	if (!bits)
		return;
	str_addf(out, "\033P0;1q\"1;1;%d;%d", w, h);
	for (int c = 0; c < COLOURS; c++)
		str_addf(out, "#%d;2;%d;%d;%d", c, c / (LEVELS * LEVELS) * 20, c / LEVELS % LEVELS * 20, c % LEVELS * 20);
	for (int y = 0; y < h; y += BAND)
		add_band(out, rgb, w, h - y < BAND ? h - y : BAND, y, bits);
	str_add(out, "\033\\");
	free(bits);
}
