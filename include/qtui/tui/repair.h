// Blame and fix on the screen: a job in the background; its edits are applied here, one after the other, as steps of the history.
#ifndef QTUI_TUI_REPAIR_H
#define QTUI_TUI_REPAIR_H

#include "qtui/tui/ui.h"

void repair_news(struct ui *ui);          // takes what the job has to say
bool repair_stop(struct ui *ui);          // false: nothing to stop
bool repair_busy(const struct ui *ui);

#endif
