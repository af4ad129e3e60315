// Compares two analyses (docs/JSON.md) node by node: what differs, and what that changed in the figures. The result is
// JSON (docs/JSON.md) that the caller deletes; what one analysis does not know is absent on its side.
#ifndef QTUI_ANALYSIS_COMPARE_H
#define QTUI_ANALYSIS_COMPARE_H

#include "qtui/analysis/study.h"

struct cJSON *compare_analyses(const struct cJSON *a, const struct cJSON *b);

// Compares two float models in the same form: how far apart the tensors are that have the same name in both, over the
// samples of `d`, a dataset of `a`. `done` counts samples; a set *cancel ends it with STATUS_CANCELLED.
struct compare_models {
	const struct graph *a, *b;
	const struct dataset *d;
	struct engine_options engine;
};
MUST_CHECK enum status compare_models(
    struct cJSON **out, const struct compare_models *m, atomic_int *done, const atomic_bool *cancel, struct error *err);

// Compares what has the same name in two collections, a directory (with those in it), a file of arrays or a picture: arrays (.npy, .pb) and
// pictures, B against A. STATUS_NOTFOUND: there is none. What cannot be compared has its `problem`.
// `done` counts to COMPARE_ALL; a set *cancel ends it with STATUS_CANCELLED.
enum { COMPARE_ALL = 1000 };
MUST_CHECK enum status compare_collections(
    struct cJSON **out, const char *a, const char *b, atomic_int *done, const atomic_bool *cancel, struct error *err);

#endif
