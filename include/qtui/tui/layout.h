// Where the panels go: a pure function of the terminal's size and of what is to be seen.
#ifndef QTUI_TUI_LAYOUT_H
#define QTUI_TUI_LAYOUT_H

#include "qtui/tui/canvas.h"

#define LAYOUT_MIN_W 40
#define LAYOUT_MIN_H 10
#define LAYOUT_WIDE 100 // columns from which the detail stands beside the list

enum panel { PANEL_MAIN, PANEL_DETAIL, PANEL_AROUND, PANEL_COUNT };
struct layout_want {
	bool companions;  // the view is about nodes: detail and neighbourhood belong beside it
	enum panel focus; // is always visible
	bool zoom;        // the focused panel alone
	bool trial;       // a scale is being tried: the detail, whose histogram shows it, has the room of the neighbourhood too
	int list;         // columns that the list of layers has a use for: what is beyond them is the detail's
};
struct panels {
	bool too_small;
	struct rect header, bottom;     // one line each
	struct rect panel[PANEL_COUNT]; // the first line of each is its title; w == 0: hidden
};
void layout_compute(struct panels *out, int w, int h, const struct layout_want *want);

#endif
