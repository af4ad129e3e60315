// Blame: what each quantizer alone does to the network's result (docs/REPAIR.md). Found by repair_blame, shown by snapshots, kept in
// sessions. Immutable once published and reference-counted. Figures are NAN where they were not measured.
#ifndef QTUI_ANALYSIS_BLAME_H
#define QTUI_ANALYSIS_BLAME_H

#include <stdatomic.h>
#include <stdbool.h>
#include "qtui/base/hash.h"

struct graph;
struct cJSON;

// What is saved: of the damage, in dB at the worst output, of the task metric.
struct blame_gain {
	double damage, snr_db, score;
};
// A quantized tensor (with all slots that share its scale), or the constants of a node; or, where the time did not suffice to tell
// them apart, a run of such parts in the order of execution.
struct blame {
	int node, last_node;   // who makes it; of a run: of its first and last part
	int value;             // the tensor; -1: the constants of `node`, or a run
	bool run;
	int parts;
	double alone;          // damage when it alone is quantized
	double score_loss;     // of the task metric, likewise
	struct blame_gain in_float; // when it alone is not quantized
	struct blame_gain in_wide;  // when it has 16 bit with its maker and readers (float, where the target has no 16): an edit
	double wide;           // share of the MACs that go above 8 bit with that edit
	double cost;           // time that a board takes more for it, beside all at 8 bit; NAN: no times were known
};
// All constants quantized and no tensor, or all tensors and no constant.
struct blame_half {
	double damage, snr_db; // of the worst output
	double score_loss;     // of the task metric
};
struct blames {
	atomic_int refs;
	struct key decision;   // target, calibration and edits that it is of
	struct blame *at;      // the most harmful first
	int n;
	int *of_node, n_nodes; // [n_nodes] the most harmful one that the row of a node stands for; -1: none, or part of a run
	double total, total_score, float_score; // damage and task metric with everything quantized, and of the float network
	struct blame_half weights, activations;
	char task[12];         // "AP"; "": no task was measured
	bool complete;         // nothing of weight is left unsplit
};
// Parts that do no more than this together are not told apart: there is nothing to blame them for.
#define BLAME_LEAST 1e-7
struct blames *blames_take(struct blames *b);
void blames_drop(struct blames **b);
// What the edit to 16 bit gains for each hundredth of the MACs, or of a board's time: of the task metric where that is known, else of the
// damage. Work without MACs is not free: it counts as half a hundredth.
double blame_worth(const struct blame *b);
bool blames_are_timed(const struct blames *b); // in a board's time
// The chief figure of a gain: of the task metric where one was measured, else of the damage.
double blames_gain(const struct blames *b, const struct blame_gain *g);

// "weights 0.1203 (24.1 dB), activations 0.7600 (9.3 dB)": the damage of each quantized alone. Empty: not measured.
struct str;
void blames_halves(struct str *out, const struct blames *b);
// In a session, by the names of nodes and tensors. NULL when it is malformed or of another model.
struct cJSON *blames_json(const struct blames *b, const struct graph *g); // the caller deletes it
struct blames *blames_parse(const struct cJSON *j, const struct graph *g);

// "constants of A", "3 parts, A to B", "2 parts of A": where it is.
void blame_name(struct str *out, const struct blame *b, const struct graph *g);

#endif
