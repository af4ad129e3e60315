// Findings: what is wrong with a quantized network and why, read from a finished snapshot. A finding is made only
// where figures support it; a healthy network has none. They own their texts and borrow nothing but the graph's ids:
// they outlive the snapshot.
#ifndef QTUI_ANALYSIS_FINDINGS_H
#define QTUI_ANALYSIS_FINDINGS_H

#include "qtui/analysis/study.h"

#define FINDING_EVIDENCE 8

enum finding_rule {
#define RULE(id, ...) FINDING_##id,
#include "qtui/analysis/findings.def"
#undef RULE
	FINDING_RULES
};
struct evidence {
	const char *name;         // a phrase with its unit: "step", "clipped share"
	double value;
};
struct finding {
	enum finding_rule rule;
	int *node, n_nodes;       // what it is about, the chief one first; none: the whole run
	char *text;               // one sentence with the numbers
	char *advice;             // what to do, in words
	char *edit;               // the same for study_command; NULL: no edit mends it
	struct evidence evidence[FINDING_EVIDENCE];
	int n_evidence;
	double gain_db;           // expected at this tensor; NAN: not known
	double damage;            // noise over signal that arises here
	double part;              // of what the first node makes, what this is about: 1, or the part of one input or of the bias
	double share;             // of the noise that all nodes make alone: what the edit can take away; NAN: not about a node's noise
	double reach;             // of the noise at the outputs: what of it the edit is expected to take away; NAN: likewise
	double wide;              // share of the multiply-accumulates that the edit takes above 8 bit
	double worth;             // what it is ranked by, see findings_new
};
struct findings { // reference-counted, shared by snapshots
	atomic_int refs;
	struct finding *at;       // what brings most for its cost first
	int n;
	double noise;             // what the shares are of: the noise over signal of all nodes alone, and what only rules see
	bool *hidden;             // [nodes] the output holds masked logits, whose figures say nothing of the result; NULL: not known
	double survey_s;          // that the survey took (survey.h); 0: there was none
	bool surveyed;            // the preparation of the pictures was judged: without a finding about it, it is in order
};
// Runs all rules on a snapshot. A study does so after each of its runs (snapshot.findings). `study` gives options and
// samples; NULL (a snapshot from elsewhere): rules about them are left out. Figures that are not known yet support
// nothing, so that a snapshot of a run in progress has fewer findings. Returns NULL when the study was told to stop.
// Edits that widen nothing come first, by what they take away at the outputs (of what no node makes by `damage`), if that is
// a hundredth, and a twentieth of what any takes; then the others by the same over their cost.
struct findings *findings_new(const struct study *study, const struct snapshot *s);
struct findings *findings_take(struct findings *f);
void findings_drop(struct findings **f);
const char *finding_name(enum finding_rule r);  // "joined-ranges"
struct cJSON *findings_json(const struct findings *f, const struct graph *g); // the array of a report; the caller deletes it

#endif
