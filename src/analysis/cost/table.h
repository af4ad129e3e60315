// Private to src/analysis/cost: a table in a text, what its columns mean, and whose its lines are.
#ifndef COST_TABLE_H
#define COST_TABLE_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include "qtui/engine/graph.h"

enum { CELLS_MAX = 64, UNIT_UNKNOWN = 0 };

// ---- table.c
// A line cut into cells, in place; cells beyond the last are left out.
struct cells {
	char *at[CELLS_MAX];
	int n;
	bool open; // a quote that is not closed
};
// At every `separator` outside of quotes. Of '|' only what stands between two of them is a cell,
// so that what a log writes before and behind is none.
void cells_cut(struct cells *c, char *line, char separator);
bool cells_are_a_rule(const struct cells *c); // "---", ":--:", or nothing at all

// ---- heading.c
struct heading {
	char separator;
	int name, index, time, precision; // columns; -1: there is none
	double unit;                      // microseconds in one of the column of times, or UNIT_UNKNOWN
};
bool heading_of(struct heading *h, const struct cells *c, char separator); // false: it is no heading of such a table
bool heading_read(struct heading *h, const char *line); // with whatever parts its cells; the line is not changed
// The number of a cell and microseconds in its unit ("12.5 ms"), or UNIT_UNKNOWN; false: it is no number.
bool time_read(const char *cell, char separator, double *value, double *unit);
// enum precision, LATENCY_UNSAID for what says nothing of a width ("", "int64"), -1: not understood.
int precision_read(const char *cell);

// ---- nodes.c
struct node_finder {
	const struct graph *g;
	struct namemap *loose; // a name in small letters and '_' -> node, or NODE_AMBIGUOUS; NULL: not needed yet
};
enum { NODE_AMBIGUOUS = INT_MAX };
int node_by_name(struct node_finder *f, char *name); // -1: there is none. What a profiler writes behind the name is cut off
int node_by_index(const struct node_finder *f, const char *text); // the place in the file, from 0; -1: there is none
void node_finder_done(struct node_finder *f);

// ---- trace.c
// JSON of objects that are a line each: a trace of ONNX Runtime, the profile of TensorRT's trtexec.
// What is in "args" is of the object, too.
bool trace_is(const char *text); // can it be JSON?
// Calls row() for each object with the names of its members and their values, as text;
// others than texts and numbers are "".
MUST_CHECK enum status trace_read(const char *text, size_t size, const char *path,
    void (*row)(void *arg, const struct cells *names, struct cells *values), void *arg, struct error *err);

#endif
