// Pipes between threads of this program, and to a program of the user's.
#ifndef QTUI_BASE_PIPE_H
#define QTUI_BASE_PIPE_H

#include <stdbool.h>
#include "qtui/base/error.h"

// end[0] is read from, end[1] written to; no program that is started inherits them. `nonblock`: neither end waits.
// False, with errno: there is none, both ends are -1. The caller calls pipe_close, or closes each end.
MUST_CHECK bool pipe_open(int end[2], bool nonblock);
void pipe_close(int end[2]); // those that are not -1, which they are then

#endif
