// What accuracy costs: of all states of the decisions that repairs have measured on the same basis, those that no other
// beats in both cost and damage. The first is the state that the latest repair began from, beaten or not; the others
// follow in the order of cost. Immutable and reference-counted.
#ifndef QTUI_ANALYSIS_FRONTIER_H
#define QTUI_ANALYSIS_FRONTIER_H

#include "qtui/analysis/repair.h"

enum { FRONTIER_EARLIER = -1 };
struct repair_state {
	int steps;                     // remedies that lead there from the first (itself: 0); FRONTIER_EARLIER: from an earlier repair
	struct repair_figures figures; // score NAN: the task was not measured
	bool as_run;                   // with scales calibrated for it; false: with those of other states, an estimate
	struct edits *edits;           // with what the study's options add (truncation); the frontier's own
	enum calib_method method;
};
// What the figures depend on beside the model and the decisions of the states.
struct frontier_basis {
	char target[TARGET_NAME];
	struct key samples;            // of the calibration, as they are prepared
	struct key times;              // of a board; zero: MACs are counted
	char task[12];                 // "AP"; "": none was measured
	struct key labels;             // and samples of the task; zero: none
	int noisiest;                  // the sample, from 1, that all repairs of this basis look at; 0: they are spread alone. Not compared
	bool boxes_and_points;         // by which damage is measured together, of a decoder of queries (docs/REPAIR.md)
};
struct frontier {
	atomic_int refs;
	struct repair_state *at;
	int n;                         // at least 1
	struct frontier_basis basis;
};
bool frontier_basis_equal(const struct frontier_basis *a, const struct frontier_basis *b);
struct frontier *frontier_take(struct frontier *f); // NULL is NULL
void frontier_drop(struct frontier **f);
// "16 nodes float, 33 int16, 9 scales": what differs from the first.
enum { FRONTIER_CHANGES = 120 };
const char *frontier_changes(char out[FRONTIER_CHANGES], const struct frontier *f, int i);
struct cJSON *frontier_json(const struct frontier *f, const struct graph *g); // for scripts; the caller deletes it
// Is this the state of the study's decisions?
bool frontier_is_in_force(const struct frontier *f, int i, const struct study *s);
// Brings the study to this state in one step of the history, as a variant that is named after its cost. STATUS_REFUSED:
// the state belongs to another target.
MUST_CHECK enum status frontier_apply(const struct frontier *f, int i, struct study *s, struct error *err);

// The frontier of the latest repair, which a study keeps, in its sessions too. NULL: none yet. Called from the study's
// thread.
void study_set_frontier(struct study *s, struct frontier *f); // takes a count of its own
struct frontier *study_frontier(const struct study *s);       // borrowed
// Why its figures cannot be compared with what the study measures now: "other samples, or prepared otherwise". NULL:
// they can.
const char *frontier_stale(const struct frontier *f, const struct study *s);

#endif
