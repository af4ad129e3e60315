// The command :equalize on the screen: the model's weights equalized into a file, and what that buys, in the background.
#ifndef QTUI_TUI_EQUALIZE_H
#define QTUI_TUI_EQUALIZE_H

#include "qtui/tui/ui.h"

bool equalize_busy(const struct ui *ui);
bool equalize_stop(struct ui *ui); // false: nothing to stop
void equalize_news(struct ui *ui); // takes what is over

#endif
