// Cross-layer equalization of a study's model (equalize.h) in the background. It finds what can be equalized, writes
// the equalized float model to a file of its own, and analyses that model in a second study with the decisions in
// force, to tell what was gained. The study itself stays as it is.
#ifndef QTUI_ANALYSIS_EQUALIZING_H
#define QTUI_ANALYSIS_EQUALIZING_H

#include <stdatomic.h>
#include "qtui/analysis/background.h"
#include "qtui/analysis/study.h"

// equalize_reach for the study's graph on the samples `d`, with workers of its own; may be called from any thread.
// STATUS_CANCELLED: `cancel`, which may be NULL, was set. The caller frees it with equalize_reach_free.
MUST_CHECK enum status study_reach(double ***out, const struct study *s, const struct dataset *d, bool sums, const atomic_bool *cancel,
    struct error *err);

struct equalizing;
struct equalizing_wish {
	const char *path;               // of the model that is written, where nothing is yet; NULL: only look
	bool sums;                      // factors pass Add and Sub too
	bool weights;                   // by weights alone, as PPQ equalizes; else by how far channels reach on the calibration samples
	bool quark;                     // by weights alone, as AMD Quark equalizes: `sums` is refused beside it
};
struct equalizing_result {
	int groups, nodes;              // groups of tensors that share factors; nodes whose weights change
	int untuned;                    // nodes whose tuned weights the new model does not have, since they fit this model's scales
	bool written;
	bool measured;                  // false: nothing was written that could be measured
	struct run_note now, equalized; // the figures of the study when it began, and of the new model
};
// STATUS_REFUSED: there is a file at the path already.
MUST_CHECK enum status equalizing_start(struct equalizing **out, struct study *st, const struct equalizing_wish *wish, struct error *err);
struct background *equalizing_background(struct equalizing *j);
const char *equalizing_path(const struct equalizing *j); // as given
// What it found, when it is over.
MUST_CHECK enum status equalizing_end(struct equalizing_result *out, const struct equalizing *j, struct error *err);
void equalizing_free(struct equalizing **j); // cancels and waits

#endif
