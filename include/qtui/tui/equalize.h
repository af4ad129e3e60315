// The command :equalize on the screen: the model's weights equalized into a file,
// and what that buys, in the background.
#ifndef QTUI_TUI_EQUALIZE_H
#define QTUI_TUI_EQUALIZE_H

#include "qtui/tui/ui.h"

void equalize_ended(struct ui *ui); // tells what it came to

#endif
