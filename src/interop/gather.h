// Private to src/interop: reports of one line a name, made shorter.
#ifndef QTUI_INTEROP_GATHER_H
#define QTUI_INTEROP_GATHER_H

#include "qtui/base/str.h"

// `lines`: each ended, most of the form "NAME: what is said of it". Those that say the same become one, at the place of the
// first: "A, B and 26 more: what is said of them"; so do lines that are alike. The others stay as they are.
struct str gather_lines(const char *lines); // the caller calls str_done

#endif
