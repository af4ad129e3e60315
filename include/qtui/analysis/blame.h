// Blame: what each quantizer alone does to the network's result (docs/REPAIR.md). Found by repair_blame, shown by
// snapshots, kept in sessions. Immutable once published and reference-counted. Figures are NAN where they were not
// measured.
#ifndef QTUI_ANALYSIS_BLAME_H
#define QTUI_ANALYSIS_BLAME_H

#include <stdatomic.h>
#include <stdbool.h>
#include "qtui/base/hash.h"

struct graph;
struct cJSON;

// What a change saves or gains: damage (repair.h), dB at the worst output, the task metric.
struct blame_gain {
	double damage, snr_db, score;
};
// A part of what is quantized, and what it does: one tensor (with all slots that share its scale), or the constants of
// one node; or, where there was no time to tell such parts apart, a run of them in the order of execution.
struct blame {
	int node, last_node;   // the node that makes it; of a run: those of its first and last part
	int value;             // the tensor; -1: the constants of `node`, or a run
	bool run;
	int parts;             // how many parts it stands for
	double alone;          // damage when it alone is quantized
	double score_loss;     // of the task metric, likewise
	struct blame_gain in_float; // if it alone stayed in float
	struct blame_gain in_wide;  // if it went to 16 bit with the nodes that make and read it (to float where the target has no 16 bit)
	double wide;           // that edit's share of the MACs that go above 8 bit
	double cost;           // the time that it adds on a board, as a share of everything at 8 bit; NAN: no times were known
};
// All constants quantized and no tensor, or all tensors and no constant.
struct blame_half {
	double damage, snr_db; // of the worst output
	double score_loss;     // of the task metric
};
struct blames {
	atomic_int refs;
	struct key decision;   // target, calibration and edits under which it was measured
	struct blame *at;      // the most harmful first
	int n;
	int *of_node, n_nodes; // [n_nodes] index in at[] of the most harmful part that belongs to the node; -1: none, or in a run
	double total, total_score, float_score; // damage and task metric with everything quantized, and of the float network
	struct blame_half weights, activations;
	char task[12];         // "AP"; "": no task was measured
	bool complete;         // every run that does harm has been split
};
// A run of parts whose damage together is at most this is not split further.
#define BLAME_LEAST 1e-7
struct blames *blames_take(struct blames *b);
void blames_drop(struct blames **b);
// What the edit to 16 bit gains for each hundredth of the MACs, or of a board's time, that it costs: in the task metric
// where that is known, else in damage. An edit without MACs is not free: half a hundredth is added to every cost.
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
