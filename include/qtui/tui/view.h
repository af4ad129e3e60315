// Views: what the main panel can show, and the two panels beside it.
// Drawing is a pure function of the ui, which it must not change.
#ifndef QTUI_TUI_VIEW_H
#define QTUI_TUI_VIEW_H

#include "qtui/tui/canvas.h"
#include "qtui/tui/keys.h"

struct ui;
enum view {
#define VIEW(id, ...) VIEW_##id,
#include "qtui/tui/views.def"
#undef VIEW
	VIEW_COUNT
};
struct view_row {
	const char *name, *title;
	const char *brief;                                                          // "": it has no tab
	const char *key;                                                            // "": only commands lead to it
	bool companions;
	enum context context;                                                       // of its own keys; CTX_ANY: it has none
	int (*count)(const struct ui *ui);                                          // rows that the cursor can stand on
	void (*draw)(struct canvas *c, const struct ui *ui, struct rect r);         // the panel without its title
	void (*text)(char *out, size_t size, const struct ui *ui, int row);         // of a row: what a search looks at
	int (*head)(const struct ui *ui);                                           // lines above the first row
};
const struct view_row *view_row(enum view v);

// view_NAME_count, view_NAME_draw and view_NAME_text of every view, each in src/tui/views/view_NAME.c.
#define VIEW(id, name, ...)                                                                                            \
	int view_##name##_count(const struct ui *ui);                                                                         \
	void view_##name##_draw(struct canvas *c, const struct ui *ui, struct rect r);                                        \
	void view_##name##_text(char *out, size_t size, const struct ui *ui, int row);
#include "qtui/tui/views.def"
#undef VIEW

int view_task_head(const struct ui *ui);
int view_blame_head(const struct ui *ui);
int view_findings_head(const struct ui *ui);
int view_channels_head(const struct ui *ui);
int view_diff_head(const struct ui *ui);
int view_runs_at(const struct ui *ui); // the number of the run under the cursor; 0: none
bool view_blame_ranks(const struct ui *ui); // the ranking is shown, not the steps of a repair or nothing yet
void view_detail_draw(struct canvas *c, const struct ui *ui, struct rect r);
int view_detail_height(const struct ui *ui, int width, int height); // lines that it needs
void view_around_draw(struct canvas *c, const struct ui *ui, struct rect r);

#endif
