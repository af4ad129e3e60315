// The help view's rows, made from the tables of keys, commands, columns and views.
#ifndef QTUI_TUI_HELP_H
#define QTUI_TUI_HELP_H

#include "qtui/tui/view.h"

enum help_kind { HELP_SECTION, HELP_ROW, HELP_LONG_ROW, HELP_TEXT, HELP_BLANK }; // long: the left side is a command's usage
struct help_row {
	enum help_kind kind;
	char key[64], text[160];
};
int help_count(void);
const struct help_row *help_at(int i);
// The row of the command that is named so, else of such a key or column, else the section,
// else the first that speaks of it; -1: none does.
int help_find(const char *topic);
int help_of_view(enum view v); // the row where its section begins; 0: it has none
int help_columns(int width); // of rows that stand side by side in so many columns of the screen
void help_open(struct ui *ui, int row); // shows the help from this row on

#endif
