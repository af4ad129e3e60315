// No edit is lost: after every edit the session goes to a file of the model's own in the user's state directory.
#ifndef QTUI_TUI_AUTOSAVE_H
#define QTUI_TUI_AUTOSAVE_H

#include "qtui/tui/ui.h"

// Finds out the path, and whether an earlier run has left edits there: then says so.
void autosave_begin(struct ui *ui);
// Writes when an edit is waiting. What an earlier run left is kept beside it.
void autosave_write(struct ui *ui);
// At the end: removes the file when everything is written elsewhere; else leaves it to be offered next time.
void autosave_end(struct ui *ui);

#endif
