// The loop over the rows of a list: as many as there is room for, with its cursor.
#include "support.h"

#include "qtui/tui/rows.h"

enum { W = 4, H = 5 };

// Draws each row as its number.
static void draws(struct rect r, struct scroll s, int n, const char *want)
{
	struct canvas c;
	struct str text = {0};
	canvas_init(&c, W, H, NULL, false);
	for (struct rows at = rows_in(&c, r, s, n, true); rows_next(&at);)
		canvas_textf(&c, at.line.x + 1, at.line.y, at.line.w - 1, ROLE_TEXT, "%d", at.row);
	canvas_dump(&c, &text, false);
	assert_string_equal(str_text(&text), want);
	str_done(&text);
	canvas_done(&c);
}

void test_rows__as_many_as_there_is_room_for(void **state)
{
	draws((struct rect){0, 1, W, 3}, (struct scroll){.cursor = 0}, 9, "\n▸0\n 1\n 2\n\n");
	draws((struct rect){0, 0, W, H}, (struct scroll){.cursor = 1}, 2, " 0\n▸1\n\n\n\n");
	draws((struct rect){1, 0, W - 1, 2}, (struct scroll){.cursor = 8, .top = 7}, 9, "  7\n ▸8\n\n\n\n");
}

void test_rows__a_cursor_elsewhere_is_not_shown(void **state)
{
	draws((struct rect){0, 0, W, 2}, (struct scroll){.cursor = -1}, 2, " 0\n 1\n\n\n\n");
	draws((struct rect){0, 2, W, 2}, (struct scroll){.cursor = 3, .top = 4}, 9, "\n\n 4\n 5\n\n");
	draws((struct rect){0, 0, W, 2}, (struct scroll){.cursor = 2}, 3, " 0\n 1\n\n\n\n");
}

void test_rows__none_without_rows_or_room(void **state)
{
	draws((struct rect){0, 0, W, H}, (struct scroll){0, 0}, 0, "\n\n\n\n\n");
	draws((struct rect){0, 2, W, 0}, (struct scroll){0, 0}, 3, "\n\n\n\n\n");
	draws((struct rect){0, 2, W, -1}, (struct scroll){0, 0}, 3, "\n\n\n\n\n");
}
