// The screen. tui_run owns the terminal until it returns and always gives it back as it was.
#ifndef QTUI_TUI_TUI_H
#define QTUI_TUI_TUI_H

#include "qtui/analysis/session.h"

// What it is given stays the caller's and lives until tui_run returns.
struct tui_options {
	struct study *study;
	struct session *session;   // that was opened, or NULL
	const char *session_path;  // where :write goes without an argument; NULL: beside the model
	const char *script;        // keys and commands through the same input path as the keyboard; NULL: none
	const char *theme;         // name or file; NULL: default
	bool ascii, mono;          // forced; else found from locale, TERM, NO_COLOR
	bool mouse;
};
// Exit code: 0 quit, 1 a script failed (its first failing line is in err), 130 ended by a signal while a script ran without
// a terminal; on one, 128 + the signal.
int tui_run(const struct tui_options *opt, struct error *err);

#endif
