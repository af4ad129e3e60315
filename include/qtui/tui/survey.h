// The survey on the screen: whether pictures are prepared as in training, and samples alike, in the background.
#ifndef QTUI_TUI_SURVEY_H
#define QTUI_TUI_SURVEY_H

#include "qtui/tui/ui.h"

bool survey_busy(const struct ui *ui);
bool survey_stop(struct ui *ui); // false: nothing to stop
void survey_news(struct ui *ui); // takes what is over

#endif
