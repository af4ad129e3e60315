// What the task view's parts share, and what others say of the task.
#ifndef QTUI_TUI_VIEW_TASK_H
#define QTUI_TUI_VIEW_TASK_H

#include "qtui/tui/ui.h"

// "mAP .371 → .318 (-.053 ±.012)"; what chance may have done is said,
// and of how many samples it is while there are more to come.
void view_task_headline(char *out, size_t size, const struct task_report *r);
void view_task_brief(char *out, size_t size, const struct task_report *r); // "mAP .371 → .318"

int view_task_sample(const struct ui *ui); // under the cursor (or open); -1: none

// One sample: its picture and what changed in it. `rows`, `count` and `text` are of the list of changes.
void view_look_draw(struct canvas *c, const struct ui *ui, struct rect r);
void view_look_preview(struct canvas *c, const struct ui *ui, struct rect r); // beside the list
int view_look_rows(const struct ui *ui, struct rect r);
int view_look_count(const struct ui *ui);
void view_look_text(char *out, size_t size, const struct ui *ui, int row);

#endif
