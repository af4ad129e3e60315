// The frame around the views: top line, titles with tabs, bottom line.
#ifndef QTUI_TUI_DRAW_H
#define QTUI_TUI_DRAW_H

#include "qtui/tui/ui.h"

// The tab at column x of the main panel's title: a view, or -1.
int draw_tab_at(const struct ui *ui, int x);

void draw_bottom(struct canvas *c, const struct ui *ui, struct rect r);

#endif
