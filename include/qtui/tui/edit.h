// Edits: from the screen to the study, and back as a message. Every edit is autosaved and starts a run.
#ifndef QTUI_TUI_EDIT_H
#define QTUI_TUI_EDIT_H

#include "qtui/tui/ui.h"

// precision: enum precision; -1: what the target chooses.
MUST_CHECK enum status edit_precision(struct ui *ui, const int *nodes, int n, int precision, struct error *err);
// method: enum calib_method; -1: that of all nodes.
MUST_CHECK enum status edit_calibrator(struct ui *ui, const int *nodes, int n, int method, struct error *err);
// outputs: value ids; scale: 0 is auto.
MUST_CHECK enum status edit_scale(struct ui *ui, const int *outputs, int n, double scale, int32_t zero, struct error *err);
// What a key edits, on the heap: in the list the range, the marked nodes or the node under
// the cursor, elsewhere the view's node.
int *edit_selection(const struct ui *ui, int *n);
// Where a key gives scales, the outputs that they go to, on the heap: of one node the one that the detail shows
// (STATUS_REFUSED: that is none of a node), of several that edit_selection finds each one's whose figures stand in its row.
MUST_CHECK enum status edit_outputs(int **values, int *n, const struct ui *ui, struct error *err);
// The output that stands for a tensor on the screen: itself, or that of the owner
// of the group that its node is part of.
int edit_shown_output(const struct snapshot *s, int value);
void edit_unsaved(struct ui *ui); // what the session keeps has changed: it is autosaved
// After any change of the study's edits: that, and shows the study's newest snapshot and starts the run.
void edit_done(struct ui *ui);
// After an edit that the study did not fail: edit_done, or where `err` tells that nothing changed,
// that as the message, and false. `err` was empty before the edit.
bool edit_taken(struct ui *ui, const struct error *err);
void edit_note(struct ui *ui, const char *what, const char *step); // "undone: set A B and 20 more float"

// The trial of a scale for the tensor that the detail shows: begun by the first step, moved by 2^by.
MUST_CHECK enum status trial_step(struct ui *ui, int by, struct error *err);
void trial_set(struct ui *ui, int value, double scale, int32_t zero, bool typed);
const struct site *trial_site(const struct ui *ui); // NULL: no site shows it
void trial_drop(struct ui *ui);

#endif
