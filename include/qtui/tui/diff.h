// Two sets of figures side by side (:diff A B): the nodes, and further outputs of nodes,
// in which they differ, those that moved most first. Owns its records.
#ifndef QTUI_TUI_DIFF_H
#define QTUI_TUI_DIFF_H

#include "qtui/analysis/history.h"

struct diff_row {
	int at;                  // in the arrays of the runs' nodes
	int node, value;         // and which of its outputs
	const char *name;        // the node's; of a further output its own. Of the graph
	double a_db, b_db, gain; // graphwise SNR; NAN: not known
	bool decided;            // precision or scale differ
};
struct diff_side {
	char name[64];
	struct run_record figures;
	bool edited;             // a session's file: since the run
};
struct diff {
	bool made;               // else nothing is compared
	struct diff_side a, b;
	struct diff_row *row;
	int n;
};
// Takes the sides over; what the diff held before is dropped.
void diff_set(struct diff *d, const struct graph *g, const struct diff_side *a, const struct diff_side *b);
void diff_done(struct diff *d);
// What cannot be compared, or only with care: a sentence; NULL when all can.
const char *diff_reserve(const struct diff *d);

#endif
