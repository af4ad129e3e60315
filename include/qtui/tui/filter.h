// Filters of the layer list: terms that must all hold, such as `op:Conv snr<20 name~cv3
// int8 !edited`. The caller frees one.
#ifndef QTUI_TUI_FILTER_H
#define QTUI_TUI_FILTER_H

#include "qtui/tui/columns.h"

struct filter;
// An empty text gives NULL, which matches everything.
MUST_CHECK enum status filter_parse(struct filter **out, const char *text, struct error *err);
void filter_free(struct filter **f);
// marked: [n_nodes]; NULL: none is. A node whose figure is not known matches neither
// a condition on it nor the opposite.
bool filter_match(const struct filter *f, const struct snapshot *s, const bool *marked, int node);
// The grammar, a line each; NULL past the last.
const char *filter_help(int i);
const char *filter_word(int i); // those that are a term by themselves: "int8", "edited"; NULL past the last

#endif
