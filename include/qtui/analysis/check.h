// A gate for scripts: conditions that the figures of a run must meet, in the words of a search's goal.
#ifndef QTUI_ANALYSIS_CHECK_H
#define QTUI_ANALYSIS_CHECK_H

#include "qtui/analysis/condition.h"
#include "qtui/analysis/snapshot.h"

// Limits; NAN where nothing is asked for. snr and cos are for every tensor where the network's result is read: its
// outputs, and for those behind a selection by value (TopK, NonMaxSuppression) what the selection reads.
struct check {
	double min_snr, min_cos;   // dB; pooled over all samples
	struct drops drop;         // agreement with the float network has no name here: it is no mAP
	double max_cost, max_wide, max_time; // as of struct repair_goal
};
extern const struct check check_nothing;
// "snr>20,cos>0.99"; limits given before stay.
MUST_CHECK enum status check_parse(struct check *c, const char *text, struct error *err);
// STATUS_FORMAT with one line that says, for every condition that is not met, which tensor is farthest from it and by
// how much. A figure that is not known does not meet its condition.
MUST_CHECK enum status check_snapshot(const struct check *c, const struct snapshot *s, struct error *err);

#endif
