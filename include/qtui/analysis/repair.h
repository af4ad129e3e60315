// Blame and repair: what each quantizer alone does to the network's outputs, and the edits that mend it, each measured before it is
// kept. A repair works on a copy of the study's decision in force with an engine of its own: the study may be used meanwhile, and
// nothing of it is changed; whoever owns the study applies the commands of the steps.
//
// The yardstick is damage, 0 for the float network and 1 for one that has nothing to do with it: of a detector that can be read how far
// its boxes are from the float network's, of others one less Lin's concordance of the tensors where the result is read (docs/REPAIR.md).
// It needs no labels, is not ruled by the few channels that hold the largest numbers, and unlike a task metric it moves with every edit.
#ifndef QTUI_ANALYSIS_REPAIR_H
#define QTUI_ANALYSIS_REPAIR_H

#include "qtui/analysis/background.h"
#include "qtui/analysis/blame.h"
#include "qtui/analysis/study.h"
#include "qtui/engine/tune.h"

// The task metric of a plan (higher is better), where there is one; NULL plan: of the float network.
typedef enum status repair_score_fn(void *arg, struct engine *e, const struct plan *plan, double *score, struct error *err);

// Where a repair may stop. Fields are NAN where nothing is asked for.
struct repair_goal {
	double max_drop; // of the task metric: "map_drop<0.005"
	double min_snr;  // of the worst point, dB: "snr>25"
	double max_cost; // "cost<1.1": work beside that of everything at 8 bit (cost.h)
	double max_wide; // "wide<0.1": share of the MACs above 8 bit
	double max_time; // "time<12": milliseconds, where a board's times are known
};
// Nothing asked for. Where nothing is said of what it may cost: 15 % of the MACs above 8 bit, or, with a board's times, 15 % more time.
extern const struct repair_goal repair_goal_default;
// "NAME<NUMBER" or "snr>NUMBER", or several joined by commas; others stay as they are.
MUST_CHECK enum status repair_goal_parse(struct repair_goal *g, const char *text, struct error *err);

struct frontier;
struct repair_task; // the study's task, see below
struct repair_options {
	int samples;              // on which damage is measured: the first N of the study's; 0: 4 to 8
	double seconds;           // stop after about so long; 0: no limit
	struct repair_goal goal;
	repair_score_fn *score;   // may be NULL
	void *score_arg;
	const char *score_name;   // "AP"
	struct repair_task *task; // whose samples and way of reading outputs compare networks without labels; may be NULL
	const atomic_bool *cancel;
	// What is under way, for people; from the thread that works. May be NULL.
	void (*tell)(void *arg, const char *text, double progress);
	void (*looked)(void *arg, struct frontier *f); // the states worth having so far (frontier.h); the callee drops it. May be NULL
	void (*blamed)(void *arg, struct blames *b); // what repair_blame knows so far; the callee drops it. May be NULL
	void *tell_arg;
};
// The study's task as repair_score_fn: on the samples that the study measures it on, with what it knows of a network already; else
// on the calibration samples, where labels lie beside them.
// *out NULL with STATUS_OK: there are no labels. To be freed before the study is closed; `cancel` may be NULL.
MUST_CHECK enum status repair_task_open(struct repair_task **out, const struct study *st, const atomic_bool *cancel, struct error *err);
void repair_task_free(struct repair_task **t);
const char *repair_task_name(const struct repair_task *t); // "AP"
// How far what the plan's network says is from the float network over the task's samples (task_apart), known as soon as it has a score.
double repair_task_apart(const struct repair_task *task, const struct plan *plan);
MUST_CHECK enum status repair_task_score(void *task, struct engine *e, const struct plan *plan, double *score, struct error *err);

struct repair;
// The study must have calibrated: its snapshot has the plan. Called from the study's thread; what follows may be called from one
// other thread as long as the study is open.
MUST_CHECK enum status repair_open(struct repair **out, struct study *st, const struct repair_options *opt, struct error *err);
void repair_free(struct repair **r);
// Runs the float network and the one in force; repair_blame and repair_fix do it when it has not been done.
MUST_CHECK enum status repair_prepare(struct repair *r, struct error *err);

// What a plan comes to. `score` is NAN without a task, `apart` also where the task's kind cannot say (task_apart).
struct repair_figures {
	double damage, snr_db, score, apart;
	double wide, cost; // share of the MACs above 8 bit; see repair_goal
	double us;         // of a board's times; NAN: there are none
};

// Splits the network best first until every part of weight stands alone or the time is over; what was measured before is not
// measured again. Then the most harmful are also measured in float and at 16 bit, the most promising first, at last by the task. Being
// cancelled is STATUS_OK as soon as anything is known.
MUST_CHECK enum status repair_blame(struct repair *r, struct blames **out, struct error *err);

enum repair_kind { REPAIR_TAIL, REPAIR_CALIBRATION, REPAIR_SCALE, REPAIR_WIDEN, REPAIR_WEIGHTS, REPAIR_LOGITS };
const char *repair_kind_name(enum repair_kind k); // "calibration"
// An edit that was tried. Its texts live until the repair is freed.
struct repair_step {
	enum repair_kind kind;
	const char *const *command; // for study_command, in order
	int n_commands;
	const char *reason;      // one sentence
	bool kept;
	double expected;         // damage that it was expected to save; NAN: not known
	struct repair_figures before, after;
};
// Tries edits, the most promising first, and keeps those that pay; `step` gets every one that was tried, from this thread.
// Stops at the goal, when nothing pays any more, when the time is over, or when cancelled (STATUS_OK too: what was kept stands).
MUST_CHECK enum status repair_fix(struct repair *r, void (*step)(void *arg, const struct repair_step *s), void *arg, struct error *err);
// Only fits weights (engine/tune.h); the same callbacks. The nodes that were tuned, in order: the repair's.
MUST_CHECK enum status repair_tune(struct repair *r, void (*step)(void *arg, const struct repair_step *s), void *arg, struct error *err);
struct frontier *repair_frontier(const struct repair *r); // after repair_prepare, NULL before; who keeps it takes it
struct cJSON *repair_figures_json(const struct repair_figures *f); // the caller deletes it
void repair_figures_parse(struct repair_figures *out, const struct cJSON *j); // NAN where it says nothing
const struct tune_row *repair_tuned(const struct repair *r, int *n);
const struct tuning *repair_tuning(const struct repair *r); // with the edits kept so far; NULL: none
const struct repair_figures *repair_now(const struct repair *r);   // with the edits kept so far
const struct repair_figures *repair_begin(const struct repair *r); // as it was opened; both after repair_prepare
double repair_float_score(const struct repair *r);                 // NAN: not known
const char *repair_end(const struct repair *r);                    // why the last repair_fix stopped
bool repair_goal_met(const struct repair *r);
bool repair_goal_met_by(const struct repair *r, const struct repair_figures *f); // would such a state meet it?

// A repair in the background.
struct repair_job;
enum repair_work { REPAIR_FIX, REPAIR_BLAME /* only the ranking */, REPAIR_TUNE /* only weights */ };
// Callbacks, score and cancel of `opt` are the job's own affair and left NULL; a goal for the task where
// the study has none is STATUS_REFUSED.
MUST_CHECK enum status repair_job_start(struct repair_job **out, struct study *st, const struct repair_options *opt,
    enum repair_work work, struct error *err);
struct background *repair_job_background(struct repair_job *j);
void repair_job_free(struct repair_job **j); // cancels and waits
void repair_job_text(struct repair_job *j, char *out, size_t size); // what is under way
// The steps tried so far, oldest first; their texts live as long as the job.
int repair_job_steps(struct repair_job *j);
struct repair_step repair_job_step(struct repair_job *j, int i);
const char *repair_job_task(const struct repair_job *j); // "AP": what the figures' `score` is; NULL: there is no task
double repair_job_float_score(struct repair_job *j);     // NAN: not known, or the job still runs
struct blames *repair_job_blames(struct repair_job *j); // as far as they are known; the caller drops them. NULL: none yet
struct frontier *repair_job_frontier(struct repair_job *j); // the states worth having, likewise
enum status repair_job_end(struct repair_job *j, struct error *err, const char **why); // of one that runs no more

#endif
