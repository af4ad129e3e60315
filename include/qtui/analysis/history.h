// The history of runs: a line for each, and the figures of its nodes, so that any two can be compared, also those of
// earlier sittings of a session. A record owns a count of its nodes, which are immutable.
#ifndef QTUI_ANALYSIS_HISTORY_H
#define QTUI_ANALYSIS_HISTORY_H

#include "qtui/analysis/preprocess.h"
#include "qtui/analysis/snapshot.h"

// What a run said of each node of the graph, and behind them of each further output (run_further); arrays are [n].
struct run_nodes {
	atomic_int refs;
	int n;
	float *snr_db;          // graphwise, of the output: INFINITY exact, NAN not known
	float *scale;           // of the output's quantizer; 0: none
	signed char *precision; // enum precision; -1: another node shows its figures, or not known
};
// What was decided when it ran, so that one can go back there. Immutable and reference-counted.
struct run_state {
	atomic_int refs;
	struct edits *edits;     // the user's own
	char target[TARGET_NAME];
	enum calib_method method;
	struct way way;
};
struct run_record {
	struct run_note note;
	struct run_nodes *nodes; // NULL: not kept
	struct run_state *state; // likewise
};
int *run_further(const struct graph *g, int *n); // the further outputs of nodes, in their order: value ids, heap
struct run_state *run_state_take(struct run_state *s); // NULL is NULL
void run_state_drop(struct run_state **s);
struct run_record run_record_take(const struct run_record *r);
void run_record_done(struct run_record *r);
// A record of what a snapshot shows; its note has no number.
struct run_record run_record_of(const struct snapshot *s);

// A history keeps this many runs, and nodes and states of the newest of them while there are at most so many nodes in
// all.
enum { HISTORY_KEPT = 500, HISTORY_NODES_KEPT = 100000 };
struct history {
	struct run_record *at;  // oldest first: those of earlier sittings, then this one's
	size_t n, cap;
};
void history_done(struct history *r);
// Takes the record over and numbers it. A sitting that begins with what the last one ended with goes on with that run.
void history_add(struct history *r, struct run_record *record);
const struct run_record *history_find(const struct history *r, int number); // NULL: there is none
// The latest run of a decision on these samples, preferably one with the figures of its nodes; NULL: none.
const struct run_record *history_of(const struct history *r, struct key decision, struct key samples);

// The history in a session file. Loading puts the runs in the file, which are of earlier sittings, before those of this
// one, without runs that are there already.
struct study;
struct cJSON *history_json(const struct history *r, const struct graph *g /* of the states */);
MUST_CHECK enum status history_load(struct history *r, const struct study *s, const struct cJSON *list, struct error *err);

#endif
