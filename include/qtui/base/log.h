// The log: a ring of the last lines, shown by the log view and written to stderr in batch mode. A text stands in
// it once, where it was said last. Thread-safe.
#ifndef QTUI_BASE_LOG_H
#define QTUI_BASE_LOG_H

#include <stdbool.h>
#include "qtui/base/error.h"

enum log_level { LOG_INFO, LOG_WARN, LOG_ERROR };
enum { LOG_WIDTH = 320 }; // bytes of a line, its NUL included; the middle of a longer one is left out
void log_add(enum log_level level, const char *fmt, ...) PRINTF(2, 3);
// A literal that would be cut whatever is put into it does not compile.
#define LOG_FIRST(first, ...) first
#define LOG_FITS(...) (void)sizeof(struct { _Static_assert(sizeof(LOG_FIRST(__VA_ARGS__, )) <= LOG_WIDTH, "too long a line"); char c; })
#define log_info(...) (LOG_FITS(__VA_ARGS__), log_add(LOG_INFO, __VA_ARGS__))
#define log_warn(...) (LOG_FITS(__VA_ARGS__), log_add(LOG_WARN, __VA_ARGS__))
// Whether lines of at least the level `min` also go to standard error (in batch: yes; under curses: no). Each text is
// written once, since what is opened twice warns twice.
void log_to_stderr(bool enabled, enum log_level min);
// Copies line `i` (0: the oldest that is kept) into `out` and returns its level; -1: there is no such line.
int log_line(int i, char *out, int size);
unsigned log_additions(void); // how many lines were ever added or moved to the end: the log has changed where this has
int log_warnings(void); // how many warnings and errors have been said, also those that are no longer kept

#endif
