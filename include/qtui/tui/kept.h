// The files that autosaved sessions of a model lie in: of every run one with a number, in the user's state directory,
// and where that could not be written, beside the model or where temporary files go. None is ever moved.
#ifndef QTUI_TUI_KEPT_H
#define QTUI_TUI_KEPT_H

#include <stdbool.h>

enum {
	KEPT_NUMBERS = 16,
	KEPT_REFUGES = 2,
	KEPT_NAMES = KEPT_NUMBERS * (1 + KEPT_REFUGES),
	KEPT_MAX = 2 * KEPT_NAMES, // with those under a long name in full, as they were written before
};
struct kept {
	char *path;              // heap
	long long seconds, nanoseconds; // when it was written
};
// A file for this run: the first that is not there and that no living run holds, held by *lock (to close; -1: there are no
// locks) until the run ends. Where every number has a session, the oldest one's, and true: the first write is over it.
bool kept_take(char **path, int *lock, const char *model);
// What ended runs have left, the newest first; how many. The caller calls kept_done. `own`: this run's file, which is not
// among them.
int kept_find(struct kept out[KEPT_MAX], const char *model, const char *own);
void kept_done(struct kept *list, int n);
bool kept_is_one(const char *model, const char *path); // is it a name for such a file?
// Holds what an ended run has left, so that no other run offers it: false where one that lives has it. *lock: to close, or
// -1 where nothing needs to be held.
bool kept_hold(int *lock, const char *model, const char *path);
// Removes it with its tuned weights, unless a living run has it.
void kept_remove(const char *model, const char *path);
// A file of a number that is not taken in the n-th place other than the state directory; heap.
char *kept_refuge(const char *model, int n);

#endif
