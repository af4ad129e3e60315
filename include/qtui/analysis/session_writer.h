// A thread that writes one session file, directories included, so that nobody waits for its disk. What is put is written in order, but
// one that waits gives way to a newer.
#ifndef QTUI_ANALYSIS_SESSION_WRITER_H
#define QTUI_ANALYSIS_SESSION_WRITER_H

#include "qtui/analysis/session.h"

struct session_writer;
struct session_writer *session_writer_new(const char *path);
void session_writer_put(struct session_writer *w, struct session_save *s); // takes it over
int session_writer_fd(const struct session_writer *w); // readable when session_writer_news has something to tell
// Whether the latest writing ended otherwise than was told last: why it failed, or STATUS_OK: it is written again.
bool session_writer_news(struct session_writer *w, struct error *err);
bool session_writer_lost(struct session_writer *w); // waits for what is put: the latest writing has failed
// Writes what waits; how the latest writing ended.
MUST_CHECK enum status session_writer_free(struct session_writer **w, struct error *err);

#endif
