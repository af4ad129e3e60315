// Two sets of figures side by side (:diff A B): the nodes in which they differ, those that moved most first. Owns its snapshots.
#ifndef QTUI_TUI_DIFF_H
#define QTUI_TUI_DIFF_H

#include "qtui/analysis/snapshot.h"

struct diff_row {
	int node;
	double a_db, b_db, gain; // graphwise SNR; NAN: not known
	bool decided;            // precision or scale differ
};
struct diff {
	struct snapshot *a, *b;  // NULL: nothing is compared
	char name_a[64], name_b[64];
	struct diff_row *row;
	int n;
};
// Takes the snapshots over; what the diff held before is dropped.
void diff_set(struct diff *d, struct snapshot *a, const char *name_a, struct snapshot *b, const char *name_b);
void diff_done(struct diff *d);

#endif
