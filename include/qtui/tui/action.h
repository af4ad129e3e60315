// One function an action, as keys.def names them.
#ifndef QTUI_TUI_ACTION_H
#define QTUI_TUI_ACTION_H

#include "qtui/tui/ui.h"

#define KEY(id, ...) void act_##id(struct ui *ui);
#include "qtui/tui/keys.def"
#undef KEY
void action_do(struct ui *ui, enum action a);
void move_to_row(struct ui *ui, long row); // of the view, from 1 as its title counts them; the last where it has fewer

#endif
