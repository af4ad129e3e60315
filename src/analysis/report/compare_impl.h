// Private to src/analysis/report: what comparisons share.
#ifndef QTUI_ANALYSIS_COMPARE_IMPL_H
#define QTUI_ANALYSIS_COMPARE_IMPL_H

#include <cjson/cJSON.h>
#include "qtui/engine/stats.h"

// snr_db (or exact), cosine, mse and max_error.
void compare_add_figures(cJSON *row, const struct tensor_sums *s);

#endif
