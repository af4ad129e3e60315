// Keys and what they do: keys.def gives every action its name, its keys in a context, its group and its help.
// From its rows come the bindings, the help view, the hints on the bottom line,
// the `:` names and the tables of the documentation.
#ifndef QTUI_TUI_KEYS_H
#define QTUI_TUI_KEYS_H

#include <stddef.h>

// A key is a Unicode code point, a control character (C-r is 18), or one of these.
enum {
	K_NONE = -1,
	K_UP = 0x110000, K_DOWN, K_LEFT, K_RIGHT, K_PGUP, K_PGDN, K_HOME, K_END, K_DEL, K_SHIFT_TAB, K_MOUSE, K_F1,
	K_OTHER, // a key of the terminal's that has no name here: it is answered as others that do nothing
	K_ENTER = '\r', K_ESC = 27, K_BACKSPACE = 127,
};
// Contexts in which a binding holds; those of the moment are asked in this order, CTX_ANY last.
enum context {
	CTX_TRIAL, // a scale is being tried
	CTX_HELP,  // the help view has the keys
	CTX_FINDING, // the findings are shown
	CTX_WHY,   // the story is told
	CTX_RUN,   // the cursor is on a run
	CTX_PICTURE, // a sample of the task has the whole panel
	CTX_CLASS, // of the task's samples those of one class are shown
	CTX_TASK,  // the task is shown
	CTX_BLAME, // the ranking of blame is shown, which the steps of a repair take the place of
	CTX_CHANNELS, // the channels of a tensor are shown
	CTX_PARETO, // the states that nothing beats are shown
	CTX_PANEL, // the detail or the neighbourhood has the keys
	CTX_NODE,  // the view is about nodes: there is something to edit
	CTX_ANY,
	CTX_COUNT
};
enum action {
#define KEY(id, ctx, keys, group, hint, help) ACTION_##id,
#include "qtui/tui/keys.def"
#undef KEY
	ACTION_COUNT,
	ACTION_NONE = -1
};
struct key_row {
	const char *name;  // as a command: "page-down"
	enum context context;
	const char *keys;  // "j <Down>"
	const char *group, *hint, *help; // hint "": not on the bottom line
};
const struct key_row *keys_row(enum action a);

// Reads one key of the notation "j", "<Down>", "<C-r>", "<lt>" and moves past it; K_NONE when malformed or at the end.
int keys_parse(const char **p);
void keys_text(char *out, size_t size, int key); // as people read it: "Enter", "Ctrl-r", "j"
// The action of a key in the given contexts (bits 1 << CTX_*; CTX_ANY always holds).
enum action keys_action(int key, unsigned contexts);
enum action keys_named(const char *name); // ACTION_NONE when unknown

#endif
