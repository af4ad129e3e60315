// Private to src/analysis/session.
#ifndef QTUI_ANALYSIS_SESSION_IMPL_H
#define QTUI_ANALYSIS_SESSION_IMPL_H

#include <stdbool.h>

struct cJSON;
struct task_wish;
// Of an object in the file, or (NULL) of the file itself: a member that this version knows, and writes.
bool session_has_member(const char *in, const char *name);
bool session_is_tuned(const struct cJSON *item); // a member of "tuned": the name of tuned weights that lie beside the session
void session_read_task(struct task_wish *w, const struct cJSON *task); // the texts stay those of the tree

#endif
