// Columns of the layer list, which are also what it can be sorted and filtered by: columns.def has a row for each.
#ifndef QTUI_TUI_COLUMNS_H
#define QTUI_TUI_COLUMNS_H

#include "qtui/analysis/snapshot.h"
#include "qtui/tui/theme.h"

enum column {
#define COLUMN(id, ...) COLUMN_##id,
#include "qtui/tui/columns.def"
#undef COLUMN
	COLUMN_COUNT,
	COLUMN_NONE = -1
};
struct column_row {
	const char *name, *head;
	int width;                 // 0: what is left
	int rank;                  // the highest go first when there is no room; 0: always there
	int worst;                 // +1: small values are the worst and come first, -1: large ones
	double (*value)(const struct snapshot *s, int node);    // in the unit of the head; NAN: not known. NULL: text
	const char *(*text)(const struct snapshot *s, int node);
	char *(*format)(char *out, double v);
	enum role (*role)(double v);
	const char *help;
};
const struct column_row *columns_row(enum column c);
// False for what only a command brings, as long as it has not: such columns take no room. What a second run brings,
// the changes, is known to the list of layers (layers.h), which looks through all figures once for a snapshot.
bool columns_known(enum column c, const struct snapshot *s);
// By name; on failure the error names the nearest.
MUST_CHECK enum status columns_find(enum column *out, const char *name, struct error *err);
// Worst first, unknown last, equal ones in the order of execution.
int columns_compare(const struct snapshot *s, enum column c, bool turned, int a, int b);

#endif
