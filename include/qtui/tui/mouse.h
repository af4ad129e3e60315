// Clicks and the wheel: rows, column heads, tabs.
#ifndef QTUI_TUI_MOUSE_H
#define QTUI_TUI_MOUSE_H

#include "qtui/tui/ui.h"

void mouse_do(struct ui *ui); // the event in ui->mouse_*

#endif
