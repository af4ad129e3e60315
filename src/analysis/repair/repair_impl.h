// Private to src/analysis/repair. Reading order: points.c (where damage is read), concord.c
// (how far numbers are apart there), probe.c (damage of a plan), scales.c (plans of edits that no run has calibrated),
// parts.c (what can be blamed), blame.c, remedy_*.c (what can be tried), fix.c.
#ifndef REPAIR_REPAIR_IMPL_H
#define REPAIR_REPAIR_IMPL_H

#include "qtui/analysis/cost.h"
#include "qtui/analysis/frontier.h"
#include "qtui/analysis/repair.h"
#include "qtui/base/mem.h"
#include "../study/repair_memo.h"

// ---- points.c
// A tensor where the network's result is read: an output, or what a selection by value (TopK, NMS)
// reads of the network before it; where no output has a shape before the network runs, what the nodes read
// that make such tensors.
struct point {
	int value;
	int axis;           // along which damage is taken channel by channel; -1: the tensor as a whole
	int64_t channels, inner;
};
bool *points_behind(const struct graph *g); // [n_values] a selection decides what the value holds: no point sees it; heap
struct point *points_find(const struct graph *g, int *n);
enum status points_missing(const struct graph *g, struct error *err); // what is said where there is none
const struct figures *point_figures(const struct snapshot *s, const struct point *p); // quantized graphwise; NULL: not known

// ---- concord.c
struct damage {
	double damage; // 0: the quantized network says what the float one says; 1: nothing of it
	double snr_db;
};
struct concord;
struct concord *concord_new(const struct point *pt, int samples); // the point is borrowed
void concord_free(struct concord **c);
// Take the numbers of a sample: plain floats, first of the float network (a share is kept), then of a quantized one, in
// place of those of the plan before. Calls for different samples may be made by different threads.
void concord_float(struct concord *c, int sample, const struct tensor *t);
void concord_quantized(struct concord *c, int sample, const struct tensor *t);
void concord_forget(struct concord *c);             // what was taken
bool concord_finite(const struct concord *c);       // some channel of the float network is made of finite numbers
struct damage concord_damage(const struct concord *c, int samples); // over the first ones

// ---- probe.c
struct probe;
// On so many of the samples: spread over all, that with most noise among them; where boxes are read, the first. Of the repair
// it borrows graph, engine, memo, samples and reader (NULL: damage is read at the points alone).
MUST_CHECK enum status probe_new(struct probe **out, const struct repair *r, int samples, struct error *err);
int *probe_choose(int count, int samples, int noisiest); // [samples] of `count` ones, the first third spread like all; all: in order; heap
void probe_free(struct probe **p);
// Of a finished plan; known again by the keys of the points, also by later repairs of the study.
MUST_CHECK enum status probe_damage(struct probe *p, const struct plan *plan, struct damage *out, struct error *err);
// Of a part standing alone, on a third of the samples: there are many parts,
// and what they do is compared, not promised.
MUST_CHECK enum status probe_alone(struct probe *p, const struct plan *plan, struct damage *out, struct error *err);
bool probe_has(const struct probe *p, int sample); // is it one of the probe's?
int probe_runs(const struct probe *p); // networks that were run
int probe_samples(const struct probe *p); // how many it has

MUST_CHECK enum status rep_as_plain(struct rep *out, struct rep *from, int width, struct error *err); // floats, as points take them
// A pass whose visitor sets *failed where it has no memory for what it is shown: then the pass has failed, too.
MUST_CHECK enum status probe_pass(struct engine *e, const struct pass *p, const struct graph *g, atomic_bool *failed, struct error *err);

// ---- noisiest.c
// Sets r->noisiest where there are more samples than are probed, and r->run_snr_db where the pass has seen all.
MUST_CHECK enum status repair_find_noisiest(struct repair *r, int probed, struct error *err);
// Sets r->run_snr_db behind a step that was kept: where a goal asks for decibels and one pass may see all samples.
MUST_CHECK enum status repair_find_run_snr(struct repair *r, struct error *err);

// ---- scales.c
// What is edited: the same as a decision of the study.
struct trial {
	struct edits *edits;
	enum calib_method method;
};
struct scales;
struct scales *scales_new(const struct graph *g, const struct target *t, struct engine *e, int samples, const atomic_bool *cancel);
void scales_free(struct scales **s);
void scales_learn(struct scales *s, const struct plan *finished);
// A finished plan of the trial, which the caller frees.
// Scales come from what is known of the same tensor and observer, else from a calibration pass.
// They are those of a study to the rounding of weights upstream, which is not the same in every plan.
MUST_CHECK enum status scales_plan(struct scales *s, struct plan **out, const struct trial *t, struct error *err);

// ---- parts.c
struct part {
	int slot;       // root quantizer of a tensor, -1: constants
	int node;       // who makes the tensor, or whose constants these are
	int value;      // -1: constants
};
struct parts {
	struct part *at; // in the order of execution
	int n;
	int *of_slot;    // [n_slots] part, -1: none
};
struct parts *parts_new(const struct plan *p);
void parts_free(struct parts **p);
// Leaves quantized only what is in first..last-1, or (invert) only what is not.
void parts_isolate(const struct parts *parts, struct plan *p, int first, int last, bool invert);
// Leaves quantized only constants, or only tensors.
void parts_keep(const struct parts *parts, struct plan *p, bool constants);
// The nodes that must widen for the part to be wide: who makes the tensor, whoever shares its scale, whoever reads it;
// with `sources` also, through operators without weights, who makes what these read.
// Sets wide[node]; returns the MACs that this adds.
int64_t parts_widen(const struct parts *parts, const struct plan *p, int part, bool sources, bool *wide);
// The nodes at 8 bit that must be wide for the part to be: node[n_nodes] gets them, their number is returned.
int parts_needs(const struct parts *parts, const struct plan *p, int part, int *node);

// ---- allocate.c
// Which nodes to widen within a budget, judged by what every part does alone.
struct allocator;
// What widening takes, and a limit to it: then NAN is none.
struct outlay {
	double wide; // share of the MACs that go above 8 bit
	double cost; // work that is added, beside all at 8 bit
};
bool outlay_within(struct outlay o, struct outlay limit);
// alone[parts]; all are borrowed.
struct allocator *allocator_new(const struct repair *r, const struct parts *parts, const struct plan *p, const double *alone);
void allocator_free(struct allocator **a);
// Adds to wide[n_nodes] what saves most for its cost until `budget`, with what is wide before, is spent.
void allocator_fill(struct allocator *a, struct outlay budget, bool *wide);
struct outlay allocator_outlay(const struct allocator *a, const bool *wide);
bool allocator_saves(const struct allocator *a, int part, const bool *wide); // all nodes that it needs are wide
double allocator_left(const struct allocator *a, const bool *wide); // what the parts that are not wide do alone, summed; NULL: all

// ---- repair.c
struct repair {
	const struct graph *g;
	struct target *target;
	struct plan *bare;          // of the target: asked what may be edited
	struct engine *engine;
	struct probe *probe;
	struct boxes_reader *reader; // NULL: none
	struct boxes_reader *rows; // of what a NonMaxSuppression leaves, until a sample tells whether it can be read; NULL: none
	bool queries;               // weights lie behind a selection by value: boxes and points both speak
	struct scales *scales;
	struct repair_memo *memo;   // the study's
	struct key decision;        // that it began from
	struct repair_options opt;
	struct arena *arena;        // texts of the steps
	struct trial now;           // edits kept so far
	struct repair_figures begin, figures;
	double float_score, deadline;
	const struct dataset *data; // of the study
	bool prepared;
	int64_t *macs, total_macs;  // [n_nodes]
	struct costs *costs;        // of the state that it began from: nothing a repair does makes a node dearer than its width
	signed char *scalable;      // [n_values] repair_may_scale said yes (1) or no (-1)
	const char *end;
	int kept;                   // steps
	double run_snr_db;          // of the state that there is now, over all samples, at the worst point; -INFINITY: not finite; NAN: not known
	int noisiest;               // the sample with most noise at the worst point; -1: not known
	struct frontier *frontier;  // of all states that were looked at
	struct frontier *earlier;   // what the study has kept of the same basis; NULL: nothing
	struct frontier_basis basis; // of their figures
	size_t memory;              // of the engine; 1/ENGINE_SHARE of the study's
	struct tune_row *tuned;     // nodes whose weights were fitted by the latest remedy; the arena's
	int n_tuned;
};
enum { ENGINE_SHARE = 4, TUNER_SHARE = 8 }; // parts of the study's memory, which gives up the engine's
bool repair_cancelled(const struct repair *r);
bool repair_over(const struct repair *r); // cancelled or out of time
// Moves the deadline to a share of the time that is left; returns the old one, to be put back.
double repair_lend(struct repair *r, double share);
void repair_tell(const struct repair *r, double progress, const char *fmt, ...) PRINTF(3, 4);
struct trial trial_copy(const struct trial *t);
void trial_done(struct trial *t);
// What a trial comes to with these scales, the task aside; *p gets its plan, in place of the one that is there.
MUST_CHECK enum status repair_measure(struct repair *r, const struct trial *t, struct scales *s, struct plan **p, struct repair_figures *out,
    struct error *err);
// The same with the scales of the repair, as a state that was looked at.
MUST_CHECK enum status repair_estimate(struct repair *r, const struct trial *t, struct repair_figures *out, struct error *err);
enum precision repair_wide_precision(const struct repair *r); // what a part is widened to: float where the target has no 16 bit
// The study takes this scale for the node's output: it has one of its own whatever else is edited.
bool repair_may_scale(struct repair *r, int value, double scale);
double repair_unit(const struct repair *r); // of score: task_unit
// score and apart of a plan (NULL: of the float network).
MUST_CHECK enum status repair_score(struct repair *r, const struct plan *p, struct repair_figures *out, struct error *err);

// ---- frontier.c
// A new one with this state in it, which is copied; NULL: it adds nothing. `f` NULL: none yet.
struct frontier *frontier_with(const struct frontier *f, const struct repair_state *s, const struct frontier_basis *basis);

// ---- states.c
void repair_look(struct repair *r, const struct repair_state *s); // what it has measured; the edits are copied
void repair_look_earlier(struct repair *r); // at what earlier repairs have measured, behind the state that this one begins from
// Those that nothing beats and that were only passed by are measured as their own runs
// would be, as long as there is time.
MUST_CHECK enum status repair_measure_states(struct repair *r, struct error *err);

// ---- score.c
// How boxes are read from the outputs: as the task does, else found from the model; NULL: it is no detector.
// Takes r->rows for the reader if it reads what the float network says of the first sample, else away.
MUST_CHECK enum status repair_try_rows(struct repair *r, struct error *err);
struct boxes_reader *repair_reader(const struct study *st, const struct repair_task *t);
struct key repair_task_identity(const struct repair_task *t); // zero: there is none

// ---- goal.c
bool repair_goal_asked(const struct repair_goal *g); // a target, not only limits
MUST_CHECK enum status repair_goal_limits(struct repair_goal *g, bool timed, struct error *err); // where nothing is said of cost

// ---- blame.c
struct run { // parts first..last-1 in the order of execution
	int first, last;
	double alone;
};
struct runs {
	struct run *at; // the most damaging first
	int n;
	double total;
	bool complete;
};
// For the remedies: of what is in force, fine enough that many small parts are seen,
// in a third of the time that is left.
MUST_CHECK enum status runs_find(struct repair *r, const struct parts *parts, struct runs *out, struct error *err);
#define REPAIR_SHARE 0.01 // of all damage: a run of parts that does less is not split
#define REPAIR_RUINED 0.9 // damage: hardly a box is left, and no single remedy shows
void runs_done(struct runs *s);

// ---- fix.c and the remedies
typedef void repair_step_fn(void *arg, const struct repair_step *s);
struct fixing {
	struct repair *r;
	repair_step_fn *step;
	void *arg;
	struct runs ranked; // by remedy_float, of the state that there is still, for the remedy behind it; `at` NULL: none
};
// An edit about to be tried: what it changes, the command that says so, and why. The texts are the repair's.
struct candidate {
	enum repair_kind kind;
	struct trial trial;
	const char **command, *reason;
	int n_commands;
	double expected;
	bool by_task; // the task metric decides, whatever the damage
	bool harmless; // what is known of it alone speaks for it: kept as long as nothing is seen that speaks against it
	bool decided; // it takes back what the user has decided: that must pay as more bits must
	bool unseen;  // part of it is where damage does not look: where that stays the same, the task decides
};
// Measures the candidate and keeps it when it pays; the trial goes over to the repair or is freed. *kept may be NULL.
MUST_CHECK enum status fix_try(struct fixing *f, struct candidate *c, bool *kept, struct error *err);
bool fix_may_go_on(struct fixing *f); // neither at the goal nor out of time
MUST_CHECK enum status remedy_own(struct fixing *f, struct error *err);         // remedy_own.c
MUST_CHECK enum status remedy_tail(struct fixing *f, struct error *err);        // remedy_tail.c
bool *repair_tail(const struct repair *r); // [n_nodes] without multiply-accumulates, and none follows; heap
MUST_CHECK enum status remedy_divisors(struct fixing *f, struct error *err);    // remedy_divisors.c
MUST_CHECK enum status remedy_float(struct fixing *f, struct error *err);       // remedy_float.c
MUST_CHECK enum status remedy_calibration(struct fixing *f, struct error *err); // remedy_calibration.c
MUST_CHECK enum status remedy_behind(struct fixing *f, struct error *err);      // remedy_behind.c
bool repair_decodes_queries(const struct repair *r); // weights lie behind a selection by value
bool repair_by_boxes(const struct repair *r); // damage is what boxes say, from the first step on
MUST_CHECK enum status remedy_scales(struct fixing *f, struct error *err);      // remedy_scales.c
MUST_CHECK enum status remedy_widen(struct fixing *f, struct error *err);       // remedy_widen.c
MUST_CHECK enum status remedy_weights(struct fixing *f, struct error *err);     // remedy_weights.c
MUST_CHECK enum status remedy_logits(struct fixing *f, struct error *err);      // remedy_logits.c
// Adds a command to the candidate.
void candidate_say(struct repair *r, struct candidate *c, const char *command);
// The edit that gives tensors these scales ([n_values], 0: their own) where they have others, in the trial and as one
// command.
void candidate_scales(struct repair *r, struct candidate *c, const double *scale);
// The edit "set A B int16" of the nodes that are marked, in the trial and as a command.
void candidate_set(struct repair *r, struct candidate *c, const bool *marked, enum precision p);
const char *repair_text(struct repair *r, const char *fmt, ...) PRINTF(2, 3);

#endif
