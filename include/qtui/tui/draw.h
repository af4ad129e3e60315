// The whole screen: the frame around the views (top line, titles with tabs, bottom line),
// and what the views draw alike.
#ifndef QTUI_TUI_DRAW_H
#define QTUI_TUI_DRAW_H

#include "qtui/tui/ui.h"

// The whole screen.
void draw_screen(struct canvas *c, const struct ui *ui);
// Why there are no figures to speak of: none yet, or a run that failed.
void draw_no_run(struct canvas *c, const struct ui *ui, struct rect r);
// Text, shortened to the width as `cut` says, with the part that the search has found
// picked out; returns the columns used.
int draw_found(struct canvas *c, const struct ui *ui, int x, int y, int width, enum role role, enum cut cut, const char *text);
// The same for the name of a node, shortened so that other nodes' names look different (abbrev.h).
int draw_node_name(struct canvas *c, const struct ui *ui, int x, int y, int width, enum role role, int node);

// The tab at column x of the main panel's title: a view, or -1.
int draw_tab_at(const struct ui *ui, int x);

// The bottom line: the prompt, a scale that is tried, a message (which takes more lines
// where it is long), else the keys of the moment.
void draw_bottom(struct canvas *c, const struct ui *ui, struct rect r);
// What the key does that stands at column x of it; ACTION_NONE: there stands none.
enum action draw_hint_at(const struct ui *ui, int x);

#endif
