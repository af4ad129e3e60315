// What accuracy costs: the states that a repair has looked at, none of which is beaten by another in cost and in damage. Immutable, shared
// by count. In the order of cost, behind the first, which is the state that the repair began from, beaten or not. What earlier repairs
// have measured on the same basis is among them.
#ifndef QTUI_ANALYSIS_FRONTIER_H
#define QTUI_ANALYSIS_FRONTIER_H

#include "qtui/analysis/repair.h"

enum { FRONTIER_EARLIER = -1 };
struct repair_state {
	// remedies that lead there from the first; 0: it is the first; FRONTIER_EARLIER: an earlier repair has measured it
	int steps;
	struct repair_figures figures; // score NAN: the task was not asked
	bool as_run;                   // with the scales that its own run has; else with those of other states: an estimate
	struct edits *edits;           // with what the study's options add (truncation); the frontier's own
	enum calib_method method;
};
// What the figures depend on beside the model and the decisions of the states.
struct frontier_basis {
	char target[256];
	struct key samples;            // of the calibration, as they are prepared
	struct key times;              // of a board; zero: MACs are counted
	char task[12];                 // "AP"; "": none was measured
	struct key labels;             // and samples of the task; zero: none
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
// Makes it so, in one step of the history: as a variant that is named after its cost. STATUS_REFUSED for another target.
MUST_CHECK enum status frontier_apply(const struct frontier *f, int i, struct study *s, struct error *err);

// The one that a study keeps, in its sessions too: of the latest repair. NULL: none yet. Functions of the study's thread.
void study_set_frontier(struct study *s, struct frontier *f); // counted
struct frontier *study_frontier(const struct study *s);
// Why its figures are none of what the study measures now: "other samples, or prepared otherwise". NULL: they are.
const char *frontier_stale(const struct frontier *f, const struct study *s);

#endif
