#include <stdio.h>

#include "qtui/tui/help.h"
#include "qtui/tui/rows.h"
#include "qtui/tui/ui.h"

int view_help_count(const struct ui *ui)
{
	(void)ui;
	return help_count();
}

void view_help_text(char *out, size_t size, const struct ui *ui, int row)
{
	(void)ui;
	snprintf(out, size, "%s %s", help_at(row)->key, help_at(row)->text);
}

enum { SHORT = 26, LONG = 43 }; // columns of the left side

static void draw_row(struct canvas *c, const struct ui *ui, struct rect r, const struct help_row *row)
{
	int keys = row->kind == HELP_LONG_ROW ? LONG : SHORT;

	if (keys > r.w * 9 / 20)
		keys = r.w * 9 / 20;

	switch (row->kind) {
	case HELP_SECTION:
		canvas_text(c, r.x + 1, r.y, r.w - 2, ROLE_HEAD_SORT, row->text);
		break;
	case HELP_ROW:
	case HELP_LONG_ROW:
		canvas_text(c, r.x + 3, r.y, keys - 4, ROLE_KEY, row->key);
		draw_found(c, ui, r.x + keys, r.y, r.w - keys - 1, ROLE_TEXT, CUT_RIGHT, row->text);
		break;
	case HELP_TEXT:
		draw_found(c, ui, r.x + 3, r.y, r.w - 4, ROLE_DIM, CUT_RIGHT, row->text);
		break;
	case HELP_BLANK:
		break;
	}
}

void view_help_draw(struct canvas *c, const struct ui *ui, struct rect r)
{
	for (struct rows at = rows_of_view(c, ui, r); rows_next(&at);)
		draw_row(c, ui, at.line, help_at(at.row));
}
