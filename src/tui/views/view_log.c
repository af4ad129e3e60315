// The log. Its rows are lines of text, broken at the width: what went wrong,
// and what a repair has bought, is read to its end.
#include <stdio.h>

#include "qtui/base/log.h"
#include "qtui/tui/draw.h"
#include "qtui/tui/rows.h"
#include "qtui/tui/text.h"
#include "qtui/tui/ui.h"

enum { TEXT = 3, LINE = 1024 };

// A walk over the lines of the screen, each a piece of one of the log.
struct walk {
	int next;          // line of the log
	char line[LINE];   // the one under way
	const char *rest;  // what is left of it
	int level, length; // of the piece
	const char *piece;
	bool first;        // of its line
};

static int text_room(const struct ui *ui)
{
	int room = ui->layout.panel[PANEL_MAIN].w - TEXT - 1;
	return room > 8 ? room : 8;
}

static bool walk_on(struct walk *w, int room)
{
	w->first = !w->rest || !*w->rest;
	if (w->first) {
		if (w->next >= log_count())
			return false;
		w->level = log_line(w->next++, w->line, sizeof w->line);
		w->rest = w->level < 0 ? "" : w->line;
	}
	w->piece = w->rest;
	w->length = text_line(w->rest, room);
	w->rest += w->length;
	w->rest += *w->rest == ' ';
	return true;
}

int view_log_count(const struct ui *ui)
{
	struct walk w = {0};
	int n = 0;
	while (walk_on(&w, text_room(ui)))
		n++;
	return n;
}

void view_log_text(char *out, size_t size, const struct ui *ui, int row)
{
	struct walk w = {0};
	bool there = row >= 0;
	for (int i = 0; i <= row && there; i++)
		there = walk_on(&w, text_room(ui));
	snprintf(out, size, "%.*s", there ? w.length : 0, there ? w.piece : "");
}

void view_log_draw(struct canvas *c, const struct ui *ui, struct rect r)
{
	static const enum role role[] = {ROLE_TEXT, ROLE_SNR_WEAK, ROLE_ERROR};
	static const char *const mark[] = {" ", "!", "E"};
	int room = text_room(ui), top = ui_cursor(ui)->top;
	struct walk w = {0};
	char text[LINE];
	if (!log_count())
		canvas_text(c, r.x + TEXT, r.y, r.w - TEXT - 1, ROLE_DIM, "Nothing has been said yet.");
	for (int i = 0; i < top; i++)
		walk_on(&w, room);
	for (struct rows at = rows_of_view(c, ui, r); rows_next(&at) && walk_on(&w, room);) {
		if (w.level < 0)
			continue;
		if (w.first)
			canvas_text(c, r.x + 1, at.line.y, 1, role[w.level], mark[w.level]);
		snprintf(text, sizeof text, "%.*s", w.length, w.piece);
		draw_found(c, ui, r.x + TEXT, at.line.y, r.w - TEXT - 1, role[w.level], CUT_RIGHT, text);
	}
}
