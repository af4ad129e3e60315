// Private to src/engine/run: prepares the kernels of a sample that is alone, on a thread of its own,
// ahead of the thread that runs them. Making kernels and packing weights is a good part of a network's first run.
#ifndef QTUI_ENGINE_RUN_AHEAD_H
#define QTUI_ENGINE_RUN_AHEAD_H

#include "runner.h"

struct ahead;
// Of the steps that are marked in run[sim][step] (borrowed). NULL when there is no thread to be had:
// then all is prepared where it runs.
struct ahead *ahead_begin(const struct runner *r, bool *const run[SIM_COUNT]);
void ahead_end(struct ahead **a); // wherever it is

#endif
