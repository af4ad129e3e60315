// Times that a board has measured, node by node: a table in a text file, CSV (also with ';' or tabs) or drawn with '|' in a log, as
// ESP-DL prints it, or a profile in JSON, an object a line, as ONNX Runtime and TensorRT write it (docs/COST.md). Immutable once read,
// shared by count: latency_take and latency_drop. No owner but the counts.
#ifndef QTUI_ANALYSIS_LATENCY_H
#define QTUI_ANALYSIS_LATENCY_H

#include <stdatomic.h>
#include "qtui/base/str.h"
#include "qtui/engine/graph.h"
#include "qtui/engine/plan.h"

// A line that says no precision is of the network as the target quantizes it at 8 bit.
enum { LATENCY_UNSAID = PREC_COUNT, LATENCY_WIDTHS };
struct latency {
	atomic_int refs;
	char *path;
	int n_nodes;
	double (*us)[LATENCY_WIDTHS]; // [n_nodes] microseconds; NAN: not measured
	int lines, taken;             // of the table; those whose node was found
	struct str notes;             // "FILE:LINE: why", a line each, of what was not taken or is doubtful; the first thousand
	int n_notes;                  // of all
};
// STATUS_FORMAT when it is no such table, or nothing in it is of the graph. Of a line that cannot be taken there is a note.
MUST_CHECK enum status latency_read(struct latency **out, const struct graph *g, const char *path, struct error *err);
struct latency *latency_take(struct latency *l); // NULL is NULL
void latency_drop(struct latency **l);
struct key latency_key(const struct latency *l); // of the times; NULL: zero
// Says the first notes as warnings, and how many more there are.
void latency_warn(const struct latency *l);

#endif
