// The terminal: puts a canvas onto it (only what differs is sent), reads keys, and gives it back as it was.
#ifndef QTUI_TUI_SCREEN_H
#define QTUI_TUI_SCREEN_H

#include "qtui/tui/canvas.h"

struct screen;
// As terminals number them; the wheel is two.
enum { MOUSE_NONE = 0, MOUSE_LEFT = 1, MOUSE_WHEEL_UP = 4, MOUSE_WHEEL_DOWN = 5 };
struct screen_key {
	int key;          // K_NONE: none is waiting
	int x, y, button; // of K_MOUSE: MOUSE_*
	bool pasted;      // part of a text that the terminal pastes
};
// The one terminal of the process, standard input and output; mono: no colours;
// mouse: clicks and the wheel become keys.
MUST_CHECK enum status screen_open(struct screen **out, bool mono, bool mouse, struct error *err);
void screen_close(struct screen **s);
void screen_size(int *w, int *h); // of the terminal now
bool screen_shows_pictures(const struct screen *s); // it has the colours
// In pixels: the size of a cell, as soon as the terminal has answered that it can; else 0.
void screen_cell(const struct screen *s, int *w, int *h);
// The line has not taken the last frames yet: new figures can wait.
bool screen_is_behind(void);
void screen_show(struct screen *s, const struct canvas *c); // of the terminal's size
struct screen_key screen_read(struct screen *s);
// The next screen_show sends everything; after a theme, a resize, a suspension.
void screen_forget(struct screen *s);
// Stops the process as Ctrl-Z does elsewhere; returns when it goes on.
void screen_suspend(struct screen *s);

#endif
