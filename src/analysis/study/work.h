// Private to src/analysis: one run of the analysis: the plan, its sites and where their figures are kept.
#ifndef QTUI_ANALYSIS_WORK_H
#define QTUI_ANALYSIS_WORK_H

#include "../measure/figures.h"
#include "qtui/base/jobs.h"
#include "qtui/base/thread.h"
#include "qtui/analysis/study.h"
#include "qtui/engine/run.h"

// A plan shared by the run that made it and the snapshots that show it.
struct shared_plan {
	atomic_int refs;
	struct plan *plan;
	struct target *target;      // a plan borrows its target
};
struct shared_plan *shared_plan_take(struct shared_plan *p);
void shared_plan_drop(struct shared_plan **p);

// What a site's figures are computed from and where they go.
struct site_work {
	struct site site;           // what does not change during the run
	struct figure *graphwise, *layerwise;
	struct range_memo *range;
	struct hist_memo *hist_float, *hist_quant;
};
struct output_work {
	int value;
	struct figure *graphwise;
};

// What one run is asked to do; copied from the study under its lock.
struct run_state;
struct request {
	uint64_t generation;
	struct edits *edits;        // effective: truncation included
	struct run_state *state;    // what was decided
	char target[TARGET_NAME];
	enum calib_method method;
	int n_edits;
	struct key decision;
	int preparation;
	char step[80];              // the command that led here, shortened; "": none
	int steps;                  // of the history that are in force
};

struct study;
struct work {
	struct study *study;
	struct request req;
	struct shared_plan *shared;
	struct plan *plan;
	int samples;                // of this round: 1 for the provisional figures, then all
	int total_samples;
	bool look;                  // the first of all rounds, to be quick: large tensors are counted in part, no node runs alone
	struct key *key[SIM_COUNT]; // [n_values]
	struct site_work *site;
	int n_sites;
	int *first_site;            // [n_values + 1] sites of value v: site_at[first_site[v]] .. site_at[first_site[v + 1] - 1]
	int *site_at;
	struct output_work *output; // [g->n_outputs]
	struct output_work **output_of; // [n_values] NULL: no output. One that is there twice has one figure.
	struct lack *lack;          // [threads] scratch of measure.c
	atomic_long done;           // steps finished in this stage
	long total_steps;           // steps of this stage over all samples
	atomic_int computed, reused;
	atomic_long busy_ns[SIM_COUNT];
	atomic_long publish_ms;     // not before this time
	struct task_gather *gather; // of the task, which reads the outputs that are measured; NULL: none
	struct task_report *task;   // to be shown; under study.publishing
	bool task_old;              // it is of another plan
	struct snapshot *shown;     // what it has published last; under study.publishing
	double began, stage_began;
	enum stage stage;
	struct timing timing;
};

bool work_knows_scales(struct work *w); // of all w->samples: nothing has to be observed
enum status work_calibrate(struct work *w, struct error *err); // plan_new .. plan_finish
void work_sites(struct work *w);                              // lists the sites of the finished plan
// Every element of input 0 goes to another place, or every element of all inputs does (Concat): of so many.
bool node_rearranges(const struct node *n);
int node_data_inputs(const struct node *n);
enum status work_measure(struct work *w, struct error *err);
enum status work_measure_weight(struct work *w, struct site_work *sw, struct stats_scratch *scratch, struct error *err);
void work_reset(struct work *w);                              // frees plan and sites
// Marks tensors that nodes compute and in which nothing is finite, as observers of the finished plan have found:
// unranged[n_values], which is false everywhere. Returns how many there are.
int work_unranged(bool *unranged, const struct plan *p);
// Warns, once a study, of tensors that have no range as nothing in them is finite, and of the tensor of the float network
// where numbers stop being finite, upstream of these and of this output of the network (-1: all are finite). Where that
// output is finite there, of the tensor of the quantized network, of each plan.
void work_tell_nonfinite(struct work *w, int output);
void work_publish(struct work *w, const struct error *failed); // builds a snapshot and gives it to the study
void work_tick(struct work *w);                               // publishes if the last time is long enough ago; from workers

#endif
