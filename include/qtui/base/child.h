// A program of the user's that runs beside this one and answers lines with lines. One thread at a time may ask.
#ifndef QTUI_BASE_CHILD_H
#define QTUI_BASE_CHILD_H

#include <stdatomic.h>
#include <stddef.h>
#include "qtui/base/error.h"

struct child;
// Gives `command` to /bin/sh, in a process group of its own. The end of what it says on standard error is kept for the errors
// below.
MUST_CHECK enum status child_start(struct child **out, const char *command, struct error *err);
// Writes the line (without its end) and waits for the answer, which comes without its end. STATUS_CANCELLED as soon as *stop
// (may be NULL); STATUS_UNSUPPORTED when the program has ended, with what it said last, or is silent for CHILD_PATIENCE
// seconds, or answers more than `size` takes. After an error it has to be ended: what it answers next belongs to this line.
enum { CHILD_PATIENCE = 120 };
MUST_CHECK enum status child_ask(struct child *c, const char *line, char *answer, size_t size, const atomic_bool *stop,
    struct error *err);
// Closes its standard input, upon which it should end, and kills it where it does not do so soon; behind an error at once. What
// it has left running in its process group is killed too.
void child_end(struct child **c);

#endif
