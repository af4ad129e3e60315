// Errors: a function that can fail returns an enum status and fills the struct error that its caller passed (never
// NULL). The message is set once, where the fault is found, and is passed up untouched: one line that names the file,
// node or tensor and says what to do. Broken invariants are asserts, not errors.
#ifndef QTUI_BASE_ERROR_H
#define QTUI_BASE_ERROR_H

#include <stdarg.h>

#define MUST_CHECK __attribute__((warn_unused_result))
#define PRINTF(f, a) __attribute__((format(printf, f, a)))

enum status {
	STATUS_OK = 0,
	STATUS_NOMEM,       // a size asked for by an input is not to be had
	STATUS_IO,          // the system refused: open, read, write, rename
	STATUS_FORMAT,      // an input is malformed
	STATUS_UNSUPPORTED, // an input is well-formed but is more than we handle
	STATUS_NOTFOUND,    // a name that does not exist
	STATUS_USAGE,       // a wrong command or option
	STATUS_REFUSED,     // an edit that the target or the graph does not allow
	STATUS_CANCELLED,   // the user stopped the job
};

struct error {
	enum status status;
	char text[480];
};

// Fills `err` and returns `s`, so that a caller can write `return error_set(err, STATUS_IO, ...)`.
enum status error_set(struct error *err, enum status s, const char *fmt, ...) PRINTF(3, 4);
// STATUS_IO with "PATH: " and what errno says.
enum status error_errno(struct error *err, const char *path);
// Puts "PREFIX: " in front of the text of an error that is set already; returns its status.
enum status error_prefix(struct error *err, const char *fmt, ...) PRINTF(2, 3);

// Ends the program where no error can be returned, because memory or threads are gone: writes one line to standard
// error and exits with code 1. If several threads call it, the first one writes.
_Noreturn void error_end(const char *fmt, ...) PRINTF(1, 2);
// Has error_end call `give_back` first (NULL: nothing), which gives the terminal back and returns text to add to the
// line. It may not allocate.
void error_before_end(const char *(*give_back)(void));

#endif
