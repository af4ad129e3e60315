// No edit is lost: after every edit the session goes to a file in the user's state directory.
// Every run on a model has one of its own, which it holds by a lock beside it for as long as it lives;
// docs/SESSION.md says which, and what becomes of it.
#ifndef QTUI_TUI_AUTOSAVE_H
#define QTUI_TUI_AUTOSAVE_H

#include "qtui/tui/ui.h"

// Takes a file of its own, in which no other run has left anything (kept.h), and offers what dead runs have left.
void autosave_begin(struct ui *ui);
// When an edit is waiting, gives the session to the thread that writes the file; tells when that fails, or works again.
void autosave_write(struct ui *ui);
int autosave_fd(const struct ui *ui); // readable when autosave_write has something to tell; -1: never
// Asked to quit: false, and said so, where a :write under way fails, and the first time that
// edits would be lost because they could not be saved.
bool autosave_may_quit(struct ui *ui);
// At the end: waits for what is being written, then removes the file when everything is written elsewhere or was undone;
// else leaves it to be offered next time, and says so on standard error. What this run has opened of an earlier one goes
// when either has it. Of a run that is killed while it cannot be written, edits go beside the model, or to where temporary
// files go.
void autosave_end(struct ui *ui, bool killed);

#endif
