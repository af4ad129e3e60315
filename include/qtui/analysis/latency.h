// Times that a board has measured, node by node: a table in a text file, CSV (also with ';' or tabs) or drawn with
// '|' in a log, as ESP-DL prints it, or a profile in JSON, an object a line, as ONNX Runtime and TensorRT write it
// (docs/COST.md). Immutable once read, and reference-counted.
#ifndef QTUI_ANALYSIS_LATENCY_H
#define QTUI_ANALYSIS_LATENCY_H

#include <stdatomic.h>
#include "qtui/base/str.h"
#include "qtui/engine/graph.h"
#include "qtui/engine/plan.h"

// A line without a precision was measured in the network as the target quantizes it at 8 bit.
enum { LATENCY_UNSAID = PREC_COUNT, LATENCY_WIDTHS };
struct latency {
	atomic_int refs;
	char *path;
	int n_nodes;
	double (*us)[LATENCY_WIDTHS]; // [n_nodes] microseconds; NAN: not measured
	int lines, taken;             // lines of the table; those whose node was found
	struct str notes;             // "FILE:LINE: why" for each line that was not taken or is doubtful; the first thousand
	int n_notes;                  // all of them
};
// STATUS_FORMAT when it is no such table, or no line of it belongs to the graph. A single line that cannot be taken
// leaves a note.
MUST_CHECK enum status latency_read(struct latency **out, const struct graph *g, const char *path, struct error *err);
struct latency *latency_take(struct latency *l); // NULL is NULL
void latency_drop(struct latency **l);
struct key latency_key(const struct latency *l); // of the times; NULL: zero
// Logs the first notes as warnings, and how many more there are.
void latency_warn(const struct latency *l);

#endif
