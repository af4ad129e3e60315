// The neighbourhood of a node as a small tree: what feeds it above, what it feeds below.
// A fused group is one node, its owner.
#ifndef QTUI_TUI_AROUND_H
#define QTUI_TUI_AROUND_H

#include "qtui/analysis/snapshot.h"

enum { AROUND_LINES = 96, AROUND_RAIL = 24, AROUND_MOST = 1000 }; // the most that are shown; bytes; see `more`
struct around_line {
	int node;        // -1: an input or output of the network
	int value;       // the tensor then; -1: neither, but what `more` counts
	int more;        // neighbours that have no line, where there are too many; AROUND_MOST and above are counted as that
	int depth;       // 0: the node in the middle; < 0: feeds it, > 0: is fed by it
	char rail[AROUND_RAIL]; // the lines of the tree in front of it
};
struct around {
	int n, centre;   // lines, and which of them is the middle
	struct around_line line[AROUND_LINES];
};
// As deep as fits into `height` lines, at least the direct neighbours.
void around_build(struct around *out, const struct snapshot *s, int node, int height);
// The node that stands for `node` on the screen: itself, or the owner of the group that it is fused into.
int around_owner(const struct snapshot *s, int node);
// Owners that feed `node` (or are fed by it), in order, without repeats; writes at most max, returns how many.
int around_producers(const struct snapshot *s, int node, int *out, int max);
int around_consumers(const struct snapshot *s, int node, int *out, int max);

#endif
