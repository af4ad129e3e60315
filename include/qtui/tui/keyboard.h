// What is typed, told apart from what the terminal answers (one of the two places that know curses; the other is screen.c).
#ifndef QTUI_TUI_KEYBOARD_H
#define QTUI_TUI_KEYBOARD_H

#include "qtui/tui/ask.h"
#include "qtui/tui/screen.h"

struct keyboard {
	struct ask ask;
	int held; // a character that was read behind an Escape; 0: none
};
// The next key that means something; K_NONE when none is waiting. Answers go to k->ask.
struct screen_key keyboard_read(struct keyboard *k);

#endif
