// A thread that writes one session file, and makes its directories, so that nobody waits for the disk. Saves are
// written in the order in which they are put; one that still waits is dropped when a newer one is put.
#ifndef QTUI_ANALYSIS_SESSION_WRITER_H
#define QTUI_ANALYSIS_SESSION_WRITER_H

#include "qtui/analysis/session.h"

struct session_writer;
struct session_writer *session_writer_new(const char *path);
void session_writer_put(struct session_writer *w, struct session_save *s); // takes it over
int session_writer_fd(const struct session_writer *w); // readable when session_writer_news has something to tell
// True when the latest write ended differently from what was told last: *err says why it failed, or has STATUS_OK when
// writing works again.
bool session_writer_news(struct session_writer *w, struct error *err);
bool session_writer_lost(struct session_writer *w); // waits until all is written; true: the latest write failed
// Writes what still waits and ends the thread. Returns the status of the latest write.
MUST_CHECK enum status session_writer_free(struct session_writer **w, struct error *err);

#endif
