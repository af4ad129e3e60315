// Cross-layer equalization of a study's model (equalize.h) in the background: what can be equalized, the float model that comes of it in a
// file of its own, and what that buys: it is analysed as the study decides now, in a study beside it. The study itself stays as it is.
#ifndef QTUI_ANALYSIS_EQUALIZING_H
#define QTUI_ANALYSIS_EQUALIZING_H

#include <stdatomic.h>
#include "qtui/analysis/background.h"
#include "qtui/analysis/study.h"

// How far the channels reach on the samples d of the study, as equalize_reach has it, with workers of its own; from any thread.
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
	int groups, nodes;              // of tensors; whose weights change
	int untuned;                    // nodes with tuned weights in force: they fit the scales of this model and are not in the other
	bool written;
	bool measured;                  // else there was nothing to write, or nowhere
	struct run_note now, equalized; // of the study as it began, of the file
};
// A path where something is is refused.
MUST_CHECK enum status equalizing_start(struct equalizing **out, struct study *st, const struct equalizing_wish *wish, struct error *err);
struct background *equalizing_background(struct equalizing *j);
const char *equalizing_path(const struct equalizing *j); // as given
// What it found, when it is over.
MUST_CHECK enum status equalizing_end(struct equalizing_result *out, const struct equalizing *j, struct error *err);
void equalizing_free(struct equalizing **j); // cancels and waits

#endif
