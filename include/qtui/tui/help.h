// The help view's rows, made from the tables of keys, commands, columns and roles.
#ifndef QTUI_TUI_HELP_H
#define QTUI_TUI_HELP_H

enum help_kind { HELP_SECTION, HELP_ROW, HELP_LONG_ROW, HELP_TEXT, HELP_BLANK }; // long: the left side is a command's usage
struct help_row {
	enum help_kind kind;
	char key[64], text[160];
};
int help_count(void);
const struct help_row *help_at(int i);
// The row of the command that is named so, else of such a key or column, else the section, else the first that speaks of it; -1: none does.
int help_find(const char *topic);
struct ui;
// The line of the view that the row begins with: its texts are broken at the width.
int help_line(const struct ui *ui, int row);

#endif
