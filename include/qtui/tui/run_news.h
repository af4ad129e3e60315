// What a run has brought, in a sentence on the bottom line.
#ifndef QTUI_TUI_RUN_NEWS_H
#define QTUI_TUI_RUN_NEWS_H

#include "qtui/tui/ui.h"

void run_news(struct ui *ui, const struct snapshot *was); // beside the snapshot that was there before

#endif
