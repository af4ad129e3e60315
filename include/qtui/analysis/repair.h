// Blame and repair: what each quantizer alone does to the network's outputs, and the edits that mend it, each
// measured before it is kept. A repair works on a copy of the study's decision in force with an engine of its own:
// the study may be used meanwhile, and nothing of it is changed; whoever owns the study applies the commands of the
// steps.
//
// The yardstick is damage: 0 for the float network, 1 for a network that has nothing to do with it. Of a detector whose
// outputs can be decoded it is how far its boxes are from the float network's; of other networks it is one minus Lin's
// concordance of the tensors where the result is read (docs/REPAIR.md). It needs no labels, is not dominated by the few
// channels that hold the largest numbers, and unlike a task metric it changes with every edit.
#ifndef QTUI_ANALYSIS_REPAIR_H
#define QTUI_ANALYSIS_REPAIR_H

#include "qtui/analysis/background.h"
#include "qtui/analysis/blame.h"
#include "qtui/analysis/condition.h"
#include "qtui/analysis/study.h"
#include "qtui/engine/tune.h"

// The task metric of a plan (higher is better), where there is one; NULL plan: of the float network.
typedef enum status repair_score_fn(void *arg, struct engine *e, const struct plan *plan, double *score, struct error *err);

// Where a repair may stop. Fields are NAN where nothing is asked for.
struct repair_goal {
	struct drops drop; // of the task's figure: "map_drop<0.005"
	double max_drop; // what they come to for the task that is measured (repair_goal_task)
	double min_snr;  // of the worst point, dB: "snr>25"
	double max_cost; // "cost<1.1": work beside that of everything at 8 bit (cost.h)
	double max_wide; // "wide<0.1": share of the MACs above 8 bit
	double max_time; // "time<12": milliseconds, where a board's times are known
};
// Nothing asked for. A repair whose goal does not limit cost may send 15 % of the MACs above 8 bit or, with a board's
// times, take 15 % more time.
extern const struct repair_goal repair_goal_default;
// Reads "NAME<NUMBER" or "snr>NUMBER", or several joined by commas; limits that the text does not name stay.
MUST_CHECK enum status repair_goal_parse(struct repair_goal *g, const char *text, struct error *err);
// Before it is used: sets max_drop. STATUS_REFUSED where the goal is of another task than the one that is measured, whose
// figure[0] is `figure`; NULL: none is.
MUST_CHECK enum status repair_goal_task(struct repair_goal *g, const char *figure, struct error *err);

struct frontier;
struct repair_task; // the study's task, see below
struct repair_options {
	int samples;              // on which damage is measured: the first N of the study's; 0: 4 to 8
	double seconds;           // stop after about so long; 0: no limit
	struct repair_goal goal;
	repair_score_fn *score;   // may be NULL
	void *score_arg;
	const char *score_name;   // "AP"
	struct repair_task *task; // its samples and its decoder serve to compare networks without labels; may be NULL
	const atomic_bool *cancel;
	// Called with tell_arg by the thread that works; each may be NULL.
	void (*tell)(void *arg, const char *text, double progress); // what is under way, for people
	void (*looked)(void *arg, struct frontier *f); // the states that nothing beats so far (frontier.h); the callee drops it
	void (*blamed)(void *arg, struct blames *b);   // what repair_blame knows so far; the callee drops it
	void *tell_arg;
};
// The study's task for repair_task_score: on the samples that the study measures it on, reusing the results that it
// has; else on the calibration samples, if labels lie beside them. *out NULL with STATUS_OK: there are no labels. Freed
// before the study is closed; `cancel` may be NULL.
MUST_CHECK enum status repair_task_open(struct repair_task **out, const struct study *st, const atomic_bool *cancel, struct error *err);
void repair_task_free(struct repair_task **t);
const char *repair_task_name(const struct repair_task *t); // "AP"
// How far the results of the plan's network are from those of the float network over the task's samples (task_apart);
// NAN before repair_task_score was asked about this plan.
double repair_task_apart(const struct repair_task *task, const struct plan *plan);
// A repair_score_fn whose argument is a repair_task.
MUST_CHECK enum status repair_task_score(void *task, struct engine *e, const struct plan *plan, double *score, struct error *err);

struct repair;
// The study must have calibrated: its snapshot has the plan. Called from the study's thread; what follows may be
// called from one other thread as long as the study is open.
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

// Measures parts of the network quantized alone, and splits the most harmful part first, until every part that does
// harm is a single tensor or the constants of one node, or the time is over. Then the most harmful are also measured
// in float and at 16 bit, the most promising first, and by the task. What was measured before is not measured again.
// When it is cancelled and anything is known by then, the status is STATUS_OK. The caller drops *out.
MUST_CHECK enum status repair_blame(struct repair *r, struct blames **out, struct error *err);

enum repair_kind {
	REPAIR_TAIL, REPAIR_DIVISORS, REPAIR_FLOAT, REPAIR_CALIBRATION, REPAIR_SCALE, REPAIR_WIDEN, REPAIR_WEIGHTS, REPAIR_LOGITS
};
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
// Tries edits, the most promising first, and keeps those that pay; `step` gets every one that was tried, from this
// thread. Stops at the goal, when nothing pays any more, when the time is over, or when cancelled (STATUS_OK too:
// what was kept stands).
MUST_CHECK enum status repair_fix(struct repair *r, void (*step)(void *arg, const struct repair_step *s), void *arg, struct error *err);
// As repair_fix, but only fits weights (engine/tune.h).
MUST_CHECK enum status repair_tune(struct repair *r, void (*step)(void *arg, const struct repair_step *s), void *arg, struct error *err);
const struct tune_row *repair_tuned(const struct repair *r, int *n); // the nodes that were tuned, in order
struct frontier *repair_frontier(const struct repair *r); // NULL before repair_prepare. Borrowed: frontier_take it to keep it
struct cJSON *repair_figures_json(const struct repair_figures *f); // the caller deletes it
void repair_figures_parse(struct repair_figures *out, const struct cJSON *j); // NAN for figures that are not there
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
// The job sets callbacks, score, task and cancel of `opt` by itself: they are left NULL. STATUS_REFUSED: a goal for the
// task, and the study has no task.
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
// The status and error of a job that runs no more; *why: what ended it (repair_end).
enum status repair_job_end(struct repair_job *j, struct error *err, const char **why);

#endif
