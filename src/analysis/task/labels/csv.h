// Lines of a CSV. A line is cut in place: cells are its own memory.
#ifndef QTUI_ANALYSIS_TASK_LABELS_CSV_H
#define QTUI_ANALYSIS_TASK_LABELS_CSV_H

#include <stdbool.h>

enum { CSV_CELLS_MAX = 1024 }; // of a line; others are not read
struct csv_line {
	char *at[CSV_CELLS_MAX];
	int n;
};
void csv_cut(struct csv_line *c, char *line); // at the first of , ; tab blank that the line has; quotes around a cell go
char *csv_first(const char *path); // the first line of a file, heap; NULL: it cannot be read, or is no text
// The first of these names that a heading has, in capitals or not; -1: it has none. Behind a number there is no heading, but a file
// of that name.
int csv_column(const struct csv_line *heading, const char *const *names);
bool csv_is_number(const char *text);
extern const char *const csv_file_names[];  // what a heading calls the column of files
extern const char *const csv_class_names[]; // and that of classes

#endif
