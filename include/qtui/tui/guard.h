// Signals: those that ask for something become bytes in a pipe that the loop polls;
// those of a crash give the terminal back first.
#ifndef QTUI_TUI_GUARD_H
#define QTUI_TUI_GUARD_H

#include "qtui/base/error.h"

MUST_CHECK enum status guard_open(struct error *err);
void guard_close(void);
int guard_fd(void);
// The next signal that came (SIGWINCH, SIGTERM, SIGHUP, SIGINT, SIGTSTP, SIGCONT); 0: none is waiting.
int guard_signal(void);
// What a crash, or the end for want of memory, writes to the terminal to leave the screen,
// and what it adds to the line that it then tells the user. Both are copied; NULL: stays as it is.
void guard_crash(const char *reset, const char *message);

#endif
