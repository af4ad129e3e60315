#include "qtui/base/log.h"
#include "qtui/tui/ui.h"

int view_log_count(const struct ui *ui)
{
	(void)ui;
	return log_count();
}

void view_log_text(char *out, size_t size, const struct ui *ui, int row)
{
	(void)ui;
	if (!log_line(row, out, (int)size))
		out[0] = '\0';
}

void view_log_draw(struct canvas *c, const struct ui *ui, struct rect r)
{
	static const enum role role[] = {ROLE_TEXT, ROLE_SNR_WEAK, ROLE_ERROR};
	static const char *const mark[] = {" ", "!", "E"};
	const struct scroll *s = ui_cursor(ui);
	char line[1024];

	for (int i = 0; i < r.h && s->top + i < log_count(); i++) {
		int level = log_line(s->top + i, line, sizeof line) - 1;
		if (level < 0)
			continue;
		canvas_text(c, r.x + 1, r.y + i, 1, role[level], mark[level]);
		draw_found(c, ui, r.x + 3, r.y + i, r.w - 4, role[level], CUT_RIGHT, line);
	}
	if (log_count())
		draw_cursor(c, (struct rect){r.x, r.y + s->cursor - s->top, r.w, 1}, true);
	else
		canvas_text(c, r.x + 3, r.y, r.w - 4, ROLE_DIM, "Nothing has been said yet.");
}
