// The log. Its rows are lines of text, broken at the width: what went wrong,
// and what a repair has bought, is read to its end.
#include <stdio.h>

#include "qtui/tui/draw.h"
#include "qtui/tui/rows.h"
#include "qtui/tui/ui.h"

int view_log_count(const struct ui *ui)
{
	return ui->log.n;
}

void view_log_text(char *out, size_t size, const struct ui *ui, int row)
{
	snprintf(out, size, "%s", row >= 0 && row < ui->log.n ? ui->log.text + ui->log.row[row].text : "");
}

void view_log_draw(struct canvas *c, const struct ui *ui, struct rect r)
{
	static const enum role role[] = {ROLE_TEXT, ROLE_SNR_WEAK, ROLE_ERROR};
	static const char *const mark[] = {" ", "!", "E"};
	const struct log_rows *l = &ui->log;
	if (!l->n)
		canvas_text(c, r.x + LOG_ROWS_MARK, r.y, r.w - LOG_ROWS_MARK - 1, ROLE_DIM, "Nothing has been said yet.");
	int i = ui_cursor(ui)->top;
	for (struct rows at = rows_of_view(c, ui, r); rows_next(&at) && i < l->n; i++) {
		const struct log_row *row = &l->row[i];
		if (row->first)
			canvas_text(c, r.x + 1, at.line.y, 1, role[row->level], mark[row->level]);
		draw_found(c, ui, r.x + LOG_ROWS_MARK, at.line.y, r.w - LOG_ROWS_MARK - 1, role[row->level], CUT_RIGHT, l->text + row->text);
	}
}
