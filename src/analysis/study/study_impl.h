// Private to src/analysis: the study's inside.
#ifndef QTUI_ANALYSIS_STUDY_IMPL_H
#define QTUI_ANALYSIS_STUDY_IMPL_H

#include "qtui/analysis/history.h"
#include "qtui/analysis/preprocess.h"
#include "qtui/base/str.h"
#include "repair_memo.h"
#include "work.h"

// A state of the user's decisions; history is a list of them.
struct decision {
	struct edits *edits;
	char target[TARGET_NAME];
	enum calib_method method;
	int preparation; // which samples, and how they are prepared: an index into study.preparation
	char *text;      // of a step the command that led here, NULL for the first; of a variant its name
};
// So many samples prepared in one way, and the figures on them.
struct preparation {
	int samples;  // that were asked for, there may be fewer; 0: as many as when the study was opened
	struct dataset *d;
	struct memo *memo;
};
enum {
	STUDY_LATEST = 4,        // finished runs whose snapshots stay, for a session
	STUDY_RECENT = 12,       // whose figures stay whatever they take: half as many steps can be undone, each a run too
	STUDY_PREPARATIONS = 16, // ways to prepare samples
	STUDY_FOUND = 32         // states whose findings are remembered, for undo
};
// Findings, and the key of all that they were read from.
struct found {
	struct key basis;
	struct findings *findings;
};
struct study {
	// Set when it is opened; nobody changes it.
	struct study_options opt;          // its strings are the study's own copies
	struct graph *g;
	bool *truncated;                   // [n_nodes] behind --truncate: float unless the user says otherwise
	double load_s;                     // what opening took

	// Parts that any thread may use; they have locks of their own.
	struct engine *engine;
	struct study_task *task;           // study_task.h
	struct looker *looker;             // study_look.c
	struct repair_memo *repairs;       // what repairs have measured
	atomic_bool yield, cancel;         // cancel: what the conductor is at is void

	// Of the study's thread, the one that calls the functions of study.h.
	struct target *target;             // of the decision in force
	struct refusals *refusals;         // what that has been asked; NULL: nothing
	struct decision *step;             // step[current] is in force; those behind it can be redone
	size_t n_steps, current, cap_steps;
	bool told_quantized;               // that the model is
	bool replaying;                    // steps of a session, of which only the last is shown
	uint64_t generation;               // grows with every decision
	struct decision *variant;
	size_t n_variants, cap_variants;
	struct isolation *isolation;       // NULL: none was made
	struct frontier *frontier;         // what accuracy costs, of the latest repair; NULL: none
	char *latency_missed;              // the file that the session names and that could not be read: it is still named when that is saved
	// [0]: as the study was opened. Others are added behind it and stay until the study is closed,
	// so that any thread may read the first n_preparations.
	struct preparation preparation[STUDY_PREPARATIONS];
	atomic_int n_preparations;

	// Of the conductor, the thread that computes (conduct.c).
	pthread_t thread;
	bool conducted;                    // it was started
	struct dataset *d;                 // of the run's preparation
	struct memo *memo;                 // likewise
	struct plan_cache *plan_cache;
	int last_steps;                    // that were in force in its last run
	bool told_nonfinite;               // where numbers stop being finite
	struct key told_refused;           // of the edits that its plan refuses

	pthread_mutex_t publishing;        // one snapshot of a run is built at a time; taken before `lock`. What is made beside the runs is
	                                   // published without it: study_publish takes the latest of that
	pthread_mutex_t lock;              // study_lock: guards all that follows
	pthread_cond_t changed;            // what the conductor is asked for, or has done
	int pipe[2];                       // a byte: there is a newer snapshot

	// What the conductor is asked for, and what it is at.
	bool quit, requested, running;
	struct request req;                // the run that is wanted, if `requested`
	struct cJSON *loads;               // results of sessions that it is to take over; NULL: none
	bool find;                         // findings are to be looked for again
	int fetch;                         // sample + 1 that a look lacks; 0: none
	int channels_slot;                 // slot + 1 whose channels are wanted; 0: none
	bool gathering;                    // channels, right now: `cancel` is about them
	struct error error;                // of the last run

	// What is known. Snapshots take counts of it.
	struct snapshot *snap;             // the newest
	struct snapshot *latest[STUDY_LATEST]; // of the ends of runs, the newest first; only the conductor writes
	struct history history;
	struct task_look *look;            // NULL: none; shown by every snapshot, as are the channels
	struct channels *channels;
	struct blames **blames;            // of decisions, the newest last
	int n_blames;
	struct found found[STUDY_FOUND];   // a ring
	unsigned n_found;
	struct survey *survey;             // NULL: none was made; the study's thread, which sets it, reads it without the lock
	int n_surveys;
	struct latency *latency;           // NULL: none; likewise
};

// The lock is no part of the value: who only asks takes it, too.
static inline void study_lock(const struct study *s)
{
	pthread_mutex_lock(&((struct study *)s)->lock);
}

static inline void study_unlock(const struct study *s)
{
	pthread_mutex_unlock(&((struct study *)s)->lock);
}

// ---- study.c
struct edits *study_effective(const struct study *s, const struct edits *user); // with truncation; heap
struct snapshot *study_latest(struct study *s);              // as study_snapshot, without emptying the pipe

// ---- conduct.c
void *study_conduct(void *study);                            // the conductor thread
void study_wake(struct study *s);                            // whoever reads the pipe
void study_publish(struct study *s, struct snapshot *snap);  // takes the caller's count
// A copy of the newest snapshot in its place, whose head the caller changes:
// the lock is held until study_renewed, which tells of it.
struct snapshot *study_renew(struct study *s, struct snapshot **old);
void study_renewed(struct study *s, struct snapshot **old);
void study_publish_look(struct study *s, struct task_look *l);    // takes the caller's count
void study_publish_channels(struct study *s, struct channels *c); // likewise
void study_fetch(struct study *s, int sample);               // has the conductor measure one sample when it is idle

// ---- snapshot.c, publish.c
// A snapshot of the graph alone, or of `prev` with the decision in force laid over it: nothing is computed.
struct snapshot *snapshot_before_run(struct study *s, const struct snapshot *prev);
struct snapshot *snapshot_copy(const struct snapshot *from); // not published yet: the caller may change its head
// What is made beside the runs, look, channels and blames, as it is by now: the caller holds the lock.
void snapshot_take_beside(struct snapshot *s, const struct study *st);

// ---- decide.c
int edits_count(const struct edits *e);
struct decision decision_copy(const struct decision *from, char *text); // which the copy owns
void decision_done(struct decision *d);
// A new state behind the one in force, equal to it so far, and what was undone is forgotten; the caller changes it and commits.
// Takes the command's text. Valid until the next one begins.
struct decision *decision_begin(struct study *s, char *text);
void decision_commit(struct study *s); // it is in force, and shown
void study_replay(struct study *s, bool begin);     // what is decided from here on is shown when it ends
void study_fall_back(struct study *s, size_t step); // to a step in force before, without what came behind it
enum status study_nothing_changed(struct error *err, const char *why); // STATUS_OK, and the reason as a text
void study_take_preparation(struct study *s, int preparation, char *text); // as a step; takes the command's text
// Brings the state of a variant back, as a step of the history.
MUST_CHECK enum status study_go_variant(struct study *s, const struct decision *v, struct error *err);
// As study_set, of these nodes and no other part of their operators: commands name all that they mean.
MUST_CHECK enum status study_set_only(struct study *s, const int *nodes, int n, int precision, int *refused, struct error *err);

// ---- decide_scales.c
// Part of a command's text: a blank, what study_find_output finds the tensor by, and a scale as "2^-4", a number or "auto".
void study_add_scale(struct str *out, const struct graph *g, int value, double scale, int32_t zero);

// ---- step_text.c
void study_add_word(struct str *out, const char *word); // of a command: a name, escaped
char *study_next_command(const char **rest);            // of a step's text, which goes on at *rest; heap

// ---- edits_commands.c, session/edits_json.c
// The commands that lead from one set of edits under a calibration to another; free with edits_commands_free.
char **edits_commands(const struct graph *g, const struct edits *from, enum calib_method before, const struct edits *to, enum calib_method after,
    int *n);
void edits_commands_free(char **list, int n);
// Edits as JSON, and back (heap): an error names the node.
struct cJSON *edits_json(const struct graph *g, const struct edits *e);
MUST_CHECK enum status edits_parse(struct edits **out, const struct study *s, const struct cJSON *list, struct error *err);

// ---- refusals.c: what the target in force says of edits, of which none is in the way of another's: each is asked once
int refusals_of(struct study *s, const int *nodes, int n, enum precision want, bool *refused, struct error *err); // as plan_check_edits
const struct plan *refusals_bare(struct study *s); // the plan that is asked
const struct plan *refusals_edited(struct study *s); // that with the edits in force; until the next edit
void refusals_forget(struct study *s);             // before the target goes
// Behind the reason of one: a few of the others that are refused by name, and how many more. Of nodes those but `said`.
void refusals_name_others(struct error *err, const char *const *name, int n);
void refusals_name_nodes(struct error *err, const struct graph *g, const int *nodes, const bool *refused, int n, int said);
// Is the tensor inside of what runs as one operator, neither what it is known by nor its end? The one quantizer there is of
// another tensor: a scale for this one would be that one's.
MUST_CHECK enum status refusals_inside(struct study *s, int value, struct error *err);
// By the conductor: warns of the edits in force that its plan refuses, as those of a session may be under another target;
// once until others are refused.
void refusals_tell(struct study *s, const struct plan *p);

// ---- variant.c
// Takes a state as one step of the history: as a copy of this variant;
// where another state has its name, with a number behind.
MUST_CHECK enum status study_become(struct study *s, const struct decision *wanted, struct error *err);
void variants_cut(struct study *s, size_t n); // the first n stay
void variants_free(struct study *s);

// ---- study_prepare.c
const struct preparation *study_preparation(const struct study *s); // of the decision in force
const struct dataset *study_first_dataset(const struct study *s);   // as the study was opened
struct key all_samples_key(const struct dataset *d);                // of all samples as they are prepared
// What a run is measured on: runs that only prepare the same samples otherwise can be compared.
struct key study_measured_key(const struct study *s, int preparation);
void study_first_preparation(struct study *s, struct dataset *d);   // as it is opened; takes the samples over
void study_preparation_use(struct study *s, int preparation);       // by the conductor
size_t study_engine_memory(const struct study *s); // of the user's what the figures of all samples do not take
// By the conductor before a run: of figures that take more than their share of the memory those go that were asked for
// longest ago, but none of the latest STUDY_RECENT runs.
void study_forget_figures(struct study *s);
void study_preparations_free(struct study *s);
// What is special about a preparation.
struct way study_way(const struct study *s, int preparation);
// The same from settings: pre NULL: as the study was opened; refused where samples are no pictures.
MUST_CHECK enum status study_way_of(struct way *out, const struct study *s, const struct preprocess *pre, int samples, struct error *err);
int study_known_way(const struct study *s, const struct way *w); // the index of the preparation; -1: none
bool study_has_pictures(const struct study *s); // its samples, as it was opened
MUST_CHECK enum status study_room_for_way(const struct study *s, struct error *err);
struct dataset_options study_way_options(const struct study *s, const struct way *w); // what opens its samples
MUST_CHECK enum status study_open_way(struct dataset **d, const struct study *s, const struct way *w, struct error *err); // in any thread
int study_add_way(struct study *s, const struct way *w, struct dataset *d); // takes d; its index. There is room
// All of this at once: the index of the preparation, which is added where it is new.
MUST_CHECK enum status study_find_way(int *out, struct study *s, const struct way *w, struct error *err);

// ---- results.c
void results_load(struct study *s, const struct cJSON *results); // by the conductor

// ---- study_blame.c
struct key decision_key(const struct graph *g, const char *target, enum calib_method method,
    const struct edits *effective, const struct preparation *b);
// The blame of a decision, else (*old) the one that was measured last, else NULL;
// the caller holds the lock, and drops it.
struct blames *study_blames_of(const struct study *s, struct key decision, bool *old);
void study_blames_lose_task(struct study *s); // those with a task metric go: it is another task now
void study_blames_free(struct study *s);
struct cJSON *study_blames_save(const struct study *s);
void study_blames_load(struct study *s, const struct cJSON *list);

// ---- study_find.c
// Of a decision, as far as is known by now: the caller holds the lock, and drops them.
struct findings *study_findings_of(const struct study *s, struct key decision);
void study_find(struct study *s);       // by the conductor: those of the snapshot, unless they are known
void study_find_again(struct study *s); // has the conductor look when it is idle; the lock is held
void study_found_free(struct study *s);
struct survey *study_take_survey(const struct study *s, const struct dataset *samples); // if it is of these; counted

// ---- study_frontier.c
// The list of states that nothing beats, as sessions keep it; NULL: there is none.
struct cJSON *study_frontier_save(const struct study *s);
MUST_CHECK enum status study_frontier_load(struct study *s, const struct cJSON *j, struct error *err);

// ---- study_latency.c
void study_miss_latency(struct study *s, const char *path);
struct costs *study_costs(struct study *st, const struct snapshot *s); // of a snapshot that has its rows

// ---- study_channels.c, study_task.c
void study_gather_channels(struct study *s, int slot);               // by the conductor
void run_note_task(struct run_note *n, const struct task_report *r); // its first figure

#endif
