// Blame and fix on the screen: a job in the background; its edits are applied here,
// one after the other, as steps of the history.
#ifndef QTUI_TUI_REPAIR_H
#define QTUI_TUI_REPAIR_H

#include "qtui/tui/ui.h"

void repair_news(struct ui *ui);          // takes what the job has to say
void repair_ended(struct ui *ui);          // tells what it came to
void repair_edited(struct ui *ui);         // the network was: a repair is of what it was before, and stops; what was kept stays
const char *repair_undo_hint(const struct ui *ui); // ", u undoes", behind what it came to
void repair_take_kept(struct ui *ui);     // what accuracy costs, as the study keeps it

// Of the blame view while it shows what :fix does.
int view_fix_head(const struct ui *ui);
void view_fix_heading(struct canvas *c, const struct ui *ui, struct rect r);
void view_fix_step(struct canvas *c, const struct ui *ui, struct rect r, int row);
// "mAP .290 → .341 (float .361: 72 % of the loss regained), damage ...": what the steps came to
void view_fix_summary(char *out, size_t size, const struct ui *ui);

#endif
