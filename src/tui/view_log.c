// The log. Its rows are lines of text, broken at the width: what went wrong, and what a repair has bought, is read to its end.
#include <stdio.h>

#include "qtui/base/log.h"
#include "qtui/tui/text.h"
#include "qtui/tui/ui.h"

enum { TEXT = 3, LINE = 1024 };

// A line of the screen: a piece of one of the log.
struct row {
	int level;     // -1: there is no such line
	bool first;    // of its line
	char text[LINE];
};

static int text_room(const struct ui *ui)
{
	int room = ui->layout.panel[PANEL_MAIN].w - TEXT - 1;

	return room > 8 ? room : 8;
}

// The row'th line of the screen in *out; returns how many there are up to it, or in all with row < 0.
static int find_row(struct row *out, const struct ui *ui, int row)
{
	char line[LINE];
	int n = 0;

	out->level = -1;
	for (int i = 0; i < log_count(); i++) {
		int level = log_line(i, line, sizeof line) - 1;
		const char *text = level < 0 ? "" : line;
		for (bool first = true; first || *text; first = false) {
			int length = text_line(text, text_room(ui));
			if (n++ == row) {
				out->level = level;
				out->first = first;
				snprintf(out->text, sizeof out->text, "%.*s", length, text);
				return n;
			}
			text += length;
			text += *text == ' ';
		}
	}
	return n;
}

int view_log_count(const struct ui *ui)
{
	struct row row;

	return find_row(&row, ui, -1);
}

void view_log_text(char *out, size_t size, const struct ui *ui, int at)
{
	struct row row = {.level = -1};

	find_row(&row, ui, at);
	snprintf(out, size, "%s", row.level < 0 ? "" : row.text);
}

void view_log_draw(struct canvas *c, const struct ui *ui, struct rect r)
{
	static const enum role role[] = {ROLE_TEXT, ROLE_SNR_WEAK, ROLE_ERROR};
	static const char *const mark[] = {" ", "!", "E"};
	const struct scroll *s = ui_cursor(ui);

	for (int i = 0; i < r.h; i++) {
		struct row row;
		find_row(&row, ui, s->top + i);
		if (row.level < 0)
			continue;
		if (row.first)
			canvas_text(c, r.x + 1, r.y + i, 1, role[row.level], mark[row.level]);
		draw_found(c, ui, r.x + TEXT, r.y + i, r.w - TEXT - 1, role[row.level], CUT_RIGHT, row.text);
	}
	if (log_count())
		draw_cursor(c, (struct rect){r.x, r.y + s->cursor - s->top, r.w, 1}, true);
	else
		canvas_text(c, r.x + TEXT, r.y, r.w - TEXT - 1, ROLE_DIM, "Nothing has been said yet.");
}
