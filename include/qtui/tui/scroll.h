// A cursor in a list that is longer than its window.
#ifndef QTUI_TUI_SCROLL_H
#define QTUI_TUI_SCROLL_H

struct scroll {
	int cursor, top;
};
void scroll_move(struct scroll *s, int by, int n);
// Keeps the cursor among n rows and inside a window of `page` rows.
void scroll_fit(struct scroll *s, int n, int page);

#endif
