#include "qtui/tui/canvas.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "qtui/base/mem.h"

bool cell_equal(const struct cell *a, const struct cell *b)
{
	return a->glyph == b->glyph && a->role == b->role && a->ground == b->ground && a->fg == b->fg && a->bg == b->bg;
}

void canvas_init(struct canvas *c, int w, int h, const struct theme *theme, bool ascii)
{
	*c = (struct canvas){.theme = theme, .ascii = ascii};
	canvas_reset(c, w, h);
}

static void drop_image(struct canvas *c)
{
	if (c->image)
		free(c->image->rgb);
	free(c->image);
	c->image = NULL;
}

struct canvas_image *canvas_image_new(struct canvas *c, struct rect at, int w, int h)
{
	struct canvas_image *image = xcalloc(1, sizeof *image);
	drop_image(c);
	*image = (struct canvas_image){.at = at, .w = w, .h = h, .rgb = mem_try_array((size_t)w * (size_t)h, 3)};
	c->image = image;
	if (!image->rgb)
		drop_image(c);
	for (int y = at.y; c->image && y < at.y + at.h; y++)
		for (int x = at.x; x < at.x + at.w; x++)
			canvas_put(c, x, y, CANVAS_UNDER_IMAGE, ROLE_TEXT);
	return c->image;
}

void canvas_image_done(struct canvas_image *image)
{
	image->key = key_of(image->rgb, (size_t)image->w * (size_t)image->h * 3);
}

void canvas_done(struct canvas *c)
{
	drop_image(c);
	free(c->cell);
	c->cell = NULL;
}

void canvas_reset(struct canvas *c, int w, int h)
{
	size_t n = (size_t)w * (size_t)h;
	if (w != c->w || h != c->h || !c->cell)
		c->cell = xrealloc(c->cell, n * sizeof *c->cell);
	drop_image(c);
	c->w = w;
	c->h = h;
	c->clip = (struct rect){0, 0, w, h};
	c->cursor_x = c->cursor_y = -1;
	for (size_t i = 0; i < n; i++)
		c->cell[i] = (struct cell){' ', ROLE_TEXT, ROLE_TEXT, -1, -1};
}

static int int_max(int a, int b)
{
	return a > b ? a : b;
}

static int int_min(int a, int b)
{
	return a < b ? a : b;
}

struct rect canvas_clip(struct canvas *c, struct rect r)
{
	struct rect old = c->clip;
	int x = int_max(r.x, old.x), y = int_max(r.y, old.y);
	c->clip = (struct rect){
		x, y, int_max(0, int_min(r.x + r.w, old.x + old.w) - x), int_max(0, int_min(r.y + r.h, old.y + old.h) - y)};
	return old;
}

void canvas_unclip(struct canvas *c, struct rect old)
{
	c->clip = old;
}

bool canvas_holds(const struct rect *r, int x, int y)
{
	return x >= r->x && x < r->x + r->w && y >= r->y && y < r->y + r->h;
}

// What the theme, or a terminal without UTF-8, shows in place of a glyph.
static uint32_t shown_glyph(const struct canvas *c, uint32_t g)
{
	int row;
	if (g < 0x80)
		return g;
	row = glyph_find(g);
	if (row >= 0 && c->theme)
		return c->theme->glyph[c->ascii][row];
	return c->ascii ? '?' : g;
}

const struct cell *canvas_row(const struct canvas *c, int y)
{
	return c->cell + (size_t)y * (size_t)c->w;
}

bool canvas_row_differs(const struct canvas *a, const struct canvas *b, int y)
{
	const struct cell *p = canvas_row(a, y), *q = canvas_row(b, y);
	for (int x = 0; x < a->w; x++)
		if (!cell_equal(&p[x], &q[x]))
			return true;
	return false;
}

static struct cell *cell_at(struct canvas *c, int x, int y)
{
	return &c->cell[(size_t)y * (size_t)c->w + (size_t)x];
}

bool canvas_blank(const struct canvas *c, struct rect r)
{
	for (int y = r.y; y < r.y + r.h; y++)
		for (int x = r.x; x < r.x + r.w; x++)
			if (canvas_holds(&c->clip, x, y) && canvas_row(c, y)[x].glyph != ' ')
				return false;
	return true;
}

void canvas_put(struct canvas *c, int x, int y, uint32_t glyph, enum role role)
{
	int width = text_glyph_width(glyph);
	struct cell *cell;
	if (!width || !canvas_holds(&c->clip, x, y))
		return;
	glyph = shown_glyph(c, glyph);
	if (width == 2 && (c->ascii || !canvas_holds(&c->clip, x + 1, y)))
		width = 1, glyph = '?';
	cell = cell_at(c, x, y);
	cell[0].glyph = glyph;
	cell[0].role = (unsigned char)role;
	cell[0].fg = cell[0].bg = -1;
	if (width == 2)
		cell[1] = (struct cell){0, cell[0].role, cell[0].ground, -1, -1};
}

void canvas_pixels(struct canvas *c, int x, int y, uint32_t glyph, int fg, int bg)
{
	if (canvas_holds(&c->clip, x, y))
		*cell_at(c, x, y) = (struct cell){shown_glyph(c, glyph), ROLE_TEXT, ROLE_TEXT, fg, bg};
}

int canvas_text(struct canvas *c, int x, int y, int width, enum role role, const char *text)
{
	return canvas_cut(c, x, y, width, role, CUT_RIGHT, text);
}

// Without UTF-8 an arrow or a plus-minus takes the blank before it too:
// one character in its place would mean something else. Not where a theme has another one.
static void put_pair(struct canvas *c, int x, int y, uint32_t glyph, enum role role)
{
	static const struct {
		uint32_t glyph, alone;
		const char *pair;
	} pairs[] = {{0x2192, '>', "->"}, {0xB1, '~', "+-"}};
	for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
		for (int k = 0; glyph == pairs[i].glyph && shown_glyph(c, glyph) == pairs[i].alone && k < 2; k++)
			canvas_put(c, x - 1 + k, y, (uint32_t)pairs[i].pair[k], role);
}

int canvas_cut(struct canvas *c, int x, int y, int width, enum role role, enum cut cut, const char *text)
{
	char cut_text[2048];
	const char *p = cut_text;
	int x0 = x;
	text_cut(cut_text, sizeof cut_text, text, width, cut);
	for (uint32_t g, before = 0; (g = text_next(&p)); before = g) {
		canvas_put(c, x, y, g, role);
		if (c->ascii && before == ' ')
			put_pair(c, x, y, g, role);
		x += text_glyph_width(g);
	}
	return x - x0;
}

int canvas_right(struct canvas *c, int x, int y, int width, enum role role, const char *text)
{
	int used = int_min(text_width(text), width);
	canvas_text(c, x + width - used, y, used, role, text);
	return used;
}

int canvas_textf(struct canvas *c, int x, int y, int width, enum role role, const char *fmt, ...)
{
	char text[1024];
	va_list ap;
	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	return canvas_text(c, x, y, width, role, text);
}

int canvas_paragraph(struct canvas *c, struct rect r, enum role role, const char *text)
{
	int lines = 0;
	for (; lines < r.h && r.w > 0 && *text; lines++) {
		int n = lines == r.h - 1 ? (int)strlen(text) : text_line(text, r.w);
		canvas_textf(c, r.x, r.y + lines, r.w, role, "%.*s", n, text);
		text += n > 0 ? n : 1;
		text += *text == ' ';
	}
	return lines;
}

void canvas_line(struct canvas *c, int x, int y, int w, enum role role)
{
	for (int i = 0; i < w; i++)
		canvas_put(c, x + i, y, U'─', role);
}

void canvas_stroke(struct canvas *c, int x, int y, int h, enum role role)
{
	for (int i = 0; i < h; i++)
		canvas_put(c, x, y + i, U'│', role);
}

void canvas_clear(struct canvas *c, struct rect r, enum role ground)
{
	for (int y = 0; y < r.h; y++)
		for (int x = 0; x < r.w; x++)
			canvas_put(c, r.x + x, r.y + y, ' ', ROLE_TEXT);
	canvas_ground(c, r, ground);
}

void canvas_ground(struct canvas *c, struct rect r, enum role ground)
{
	struct rect old = canvas_clip(c, r);
	for (int y = c->clip.y; y < c->clip.y + c->clip.h; y++)
		for (int x = c->clip.x; x < c->clip.x + c->clip.w; x++)
			cell_at(c, x, y)->ground = (unsigned char)ground;
	canvas_unclip(c, old);
}

static void dump_row(const struct cell *row, int w, struct str *out)
{
	char glyph[5];
	while (w > 0 && row[w - 1].glyph == ' ')
		w--;
	for (int x = 0; x < w; x++)
		if (row[x].glyph)
			str_addn(out, glyph, (size_t)text_encode(row[x].glyph, glyph));
	str_add(out, "\n");
}

// Roles as letters: 'a' is the first row of roles.def; a ground other than the text's wins,
// since it is what the eye sees.
static char role_letter(const struct cell *c)
{
	int r = c->ground != ROLE_TEXT ? c->ground : c->role;
	if (r == ROLE_TEXT)
		return c->glyph == ' ' ? ' ' : '.';
	return (char)(r <= 26 ? 'a' + r - 1 : 'A' + r - 27);
}

static void dump_legend(const bool *used, struct str *out)
{
	for (int r = 1; r < ROLE_COUNT; r++) {
		struct cell c = {'x', (unsigned char)r, ROLE_TEXT, -1, -1};
		if (used[r])
			str_addf(out, "%c %s\n", role_letter(&c), role_name((enum role)r));
	}
}

static void dump_roles(const struct canvas *c, struct str *out)
{
	bool used[ROLE_COUNT] = {false};
	for (int y = 0; y < c->h; y++) {
		const struct cell *row = canvas_row(c, y);
		int w = c->w;
		while (w > 0 && role_letter(&row[w - 1]) == ' ')
			w--;
		for (int x = 0; x < w; x++) {
			char letter = role_letter(&row[x]);
			str_addn(out, &letter, 1);
			used[row[x].ground != ROLE_TEXT ? row[x].ground : row[x].role] = true;
		}
		str_add(out, "\n");
	}
	str_add(out, "--\n");
	dump_legend(used, out);
}

void canvas_dump(const struct canvas *c, struct str *out, bool roles)
{
	for (int y = 0; y < c->h; y++)
		dump_row(canvas_row(c, y), c->w, out);
	if (!roles)
		return;
	str_add(out, "--\n");
	dump_roles(c, out);
}
