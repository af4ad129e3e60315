// A study: one model under one set of samples, with the user's edits, their history, and the engine that computes figures in the
// background. The study owns graph, samples, memo and threads. Its functions are called from one thread (the UI's or the
// batch verb's); only the snapshots cross threads. No function here computes: edits return at once, study_run starts the work.
#ifndef QTUI_ANALYSIS_STUDY_H
#define QTUI_ANALYSIS_STUDY_H

#include "qtui/analysis/snapshot.h"
#include "qtui/engine/data.h"
#include "qtui/engine/kernel.h"
#include "qtui/engine/run.h"

// What the task is measured on, and how. What is NULL is found: labels beside the samples, the kind from labels and model.
// With nothing given, labels beside the calibration samples make these be measured; else all labelled samples of `data` (NULL: of
// the calibration's directory) are.
struct task_wish {
	const char *data, *labels, *decoder, *kind;
	double iou;                    // of NMS: 0 the decoder's own, < 0 none
	bool none;                     // nothing is measured
};
// What a task is opened with; its texts are the wish's. A kind that is none is as one that is not given.
struct task_options task_wish_options(const struct task_wish *w);
struct study_options {
	const char *model, *calib;     // paths; calib may be NULL with data.random
	const char *target;            // name or file; NULL: "esp32p4"
	int method;                    // enum calib_method, or -1: the target's default
	struct dataset_options data;   // samples 0 means 32
	enum kernel_backend backend;
	int threads;                   // 0: all
	size_t memory;                 // bytes; 0: half of what is free
	bool skip_layerwise;
	bool batch;                    // one run that nobody watches: there is no first look at one sample, and nothing is kept for edits
	bool calibrate_only;           // a run ends when the plan has its scales: no figures, and no task but what is asked for
	struct task_wish task;
	const char *const *truncate;   // tensors behind which everything stays in float
	int n_truncate;
};
struct study;
MUST_CHECK enum status study_open(struct study **out, const struct study_options *opt, struct error *err);
void study_close(struct study **s); // cancels and waits
void study_yield(struct study *s); // what computes lets the caller go first: for a screen

const struct graph *study_graph(const struct study *s);
const struct dataset *study_dataset(const struct study *s); // the calibration samples, prepared as is in force; lives as long as the study
const struct study_options *study_options(const struct study *s); // as resolved (target, method, threads, memory)
const struct target *study_target(const struct study *s);

// SELECTION: a node name (the file's or fused), a glob, op:TYPE, A..B (all nodes on paths from A to B), "marked" (the caller gives
// the marks). Writes node ids in order to *out (heap). STATUS_NOTFOUND names the nearest known.
MUST_CHECK enum status study_select(const struct study *s, const char *selection, const bool *marked, int **out, int *n, struct error *err);

// A tensor that a node makes, as scales are given to it: by the node for its first output, else by its own name, before
// which STUDY_TENSOR stands where a node has the same name. STATUS_REFUSED: an input of the network or a parameter.
#define STUDY_TENSOR "tensor:"
MUST_CHECK enum status study_find_output(int *value, const struct graph *g, const char *name, struct error *err);
// SELECTION as such a name, or as nodes whose first outputs are meant: value ids (heap).
MUST_CHECK enum status study_select_outputs(const struct study *s, const char *selection, const bool *marked, int **out,
    int *n, struct error *err);

// Edits: each call is one step of the history (one undo). `refused` (may be NULL) counts nodes that the target refuses, with the
// reason of one in err->text; when all are refused nothing changes and the status is STATUS_REFUSED. An edit that changes nothing
// says so in err->text with STATUS_OK and none refused, and adds no step.
MUST_CHECK enum status study_set(struct study *s, const int *nodes, int n,
    int precision /* -1: the target's choice */, int *refused, struct error *err);
struct scale_edit {
	int value;    // that a node makes
	double scale; // 0: auto
};
MUST_CHECK enum status study_scales(struct study *s, const struct scale_edit *e, int n, struct error *err); // in one step
// One scale for many tensors, in one step; refusals as study_set counts them.
MUST_CHECK enum status study_scale_all(struct study *s, const int *values, int n, double scale, int *refused,
    struct error *err);
MUST_CHECK enum status study_set_target(struct study *s, const char *name, struct error *err);
MUST_CHECK enum status study_set_method(struct study *s, enum calib_method m, struct error *err);
// How pictures are prepared from now on: options as of the command line, beside what is in force, or "auto": as the study was opened.
MUST_CHECK enum status study_preprocess(struct study *s, char **word, int n, struct error *err);
// Tuned weights that the study knows (a repair made them, or a session brought them), by name; "auto": the model's own.
MUST_CHECK enum status study_tune(struct study *s, const char *name, struct error *err);
bool study_undo(struct study *s);
bool study_redo(struct study *s);
const struct edits *study_edits(const struct study *s);

// The history: steps oldest first; text as a `:` command would say it ("set /model.24/m.0/Conv int16").
int study_steps(const struct study *s, int *current); // number of steps; *current: how many of them are in force
const char *study_step(const struct study *s, int i);
// A step in about so many bytes: of many nodes the first, and how many more.
struct str;
void study_add_step(struct str *out, const char *step, int room);
// Applies one step given as its text.
MUST_CHECK enum status study_command(struct study *s, const char *text, struct error *err);
// "2^-4", a positive number, or "auto" (0).
bool scale_parse(const char *text, double *out);
enum { SCALE_TEXT = 40 };
// "2^-4", else so many digits; returns out.
char *scale_text(char out[SCALE_TEXT], double scale, int digits);
bool scale_exponent(double scale, int *out); // true: 2^*out
// Rebuilds the history from commands (of a session file): applies each, then steps back to `current`.
MUST_CHECK enum status study_restore(struct study *s, const char *const *command, int n, int current, struct error *err);

// For the next run.
void study_set_task(struct study *s, const struct task_wish *wish);
const struct task_wish *study_task_wish(const struct study *s);
// Asks for a sample of the task's data with its picture: it comes as snapshot.look, and again when more is known of it.
void study_look(struct study *s, int sample);
// Asks for the channels of the tensor at which the quantizer of a site (site.slot) acts: between runs they come as snapshot.channels, and
// again as more samples are gone through. A newer wish, or a run, ends the gathering; nothing comes before a run has ended.
void study_channels(struct study *s, int slot);
bool study_gathering(const struct study *s); // they are still to come, if no run is in the way; no part of study_running

// Variants: states of the decisions that have a name (one word), kept in sessions. A new name is given to the state in force (*made); a
// known one brings its state back, as one step of the history. A number brings back what was decided in that run.
MUST_CHECK enum status study_variant(struct study *s, const char *name, bool *made, struct error *err);
int study_variants(const struct study *s);
const char *study_variant_name(const struct study *s, int i);
struct cJSON *study_save_variants(const struct study *s);
MUST_CHECK enum status study_load_variants(struct study *s, const struct cJSON *variants, struct error *err);
// The figures of a variant's last run, of a run by its number, or of what is in force ("now"); the caller is done with them.
struct run_record;
MUST_CHECK enum status study_figures(struct run_record *out, struct study *s, const char *what, struct error *err);

void study_run(struct study *s);    // starts, or restarts with the newest edits; returns at once
void study_cancel(struct study *s); // figures computed so far stay
MUST_CHECK enum status study_wait(struct study *s, struct error *err); // until the run is over; its error
bool study_running(const struct study *s);
int study_fd(const struct study *s); // readable when a newer snapshot is there; study_snapshot empties it
struct snapshot *study_snapshot(struct study *s); // the newest; the caller drops it. Never NULL after study_open
// As engine_infer, under the plan of the last finished run; blocks.
MUST_CHECK enum status study_infer(struct study *s, const struct inference *q, struct error *err);
// What has been computed, to be kept in a session and put back before anything has run (keys -> figures). The end of a
// save needs no more of the study than that it is not closed, and may run in another thread.
struct results_save *results_save_begin(const struct study *s);
struct cJSON *results_save_end(struct results_save **r); // also frees r; the caller deletes what it returns
void results_save_free(struct results_save **r);         // of a save that nobody wants any more
// Takes the results over. They are there for the next run: study_wait waits for it.
void study_load_results(struct study *s, struct cJSON *results);

// The sum of an edit before it is made: predicted figures of a site if its scale were `scale`, from the float histogram alone.
struct prediction {
	double snr_db, clipped, step;
	bool known;
};
struct prediction study_predict_scale(const struct snapshot *snap, int site, double scale);
// The same for any histogram of floats and any grid.
struct prediction hist_predict(const struct hist *h, double scale, double zero, int64_t qmin, int64_t qmax);

// What a repair has found out: shown by the snapshots from now on, and kept in sessions.
void study_set_blames(struct study *s, struct blames *b);

// Times that a board has measured (latency.h): costs are counted in them from now on, and the session names the file. NULL: no more.
struct latency;
void study_set_latency(struct study *s, struct latency *l); // counted
const struct latency *study_latency(const struct study *s);

// What findings know of the samples (survey.h); the study takes it over and looks for findings again: study_wait waits for them.
struct survey;
void study_set_survey(struct study *s, struct survey *v);
const struct survey *study_survey(const struct study *s); // NULL: none was made of pictures that are prepared as now

#endif
