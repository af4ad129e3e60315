// Private to src/analysis: what the history of runs is made with.
#ifndef QTUI_ANALYSIS_HISTORY_IMPL_H
#define QTUI_ANALYSIS_HISTORY_IMPL_H

#include "qtui/analysis/history.h"

struct run_nodes *run_nodes_new(int n); // of which nothing is known
void history_bound(struct history *r);        // what there is no room for goes

#endif
