// Private to src/engine/run: shows tensors to a pass's visitor from a thread of its own,
// so that a sample that is alone is measured on one processor while another computes what comes next.
#ifndef QTUI_ENGINE_RUN_SHOWING_H
#define QTUI_ENGINE_RUN_SHOWING_H

#include "run_impl.h"

struct showing;
// NULL when there is no thread to be had: then the caller shows by itself.
struct showing *showing_begin(const struct pass *p);
// Takes counts of the reps. Sightings are shown in the order of the calls; waits while too many are pending.
void showing_add(struct showing *s, const struct sighting *g);
void showing_end(struct showing **s); // after the last has been shown

#endif
