// What else can be done with the layer list's columns.
#ifndef QTUI_TUI_VIEW_LAYERS_H
#define QTUI_TUI_VIEW_LAYERS_H

#include "qtui/tui/ui.h"

// The column whose head is at x of the screen, or COLUMN_NONE.
enum column view_layers_column_at(const struct ui *ui, int x);
// Columns in which every name and all that is known of the layers can stand.
int view_layers_width(const struct ui *ui);
// Sorts by a column; by the same again: the other way round.
void view_layers_sort(struct ui *ui, enum column c);

#endif
