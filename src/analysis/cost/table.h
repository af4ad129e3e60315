// Private to src/analysis/cost: a table in a text, and what its columns mean.
#ifndef COST_TABLE_H
#define COST_TABLE_H

#include <stdbool.h>

enum { CELLS_MAX = 64, UNIT_UNKNOWN = 0 };

// ---- table.c
// A line cut into cells, in place; cells beyond the last are left out.
struct cells {
	char *at[CELLS_MAX];
	int n;
	bool open; // a quote that is not closed
};
// At every `separator` outside of quotes. Of '|' only what stands between two of them is a cell, so that what a log writes before and
// behind is none.
void cells_cut(struct cells *c, char *line, char separator);
bool cells_are_a_rule(const struct cells *c); // "---", ":--:", or nothing at all

// ---- heading.c
struct heading {
	char separator;
	int name, index, time, precision; // columns; -1: there is none
	double unit;                      // microseconds in one of the column of times, or UNIT_UNKNOWN
};
// False: the line is no heading of such a table. It is not changed.
bool heading_read(struct heading *h, const char *line);
// The number of a cell and microseconds in its unit ("12.5 ms"), or UNIT_UNKNOWN; false: it is no number.
bool time_read(const char *cell, char separator, double *value, double *unit);
// enum precision, LATENCY_UNSAID for what says nothing of a width ("", "int64"), -1: not understood.
int precision_read(const char *cell);

#endif
