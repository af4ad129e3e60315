// What two analyses (docs/JSON.md) say differently, node by node, and what it bought; as JSON that the caller deletes
// (docs/JSON.md). What one of them does not know is absent on its side.
#ifndef QTUI_ANALYSIS_COMPARE_H
#define QTUI_ANALYSIS_COMPARE_H

#include "qtui/analysis/study.h"

struct cJSON *compare_analyses(const struct cJSON *a, const struct cJSON *b);

// The same form for two models without a plan: how far the tensors that bear the same name in both are from each other, over the
// samples of `d` (a dataset of `a`). `done` counts samples; *cancel ends it with STATUS_CANCELLED.
struct compare_models {
	const struct graph *a, *b;
	const struct dataset *d;
	struct engine_options engine;
};
MUST_CHECK enum status compare_models(
    struct cJSON **out, const struct compare_models *m, atomic_int *done, const atomic_bool *cancel, struct error *err);

#endif
