// The rows of the log view: the lines of the log, broken at the width. Owned by the ui.
#ifndef QTUI_TUI_LOG_ROWS_H
#define QTUI_TUI_LOG_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include "qtui/base/log.h"

enum { LOG_ROWS_MARK = 3 }; // columns before the text, which is broken one before the panel's end

struct log_row {
	enum log_level level;
	bool first;          // of its line
	size_t text;         // where it begins in `text` below, its NUL behind it
};
struct log_rows {
	unsigned additions;  // to the log, and the panel's width, that the rows are of
	int width;
	struct log_row *row;
	int n;
	size_t rows_cap;
	char *text;
	size_t used, text_cap;
};
// Breaks the lines anew where there are others or the panel has another width (columns); else it costs nothing. A row is
// read by its number then: a search asks for every one.
void log_rows_refresh(struct log_rows *l, int width);
void log_rows_done(struct log_rows *l);

#endif
