// The survey on the screen: whether pictures are prepared as in training, and samples alike, in the background.
#ifndef QTUI_TUI_SURVEY_H
#define QTUI_TUI_SURVEY_H

#include "qtui/tui/ui.h"

void survey_ended(struct ui *ui); // tells what it found

#endif
