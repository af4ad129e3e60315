// A snapshot: all figures at one moment, immutable after publication and reference-counted. Whoever takes one may
// read it from any thread until snapshot_drop; nothing in it is ever written again. Not-known figures have `known ==
// 0` (never 0 or NaN).
#ifndef QTUI_ANALYSIS_SNAPSHOT_H
#define QTUI_ANALYSIS_SNAPSHOT_H

#include <stdatomic.h>
#include "qtui/base/error.h"
#include "qtui/engine/plan.h"
#include "qtui/engine/stats.h"
#include "qtui/analysis/blame.h"
#include "qtui/analysis/task_look.h"

// Counts over the float tensor's [min, max]; immutable, reference-counted, shared by snapshots.
struct hist {
	atomic_int refs;
	float lo, hi;
	uint32_t bin[STATS_BINS];
};
struct hist *hist_take(struct hist *h);
void hist_drop(struct hist **h);
// Sums neighbouring bins into out[n]: each fine bin is counted where its centre lies, for any n.
void hist_shrink(const struct hist *h, uint64_t *out, int n);
// The share (0..1) of the values between `above` and `below`, each taken as the middle of its bin.
double hist_share(const struct hist *h, double above, double below);

struct figures {
	int known;             // samples that the figures are over; 0: not known
	struct metrics pooled; // over all elements of all samples
	double nsr_mean;       // PPQ's: mean of the samples' ratios
	double cosine_mean;
	float min, max;        // of the quantized tensor
};
// Decibels as sentences and columns show them: what a tenth of one rounds to 0 is 0, never -0.0.
double shown_db(double db);
// An end of a range as sentences and columns show it, in four digits or as a whole number;
// returns out. What is not 0, but less than half a step of 16 bit over the range, reads "~0":
// no grid tells them apart, and 1.49e-19 beside 0.938 only looks like news.
enum { RANGE_END = 16, RANGE_TEXT = 2 * RANGE_END + 8 };
char *range_end(char out[RANGE_END], double end, double other);
char *range_text(char out[RANGE_TEXT], double min, double max, const char *between); // "~0 .. 0.938" with " .. "
// The pooled SNR in shown decibels: INFINITY when exact, NAN when not known.
double figures_snr(const struct figures *f);
// Whether f has less SNR. What is no number is worst; what is not known is never worse.
bool figures_worse(const struct figures *f, const struct figures *than);
// The same for qsort: below 0 where `a` comes before `b` in a list that begins with the worst.
int figures_order(const struct figures *a, const struct figures *b);

enum site_kind { SITE_OUTPUT, SITE_INPUT, SITE_WEIGHT, SITE_FLOAT };
// A place where a quantizer acts, and the figures of the tensor there: an output of a node (of a fused group: that at
// its end), a parameter, or an input that is quantized again for a wider node. SITE_FLOAT is the output of a node that
// was left in float by decision: no quantizer acts, and its graphwise figures are the noise that it passes on. It has
// bits 0, no scale, and no layerwise figures.
struct site {
	enum site_kind kind;
	int node, slot, value;        // ids in the graph and the plan of the snapshot
	enum slot_state state;        // SLOT_ACTIVE, SLOT_PASSIVE, SLOT_OVERLAPPED (shared), SLOT_FLOAT
	int follows;                  // value id of the tensor whose scale is shared; -1
	bool locked;                  // the user's scale
	int bits, axis, n_scale;      // bits 0: float
	const float *scale;           // arrays live as long as the snapshot
	const int32_t *zero;
	int64_t qmin, qmax;
	struct figures graphwise;     // everything upstream quantized too
	struct figures layerwise;     // this node alone
	struct figures before;        // graphwise of the run before the last edit, where that had the same samples
	struct tensor_range range;    // of the float tensor; n == 0: not known
	struct hist *hist_float, *hist_quant; // NULL: not known. The same edges
	double used_levels;           // distinct codes / codes available; < 0: not known
};
// Does the node make this tensor (else it reads it)?
static inline bool site_is_made(const struct site *s)
{
	return s->kind == SITE_OUTPUT || s->kind == SITE_FLOAT;
}
struct node_row {
	int n_sites, first_site;      // in snapshot.site; the node's outputs first, quantized or left in float, as far as they have figures
	enum precision precision;     // effective
	int requested;                // enum precision of the edit, or -1
	int calibrator;               // enum calib_method of the edit, or -1: the snapshot's
	bool edited;                  // an edit sets its precision, its calibrator, or the scale of one of its outputs or of
	                              // an input of the network that it reads
	int fused_into;               // node id of the group that shows this node's figures, -1: itself
	const char *refused;          // reason, or NULL
	bool quantizable;
	bool pending;                 // an edit reaches this node and its figures are not computed yet
	int64_t macs;
};
enum stage { STAGE_IDLE, STAGE_LOAD, STAGE_CALIBRATE, STAGE_MEASURE, STAGE_TASK, STAGE_DONE, STAGE_CANCELLED, STAGE_FAILED };
const char *stage_name(enum stage s);

struct run_note { // one line of the history of runs
	int number;                   // from 1, counted through all sittings of a session
	bool earlier;                 // from an earlier sitting: the figures are what was measured then
	double when;                  // seconds since 1970
	char target[TARGET_NAME];
	enum calib_method method;
	int n_edits;
	struct key decision, samples; // what was decided, and the samples that it was measured on
	char title[112];              // of the first run "3 edits, esp32p4 kl"; of others the last step before it, and how many steps are new
	double out_snr_db;            // worst graph output, NAN: not known
	double mean_snr_db;           // mean of the decibels of all nodes that are not exact; NAN: not known
	double seconds;
	int computed, total;          // node results computed / needed: shows what the memo saved
	char task_name[12];           // "AP", "top1" ...
	double task_float, task_quant; // NAN: not known
	bool has_task_change;
	struct task_interval task_change; // against the run before
};
struct timing {
	double load_s, calibrate_s, graphwise_s, layerwise_s, total_s, task_s, peak_rss_mb; // total_s: without the task (and a survey: findings.h)
};
struct snapshot {
	atomic_int refs;
	const struct graph *g;        // outlives all snapshots (owned by the study)
	uint64_t generation;          // of the edits that it shows
	enum stage stage;
	double progress;              // 0..1 of the stage's work
	double seconds, left;         // since the run began; estimated rest of the stage, < 0: not known
	double rate;                  // samples a second in this stage; 0: not known
	int samples_done, samples;
	int left_out;                 // files beside the samples that cannot be read as pictures (data.h)
	struct error error;           // when stage is STAGE_FAILED
	char target[TARGET_NAME];
	enum calib_method method;
	int n_edits;
	bool dirty;                   // edits that no run has shown yet
	int n_rows;
	struct node_row *row;         // [g->n_nodes]
	double *scale_requested;      // [g->n_values] by edits; 0: none
	int32_t *zero_requested;      // [g->n_values] with it; ZERO_FOLLOWS: none
	int n_sites;
	struct site *site;
	int n_outputs;
	struct figures *output;       // [g->n_outputs] graphwise of the network's outputs
	int n_runs;
	struct run_note *run;         // oldest first
	struct timing timing;
	struct task_report *task;     // NULL: not known
	bool task_old;                // it was measured before an edit that changes the outputs
	bool task_calibrated;         // it is measured on the same samples as the calibration
	struct key task_network;      // of the report's quantized network: a look with this key is as new as the report
	struct task_look *look;       // the sample that was asked for last (study_look); NULL: none
	struct channels *channels;    // of the tensor that was asked for last (study_channels); perhaps of another decision
	struct key decision;          // target, calibration, edits, how pictures are prepared
	int preparation;              // how pictures are prepared: a number that the study gives each way; 0: as it was opened
	struct findings *findings;    // of this decision (findings.h); they are ready after the figures. NULL: not known yet
	struct story *story;          // of all these figures and findings (story.h); NULL: not told yet
	struct blames *blames;        // NULL: not known
	bool blames_old;              // they were measured under another decision
	struct costs *costs;          // of the nodes at each width (cost.h)
	char task_problem[sizeof ((struct error *)0)->text]; // why `task` is NULL although there are labels or a task was asked for; "": no reason
	bool task_asked;              // that is a task which the user asked for, not labels that were found beside the samples
	unsigned task_wish;           // the number of the wish (study_set_task) that the problem is about
	int64_t macs[PREC_COUNT];     // multiply-accumulates by precision
	int computed, total;          // node results computed / needed in this run
	void *priv;                   // arrays, the plan, histograms; NULL: none of these
};
struct snapshot *snapshot_take(struct snapshot *s);
void snapshot_drop(struct snapshot **s);
// All figures of the run are there: it is done, or measures the task.
bool snapshot_complete(const struct snapshot *s);
// "32 samples", or "31 samples (1 left out)"; returns out.
const char *snapshot_samples(const struct snapshot *s, char *out, size_t size);
// The plan that a run ended with; lives as long as the snapshot. NULL: none has ended yet.
const struct plan *snapshot_plan(const struct snapshot *s);
// The SNR of the worst output in dB; NAN: none is known.
double snapshot_worst_output(const struct snapshot *s);
// The output of a node whose figures stand in its row: of several the one with the least SNR, the first where none is
// known. NULL: the node has none, or what it makes has no figures.
const struct site *snapshot_made(const struct snapshot *s, int node);
// The same, if it is quantized; NULL: it is not.
const struct site *snapshot_output(const struct snapshot *s, int node);
// The tensor (a value id) that a scale for the tensor of the site is given to: the tensor itself, or what its node
// makes where other nodes are fused to it, or an input of the network; -1: parameters, and tensors that are read on
// another scale than they have, keep theirs.
int snapshot_scalable(const struct snapshot *s, const struct site *site);
// For a mean that only additions and subtractions read: the mean's noise over the signal of such a sum, of several sums
// the largest. A normalization that is written out in single operators has such a mean: it is nearly zero on the grid
// of the tensor it is taken from, so that its own SNR is bad but does no harm. NAN: it is no such mean, or not known.
double snapshot_mean_in_sums(const struct snapshot *s, const struct site *mean);

#endif
