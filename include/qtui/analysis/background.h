// A job that goes on beside a study's runs in a thread of its own, for a screen: a survey, equalizing, a repair,
// reading or writing a file. Whoever starts a job owns it. All functions are called from the study's thread; a byte
// on study_fd says that the job has news or is over.
#ifndef QTUI_ANALYSIS_BACKGROUND_H
#define QTUI_ANALYSIS_BACKGROUND_H

#include <stdbool.h>
#include "qtui/base/error.h"

struct background;
struct study;
bool background_running(const struct background *b);
double background_progress(const struct background *b); // 0..1 of its stage
void background_cancel(struct background *b);           // asks it to end soon

// Runs work(arg) of a layer above: short work that has no progress to tell and cannot be cancelled. `arg` must live
// until background_free.
typedef enum status background_fn(void *arg, struct error *err);
MUST_CHECK enum status background_new(struct background **out, struct study *st, background_fn *work, void *arg, struct error *err);
MUST_CHECK enum status background_wait(struct background *b, struct error *err); // waits for its end: what work returned
void background_free(struct background **b);                                    // waits

#endif
