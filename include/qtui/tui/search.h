// Searching the rows of the view: a regular expression, or plain text where it is none. Lower case finds both cases.
#ifndef QTUI_TUI_SEARCH_H
#define QTUI_TUI_SEARCH_H

#include "qtui/tui/ui.h"

// "" ends the search.
void search_set(struct ui *ui, const char *text);
// The next row from `from` (which is tried first) in steps of `by` (+1, -1), going round; -1 when nothing is found.
int search_row(const struct ui *ui, int from, int by);
// Where the text matches, in bytes: text[*start..*end); false when it does not.
bool search_match(const struct ui *ui, const char *text, int *start, int *end);

#endif
