// One function an action, as keys.def names them.
#ifndef QTUI_TUI_ACTION_H
#define QTUI_TUI_ACTION_H

#include "qtui/tui/ui.h"

#define KEY(id, ...) void act_##id(struct ui *ui);
#include "qtui/tui/keys.def"
#undef KEY
void action_do(struct ui *ui, enum action a);

#endif
