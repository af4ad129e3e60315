// What goes on beside a study's runs in a thread of its own, for a screen: a survey, equalizing, a repair, a file. Whoever begins one owns
// it and asks it here; all is called from the study's thread. That there is something new, or that it is over, comes as a byte on study_fd.
#ifndef QTUI_ANALYSIS_BACKGROUND_H
#define QTUI_ANALYSIS_BACKGROUND_H

#include <stdbool.h>
#include "qtui/base/error.h"

struct background;
struct study;
bool background_running(const struct background *b);
double background_progress(const struct background *b); // 0..1 of its stage
void background_cancel(struct background *b);           // asks it to end soon

// Short work of a layer above, work(arg), which is not asked to end and tells nothing before. `arg` lives until background_free.
typedef enum status background_fn(void *arg, struct error *err);
MUST_CHECK enum status background_new(struct background **out, struct study *st, background_fn *work, void *arg, struct error *err);
MUST_CHECK enum status background_wait(struct background *b, struct error *err); // for its end: what it returned
void background_free(struct background **b);                                    // waits

#endif
