// The rows of a list that its place on the screen has room for, one after the other:
//     for (struct rows at = rows_of_view(c, ui, r); rows_next(&at);)
//             draw_row(c, at.line, at.row);
#ifndef QTUI_TUI_ROWS_H
#define QTUI_TUI_ROWS_H

#include "qtui/tui/ui.h"

struct rows {
	struct canvas *canvas;
	struct scroll scroll;
	bool focused;     // the cursor is drawn as that of the panel that has the keys
	int end;          // behind the last row that is shown
	int row;          // the one to draw
	int y, h;         // the first line of a column of rows, and how many it has
	struct rect line; // where: one line high
};
// All n rows of a list that is scrolled so, in `r`; a cursor below 0 is not shown.
struct rows rows_in(struct canvas *c, struct rect r, struct scroll s, int n, bool focused);
// Those of the main panel's view, below its heading, in as many columns as it has; the panel may be wider than `r`.
struct rows rows_of_view(struct canvas *c, const struct ui *ui, struct rect r);
// False: there is none left. Puts the cursor on the row before, which has been drawn by now.
bool rows_next(struct rows *at);

#endif
