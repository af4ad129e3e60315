// The colours of pictures, written past curses.
#ifndef QTUI_TUI_OVERLAY_H
#define QTUI_TUI_OVERLAY_H

#include "qtui/tui/canvas.h"

// What a terminal has to be sent for the picture cells of the lines that differ from `before` (or all):
// with 24-bit colours (direct), or with the 256. Appends nothing when no line differs.
void overlay_text(struct str *out, const struct canvas *now, const struct canvas *before, bool all, bool direct);
// To standard output, past curses.
void overlay_write(const struct str *text);

#endif
