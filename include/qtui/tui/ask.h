// Asking the terminal whether it takes pictures. Nothing waits for its answers.
#ifndef QTUI_TUI_ASK_H
#define QTUI_TUI_ASK_H

#include "qtui/tui/reply.h"

struct ask {
	bool begun, again;   // the first question was sent; the second too
	double at;           // when the latest was, by clock_seconds
	struct reply reply;  // what has been answered
};
// Asks, unless the terminal ($TERM) is one that would show the question.
void ask_begin(struct ask *a);
// After characters were fed to a->reply: sends the second question where the answer
// to the first lets hope for pictures.
void ask_go_on(struct ask *a);
bool ask_waits(const struct ask *a);          // an answer may still be on its way
enum pictures ask_pictures(const struct ask *a);
void ask_cell(const struct ask *a, int *w, int *h); // the size of a cell in pixels, where pictures are in pixels; else 0

#endif
