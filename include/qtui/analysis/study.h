// A study: one model under one set of samples, with the user's edits, their history, and the engine that computes
// figures in the background. The study owns graph, samples, memo and threads. Its functions are called from one
// thread (the UI's or the batch verb's); only the snapshots cross threads. Edits return at once and study_run only
// starts the work. Those take their time that read files or run the network themselves: study_open, study_infer,
// study_preprocess, study_samples and the like.
#ifndef QTUI_ANALYSIS_STUDY_H
#define QTUI_ANALYSIS_STUDY_H

#include "qtui/analysis/snapshot.h"
#include "qtui/engine/data.h"
#include "qtui/engine/kernel.h"
#include "qtui/engine/onnx.h"
#include "qtui/engine/run.h"

// What the task is measured on, and how. Fields that are NULL are found: labels beside the samples, the kind from
// labels and model. With nothing given, the calibration samples are measured if there are labels beside them;
// otherwise all labelled samples of `data` (NULL: of the calibration's directory).
struct task_wish {
	const char *data, *labels, *decoder, *kind;
	const char *scorer;            // a command: the kind is TASK_SCORE then
	const char *boxes_by;          // a command that reads the boxes: the kind is TASK_DETECT then
	bool rests;                    // these commands come from a session: nothing is measured, as a file shall start no program
	double iou;                    // of NMS: 0 the decoder's own, < 0 none
	bool none;                     // nothing is measured
};
// What a task is opened with; it borrows the wish's texts. A kind with an unknown name counts as not given. Of a wish that
// rests, nothing but agreement.
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
	bool batch;                    // one run without a screen: no provisional figures of one sample, and no tensors kept for edits
	bool calibrate_only;           // a run ends when the plan has its scales: no figures, and a task only where one is asked for
	bool no_task;                  // none is opened or measured, whatever `task` says, which sessions keep
	struct task_wish task;
	const char *const *truncate;   // tensors behind which everything stays in float
	int n_truncate;
	const char *truncate_in;       // the file that names them, for errors while the study is opened; NULL: an option
	const struct onnx_input_shape *shape; // of inputs that the model leaves open; those of the samples win
	int n_shapes;
};
struct study;
MUST_CHECK enum status study_open(struct study **out, const struct study_options *opt, struct error *err);
void study_close(struct study **s); // cancels and waits
void study_yield(struct study *s); // the computing threads get a lower priority than the caller's: for a screen

const struct graph *study_graph(const struct study *s);
// Another model for the study's samples: what their shapes and values decide about the inputs is decided as in the
// study's own. `pairs` as in onnx_options. The caller owns *out.
MUST_CHECK enum status study_load(struct graph **out, const struct study *s, const char *model, bool pairs, struct error *err);
// The calibration samples, prepared as the decision in force says; lives as long as the study.
const struct dataset *study_dataset(const struct study *s);
const struct study_options *study_options(const struct study *s); // as resolved (target, method, threads, memory)
const struct target *study_target(const struct study *s);
enum calib_method study_method(const struct study *s); // the calibrator in force

// SELECTION: a node name (the file's or fused), a glob or name:GLOB, op:TYPE, A..B (all nodes on paths from A to B), "marked"
// (the caller gives the marks). Writes node ids in order to *out (heap). STATUS_NOTFOUND names the nearest known.
MUST_CHECK enum status study_select(const struct study *s, const char *selection, const bool *marked, int **out, int *n, struct error *err);

// Finds the tensor that is meant where a scale is set: the name of a node means its first output; the name of a tensor
// means itself, and is written with STUDY_TENSOR in front where a node has the same name. STATUS_REFUSED: a parameter.
#define STUDY_TENSOR "tensor:"
MUST_CHECK enum status study_find_output(int *value, const struct graph *g, const char *name, struct error *err);
// The tensors of a SELECTION, which may be such a name; of selected nodes the first outputs: value ids (heap).
MUST_CHECK enum status study_select_outputs(const struct study *s, const char *selection, const bool *marked, int **out,
    int *n, struct error *err);

// Edits: each call is one step of the history (one undo). `refused` (may be NULL) counts nodes that the target
// refuses, with the reason of one in err->text and a few others by name; when all are refused nothing changes and the
// status is STATUS_REFUSED. An edit that changes nothing says so in err->text with STATUS_OK and none refused, and adds
// no step.
// Other parts of an operator go along where the target asks them for its width (plan_operator_nodes).
MUST_CHECK enum status study_set(struct study *s, const int *nodes, int n,
    int precision /* -1: the target's choice */, int *refused, struct error *err);
// As study_set: what nodes are given, -1 to take it back.
typedef enum status study_give_fn(struct study *s, const int *nodes, int n, int what, int *refused, struct error *err);
// The calibrator of the nodes' own quantizers: of what they make, and of an input of the network that they read.
MUST_CHECK enum status study_set_calibrator(struct study *s, const int *nodes, int n,
    int method /* enum calib_method; -1: that of all */, int *refused, struct error *err);
struct scale_edit {
	int value;    // that a node makes, or the network is given
	double scale; // 0: auto
	int32_t zero; // the zero point that goes with it, a code of the tensor's quantizer; or ZERO_FOLLOWS
};
MUST_CHECK enum status study_check_scale(struct study *s, const struct scale_edit *e, struct error *err); // would it be taken?
MUST_CHECK enum status study_scales(struct study *s, const struct scale_edit *e, int n, struct error *err); // in one step
// One scale (and zero point, or ZERO_FOLLOWS) for many tensors, in one step; refusals as study_set counts them.
MUST_CHECK enum status study_scale_all(struct study *s, const int *values, int n, double scale, int32_t zero, int *refused,
    struct error *err);
MUST_CHECK enum status study_set_target(struct study *s, const char *name, struct error *err);
MUST_CHECK enum status study_set_method(struct study *s, enum calib_method m, struct error *err);
// How pictures are prepared from now on: options as on the command line, which change what is in force, or "auto",
// which goes back to how the study was opened.
MUST_CHECK enum status study_preprocess(struct study *s, char **word, int n, struct error *err);
// How many samples calibrate and are measured from now on: the first `count` of them, or as many as there are. Like
// study_preprocess it looks at every file of them, which a screen has done in another thread (preparing.h).
MUST_CHECK enum status study_samples(struct study *s, const char *count, struct error *err);
// Appends what the command line says of the samples in force, CALIB or --random-data and the options behind it.
void study_add_samples(struct str *out, const struct study *s);
// Tuned weights that the study knows (a repair made them, or a session brought them), by name; "auto": the model's own.
MUST_CHECK enum status study_tune(struct study *s, const char *name, struct error *err);
// Others, which it knows from then on; an empty one is "auto".
MUST_CHECK enum status study_take_tuning(struct study *s, struct tuning *t, struct error *err);
// STATUS_REFUSED: there is no such step. Another error is of the target that was in force there: nothing has changed.
MUST_CHECK enum status study_undo(struct study *s, struct error *err);
MUST_CHECK enum status study_redo(struct study *s, struct error *err);
const struct edits *study_edits(const struct study *s);

// The history: steps oldest first; text as a `:` command would say it ("set /model.24/m.0/Conv int16").
int study_steps(const struct study *s, int *current); // number of steps; *current: how many of them are in force
const char *study_step(const struct study *s, int i);
// Appends a step, shortened to about `room` bytes: of many nodes it names the first, and says how many more.
void study_add_step(struct str *out, const char *step, int room);
// Appends a command to the text of a step: several are one step, done and undone together.
void study_add_command(struct str *out, const char *command);
// Applies one step given as its text, or nothing of it.
MUST_CHECK enum status study_command(struct study *s, const char *text, struct error *err);
// "2^-4", a positive number, or "auto" (0); behind a comma the zero point, an integer: "0.02,128". Else ZERO_FOLLOWS.
bool scale_parse(const char *text, double *scale, int32_t *zero);
#define SCALE_SYNTAX "2^-4, a positive number or auto; 0.02,128 with a zero point"
enum { SCALE_TEXT = 40 };
// "2^-4", else so many digits; returns out.
char *scale_text(char out[SCALE_TEXT], double scale, int digits);
bool scale_exponent(double scale, int *out); // true: 2^*out
// The steps in force behind the first `from` become one.
void study_join_steps(struct study *s, size_t from);
// Rebuilds the history from commands (of a session file): applies each, then steps back to `current`.
MUST_CHECK enum status study_restore(struct study *s, const char *const *command, int n, int current, struct error *err);

// For the next run.
void study_set_task(struct study *s, const struct task_wish *wish);
const struct task_wish *study_task_wish(const struct study *s);
// Asks for a sample of the task's data with its picture. It is in snapshot.look as soon as it is ready, and again
// whenever more is known of it.
void study_look(struct study *s, int sample);
// Asks for the channels of the tensor at which the quantizer of a site (site.slot) acts. They are gathered between
// runs, after the first has ended, and are in snapshot.channels again and again as more samples have been gone
// through. A newer call, or a run, ends the gathering.
void study_channels(struct study *s, int slot);
bool study_gathering(const struct study *s); // channels that were asked for are not complete; study_running does not count them

// Variants: states of the decisions that have a name (one word), kept in sessions. A new name is given to the state
// in force (*made); a known one brings its state back, as one step of the history. A number brings back what was
// decided in that run.
MUST_CHECK enum status study_variant(struct study *s, const char *name, bool *made, struct error *err);
int study_variants(const struct study *s);
const char *study_variant_name(const struct study *s, int i);
struct cJSON *study_save_variants(const struct study *s);
MUST_CHECK enum status study_load_variants(struct study *s, const struct cJSON *variants, struct error *err);
// The figures of a variant's last run, of a run by its number, or of what is in force ("now"); the caller calls
// run_record_done.
struct run_record;
MUST_CHECK enum status study_figures(struct run_record *out, struct study *s, const char *what, struct error *err);

void study_run(struct study *s);    // starts, or restarts with the newest edits; returns at once
void study_cancel(struct study *s); // figures computed so far stay
MUST_CHECK enum status study_wait(struct study *s, struct error *err); // until the run is over; its error
bool study_running(const struct study *s);
int study_fd(const struct study *s); // readable when a newer snapshot is there or a run is over; study_snapshot empties it
struct snapshot *study_snapshot(struct study *s); // the newest; the caller drops it. Never NULL after study_open
// As engine_infer, under the plan of the last finished run; blocks.
MUST_CHECK enum status study_infer(struct study *s, const struct inference *q, struct error *err);
// All figures that have been computed, by their keys, for a session: they are put back before anything has run. A save
// is begun in the study's thread, which takes little time; its end may run in another thread while the study is open.
struct results_save *results_save_begin(const struct study *s);
struct cJSON *results_save_end(struct results_save **r); // also frees r; the caller deletes what it returns
void results_save_free(struct results_save **r);         // gives a save up
// Takes the results over. The conductor puts them in place before the next run; study_wait waits for that too. Those that
// another version of the program has computed are dropped, with a line in the log.
void study_load_results(struct study *s, struct cJSON *results);

// What an edit would do before it is made: the figures that a site would have if its scale were `scale`, predicted from
// the float histogram alone. `zero`: its zero point, or ZERO_FOLLOWS for the one that it has.
struct prediction {
	double snr_db, clipped, step;
	bool known;
};
struct prediction study_predict_scale(const struct snapshot *snap, int site, double scale, int32_t zero);
// The same for any histogram of floats and any grid.
struct prediction hist_predict(const struct hist *h, double scale, double zero, int64_t qmin, int64_t qmax);

// Takes over what a repair has found out: the snapshots show it from now on, and sessions keep it.
void study_set_blames(struct study *s, struct blames *b);

// Times that a board has measured (latency.h): costs are counted in them from now on, and the session names the file.
// NULL: no more.
struct latency;
void study_set_latency(struct study *s, struct latency *l); // counted
const struct latency *study_latency(const struct study *s);

// A survey of the samples (survey.h), which findings read: the study takes it over and looks for findings again;
// study_wait waits for them.
struct survey;
void study_set_survey(struct study *s, struct survey *v);
const struct survey *study_survey(const struct study *s); // NULL: none was made of pictures that are prepared as now

#endif
