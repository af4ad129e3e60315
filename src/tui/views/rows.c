#include "qtui/tui/rows.h"

static struct rows rows_in_columns(struct canvas *c, struct rect r, int columns, struct scroll s, int n, bool focused)
{
	int page = columns * r.h;
	return (struct rows){.canvas = c,
	    .scroll = s,
	    .focused = focused,
	    .end = n - s.top < page ? n : s.top + page,
	    .row = s.top - 1,
	    .y = r.y,
	    .h = r.h,
	    .line = {r.x, r.y - 1, r.w / columns, 1}};
}

struct rows rows_in(struct canvas *c, struct rect r, struct scroll s, int n, bool focused)
{
	return rows_in_columns(c, r, 1, s, n, focused);
}

struct rows rows_of_view(struct canvas *c, const struct ui *ui, struct rect r)
{
	int columns = ui_columns(ui);
	struct rect rows = {r.x, ui->layout.panel[PANEL_MAIN].y + 1 + ui_head(ui), r.w, ui_page(ui, PANEL_MAIN) / columns};
	return rows_in_columns(c, rows, columns, *ui_cursor(ui), view_row(ui->view)->count(ui), ui->focus == PANEL_MAIN);
}

// Over what is there: a row may begin in the column of the cursor's glyph.
static void draw_cursor(const struct rows *at)
{
	canvas_ground(at->canvas, at->line, at->focused ? ROLE_CURSOR : ROLE_CURSOR_IDLE);
	canvas_text(at->canvas, at->line.x, at->line.y, 1, at->focused ? ROLE_STRONG : ROLE_DIM, "▸");
}

bool rows_next(struct rows *at)
{
	if (at->row == at->scroll.cursor && at->row >= at->scroll.top)
		draw_cursor(at);
	at->row++;
	at->line.y++;
	if (at->line.y == at->y + at->h) {
		at->line.y = at->y;
		at->line.x += at->line.w;
	}
	return at->row < at->end;
}
