// What is typed, told apart from what the terminal answers (one of the two places that
// know curses; the other is screen.c).
#ifndef QTUI_TUI_KEYBOARD_H
#define QTUI_TUI_KEYBOARD_H

#include "qtui/tui/ask.h"
#include "qtui/tui/screen.h"

struct keyboard {
	struct ask ask;
	int held; // a character that was read behind an Escape; 0: none
	bool pasting;
	double pasted_at; // when its last character was read
};
// The marks that the terminal sends around pasted text become keys of ours. Once, when curses has the terminal.
void keyboard_begin(struct keyboard *k);
// The next key that means something; K_NONE when none is waiting. Answers go to k->ask.
struct screen_key keyboard_read(struct keyboard *k);

#endif
