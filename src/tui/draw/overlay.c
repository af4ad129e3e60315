// Pictures: cells with colours of their own. Curses has too few colour pairs for them, so it gets their glyphs only
// (they keep it from clearing over a picture), and the colours are written behind its back, after it has written.
#include "qtui/tui/overlay.h"

#include <errno.h>
#include <unistd.h>

// The nearest of the 6x6x6 cube and the greys of 256-colour terminals.
static int of_256(int rgb)
{
	int c[3] = {rgb >> 16 & 255, rgb >> 8 & 255, rgb & 255}, level[3], grey, cube = 0, far_cube = 0, far_grey = 0;
	for (int i = 0; i < 3; i++) {
		level[i] = c[i] < 48 ? 0 : c[i] < 115 ? 1 : (c[i] - 35) / 40;
		cube = 6 * cube + level[i];
	}
	grey = ((c[0] + c[1] + c[2]) / 3 - 3) / 10;
	grey = grey < 0 ? 0 : grey > 23 ? 23 : grey;
	for (int i = 0; i < 3; i++) {
		int at = level[i] ? 55 + 40 * level[i] : 0, g = 8 + 10 * grey;
		far_cube += (c[i] - at) * (c[i] - at);
		far_grey += (c[i] - g) * (c[i] - g);
	}
	return far_grey < far_cube ? 232 + grey : 16 + cube;
}

static void add_colour(struct str *out, int base, int rgb, bool direct)
{
	if (direct)
		str_addf(out, "\033[%d;2;%d;%d;%dm", base, rgb >> 16 & 255, rgb >> 8 & 255, rgb & 255);
	else
		str_addf(out, "\033[%d;5;%dm", base, of_256(rgb));
}

static bool is_picture(const struct cell *c)
{
	return c->fg >= 0;
}

static void add_line(struct str *out, const struct cell *row, int y, int w, bool direct)
{
	int fg = -1, bg = -1, at = -1;
	char glyph[5];
	for (int x = 0; x < w; x++) {
		if (!is_picture(&row[x]))
			continue;
		if (at != x)
			str_addf(out, "\033[%d;%dH", y + 1, x + 1);
		if (row[x].fg != fg)
			add_colour(out, 38, fg = row[x].fg, direct);
		if (row[x].bg != bg)
			add_colour(out, 48, bg = row[x].bg, direct);
		str_addn(out, glyph, (size_t)text_encode(row[x].glyph, glyph));
		at = x + 1;
	}
	if (at >= 0)
		str_add(out, "\033[0m");
}

void overlay_text(struct str *out, const struct canvas *now, const struct canvas *before, bool all, bool direct)
{
	struct str lines = {0};
	// Whole lines: curses may write unchanged cells of a line anew where that is shorter than going past them.
	for (int y = 0; y < now->h; y++)
		if (all || canvas_row_differs(now, before, y))
			add_line(&lines, canvas_row(now, y), y, now->w, direct);
	if (lines.len)
		str_addf(out, "\0337%s\0338", str_text(&lines)); // cursor and attributes stay those that curses knows
	str_done(&lines);
}

void overlay_write(const struct str *text)
{
	const char *p = str_text(text);
	for (size_t left = text->len; left > 0;) {
		ssize_t n = write(STDOUT_FILENO, p, left);
		if (n < 0 && errno != EINTR)
			return; // the terminal is gone: the loop hears of it
		p += n > 0 ? n : 0;
		left -= n > 0 ? (size_t)n : 0;
	}
}
