// What the three prompts (command, search, scale) do while they are typed in and when they are accepted or closed.
#ifndef QTUI_TUI_PROMPT_H
#define QTUI_TUI_PROMPT_H

#include "qtui/tui/ui.h"

// text: what stands in it at first.
void prompt_open(struct ui *ui, enum line_kind kind, const char *text);
void prompt_key(struct ui *ui, int key);

#endif
