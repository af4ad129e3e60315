// No edit is lost: after every edit the session goes to a file of the model's own in the user's state directory.
#ifndef QTUI_TUI_AUTOSAVE_H
#define QTUI_TUI_AUTOSAVE_H

#include "qtui/tui/ui.h"

// Finds out the path, and whether an earlier run has left edits there: then says so.
void autosave_begin(struct ui *ui);
// Has it written, by a thread of its own, when an edit is waiting, and tells of what has failed. What an earlier run left is kept beside it.
void autosave_write(struct ui *ui);
int autosave_fd(const struct ui *ui); // readable when autosave_write has something to tell; -1: never
// Asked to quit: false, and said so, the first time that edits would be lost because they could not be saved.
bool autosave_may_quit(struct ui *ui);
// At the end: waits for what is being written, then removes the file when everything is written elsewhere; else leaves it to be offered next time, and
// says so on standard error unless quiet.
void autosave_end(struct ui *ui, bool quiet);

#endif
