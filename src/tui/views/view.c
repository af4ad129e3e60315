#include "qtui/tui/view.h"

static const struct view_row rows[VIEW_COUNT] = {
#define VIEW(id, name, title, key, tab, companions, head)                                                              \
	[VIEW_##id] = {#name, title, key, tab, companions, view_##name##_count, view_##name##_draw, view_##name##_text, head},
#include "qtui/tui/views.def"
#undef VIEW
};

const struct view_row *view_row(enum view v)
{
	return &rows[v];
}
