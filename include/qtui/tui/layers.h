// The layer list's model: which nodes are shown, in which order, what is marked, where the cursor is. Owned by the ui.
#ifndef QTUI_TUI_LAYERS_H
#define QTUI_TUI_LAYERS_H

#include "qtui/tui/filter.h"
#include "qtui/tui/abbrev.h"
#include "qtui/tui/scroll.h"

struct layers {
	int *order, n;        // node ids shown
	int total;            // rows without a filter
	int widest;           // columns of the longest name, with or without a filter
	struct abbrev names;   // of all nodes
	bool compared;        // figures of the run before are known
	bool settled;         // the order is that of a run that is over
	bool *marked;         // [n_nodes]
	int n_nodes, n_marked;
	enum column sort;
	bool turned;          // best first
	struct filter *filter;
	char filter_text[256];
	int visual;           // node at which the visual range began, or -1
	int chosen;           // node that the user has gone to: the cursor stays with it while the order changes, also where the
	                      // filter hides it for a while; -1: none, the first row has the cursor
	struct scroll scroll;
};
void layers_init(struct layers *l, int n_nodes);
void layers_done(struct layers *l);
// Sorts and filters anew for a snapshot.
void layers_refresh(struct layers *l, const struct snapshot *s);
// What a newer snapshot asks for. While a run that an edit began goes on, rows stay where the run before left them:
// half of the figures are not there, and a key would be for another node than the one that the user saw.
void layers_update(struct layers *l, const struct snapshot *s);
// As layers_refresh, with a filter that is new: what it hides is no longer chosen, the first of what it shows is.
void layers_refilter(struct layers *l, const struct snapshot *s);
int layers_node(const struct layers *l);              // under the cursor, -1 when the list is empty
void layers_choose(struct layers *l);                 // what is under the cursor
bool layers_go(struct layers *l, int node);           // false when it is not shown
int layers_row(const struct layers *l, int node);     // -1 when it is not shown
bool layers_in_visual(const struct layers *l, int row);
int layers_n_visual(const struct layers *l); // rows of the visual range, 0 without one
void layers_mark(struct layers *l, int node, bool on);
// The nodes that an edit is about: the visual range, else the marks, else the cursor. Heap; *n may be 0.
int *layers_selection(const struct layers *l, int *n);

#endif
