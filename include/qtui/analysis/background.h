// What goes on beside a study's runs in a thread of its own, for a screen: a survey, equalizing, a repair. Whoever begins one owns it
// and asks it here; all is called from the study's thread. That there is something new, or that it is over, comes as a byte on study_fd.
#ifndef QTUI_ANALYSIS_BACKGROUND_H
#define QTUI_ANALYSIS_BACKGROUND_H

#include <stdbool.h>

struct background;
bool background_running(const struct background *b);
double background_progress(const struct background *b); // 0..1 of its stage
void background_cancel(struct background *b);           // asks it to end soon

#endif
