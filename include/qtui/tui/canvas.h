// A canvas: the whole screen as cells of a glyph, a role and a ground, drawn by the views and then
// put onto the terminal by screen.c or written to a file. Whoever declares one calls canvas_done.
// Coordinates outside of the clip are ignored, so that views may draw rows that are scrolled out.
#ifndef QTUI_TUI_CANVAS_H
#define QTUI_TUI_CANVAS_H

#include "qtui/base/error.h"
#include "qtui/base/hash.h"
#include "qtui/base/str.h"
#include "qtui/tui/text.h"
#include "qtui/tui/theme.h"

struct rect {
	int x, y, w, h;
};
struct cell {
	uint32_t glyph;       // 0: the right half of a wide glyph
	unsigned char role;   // foreground
	unsigned char ground; // the role that lends its background: ROLE_TEXT, ROLE_CURSOR ...
	int fg, bg;           // 0xrrggbb of a picture's cell; -1: what the roles say
};
bool cell_equal(const struct cell *a, const struct cell *b);
// A picture in pixels over some cells, which are blanks of a kind that curses does not clear away.
// Cells with colours of their own lie over it.
enum { CANVAS_UNDER_IMAGE = 0xA0 }; // the glyph of these cells
struct canvas_image {
	struct rect at;
	int w, h;
	uint8_t *rgb;
	struct key key; // of the pixels; set by canvas_image_done
};
struct canvas {
	int w, h;
	struct rect clip;
	bool ascii;
	const struct theme *theme; // replaces glyphs; borrowed
	int cursor_x, cursor_y;    // of the terminal; -1: hidden
	struct cell *cell;         // [h * w]
	struct canvas_image *image; // at most one; NULL: none
};
void canvas_init(struct canvas *c, int w, int h, const struct theme *theme, bool ascii);
void canvas_done(struct canvas *c);
const struct cell *canvas_row(const struct canvas *c, int y);
// Of two canvases of one size.
bool canvas_row_differs(const struct canvas *a, const struct canvas *b, int y);
// Empties and, if needed, resizes.
void canvas_reset(struct canvas *c, int w, int h);
// Narrows the clip to its part inside `r`; returns what it was, to be put back by canvas_unclip.
struct rect canvas_clip(struct canvas *c, struct rect r);
void canvas_unclip(struct canvas *c, struct rect old);

void canvas_pixels(struct canvas *c, int x, int y, uint32_t glyph, int fg, int bg); // of a picture
void canvas_put(struct canvas *c, int x, int y, uint32_t glyph, enum role role);
// At most `width` columns, shortened at the right; returns the columns used.
int canvas_text(struct canvas *c, int x, int y, int width, enum role role, const char *text);
int canvas_cut(struct canvas *c, int x, int y, int width, enum role role, enum cut cut, const char *text);
int canvas_right(struct canvas *c, int x, int y, int width, enum role role, const char *text); // right-aligned in the width
int canvas_textf(struct canvas *c, int x, int y, int width, enum role role, const char *fmt, ...) PRINTF(6, 7);
// Broken at blanks; the last line takes what is left. Returns the lines used, at most r.h.
int canvas_paragraph(struct canvas *c, struct rect r, enum role role, const char *text);
void canvas_line(struct canvas *c, int x, int y, int w, enum role role);  // horizontal
void canvas_stroke(struct canvas *c, int x, int y, int h, enum role role); // vertical
// A black image of w x h pixels over the cells of `at`, in place of another; NULL: there is no memory for it.
// canvas_image_done when it is drawn.
struct canvas_image *canvas_image_new(struct canvas *c, struct rect at, int w, int h);
void canvas_image_done(struct canvas_image *image);
bool canvas_blank(const struct canvas *c, struct rect r); // nothing is drawn there
void canvas_clear(struct canvas *c, struct rect r, enum role ground); // blanks on that ground
void canvas_ground(struct canvas *c, struct rect r, enum role ground);
bool canvas_holds(const struct rect *r, int x, int y);

// The canvas as text, trailing blanks cut; `roles` appends a second grid with a letter a role, and its legend.
void canvas_dump(const struct canvas *c, struct str *out, bool roles);

#endif
