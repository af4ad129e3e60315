#include "qtui/tui/view.h"

static int no_line(const struct ui *ui)
{
	(void)ui;
	return 0;
}

static int one_line(const struct ui *ui)
{
	(void)ui;
	return 1;
}

static int three_lines(const struct ui *ui)
{
	(void)ui;
	return 3;
}

static const struct view_row rows[VIEW_COUNT] = {
#define VIEW(id, name, title, brief, key, companions, context, head)                                                     \
	[VIEW_##id] = {#name, title, brief, key, companions, context, view_##name##_count, view_##name##_draw, view_##name##_text, head},
#include "qtui/tui/views.def"
#undef VIEW
};

const struct view_row *view_row(enum view v)
{
	return &rows[v];
}
