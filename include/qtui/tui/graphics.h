// Pictures in pixels, for terminals that take them: as Kitty's, iTerm2's or Sixel graphics,
// written past curses where the canvas has an image; its cells are blanks that curses leaves alone.
#ifndef QTUI_TUI_GRAPHICS_H
#define QTUI_TUI_GRAPHICS_H

#include "qtui/base/hash.h"
#include "qtui/tui/canvas.h"
#include "qtui/tui/reply.h"

struct graphics {
	enum pictures how;
	bool shown;      // an image is on the screen
	struct rect at;  // in cells
	struct key key;  // of its pixels
};
// What the terminal is sent so that it shows the image of `now`, or none; `all`: nothing of before is there any more.
// True when an image was written, so that text over it has to be written anew.
bool graphics_text(struct str *out, struct graphics *g, const struct canvas *now, const struct canvas *before, bool all);
// What takes the image away when the screen is left.
void graphics_end(struct str *out, struct graphics *g);

// Both append rgb[h * w * 3] as the text that a terminal takes. png_base64: *bytes is the size
// of the PNG before it is in base64; false: there was no memory for it.
void sixel_encode(struct str *out, const uint8_t *rgb, int w, int h);
bool png_base64(struct str *out, const uint8_t *rgb, int w, int h, size_t *bytes);

#endif
