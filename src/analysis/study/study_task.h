// Private to src/analysis: the task that a study measures.
#ifndef QTUI_ANALYSIS_STUDY_TASK_H
#define QTUI_ANALYSIS_STUDY_TASK_H

#include "study_impl.h"

// A task and its samples, held by the study and by whoever else measures on it. Samples of the study itself outlive it.
struct task_lease {
	atomic_int refs;
	struct task *task;
	struct dataset *data;   // NULL: the study's own samples
	struct key identity;    // of samples, labels and the way of reading outputs: results are the same for the same
};
struct task_lease *task_lease_new(struct task *t, struct dataset *d); // takes both over
void task_lease_drop(struct task_lease **l);
// The task that the study measures, NULL: none (yet). The caller drops it.
struct task_lease *study_task_lease(const struct study *s);

struct study_task {
	pthread_mutex_t lock;   // over the wish and the reports
	struct task_wish wish;  // owns its texts
	unsigned wished;        // grows with every wish
	struct keymap *report;  // complete ones, by samples, labels and networks

	// Of the conductor alone.
	unsigned opened;        // the wish that `task` is for
	unsigned tried;         // the same, also where it could not be opened
	int preparation;        // and how pictures were prepared for it
	bool asked;             // the user did; else it is measured because it can be
	struct key identity;    // of the lease, and of the backend
	struct task_net *noted; // of the run noted last

	// Written by the conductor, read by others too, under `looking`.
	pthread_mutex_t looking;
	struct dataset *data;   // NULL: the study's own samples
	struct task *task;      // NULL: none
	struct task_lease *lease; // of both; NULL: none
	struct task_net *net[TASK_VARIANTS]; // that the newest report compares
	struct key network;     // of the quantized one
	char problem[sizeof ((struct error *)0)->text];            // why there is none; under study.publishing
	bool problem_asked;     // it is of a task that the user asked for
	unsigned problem_wish;  // which wish it is about
};
struct task_wish task_wish_copy(const struct task_wish *w); // owns its texts
void task_wish_done(struct task_wish *w);
struct study_task *study_task_new(const struct task_wish *wish);
void study_task_free(struct study_task **p);
// Opens what is wished for now, unless it is open: p->task is NULL where there is none.
MUST_CHECK enum status study_task_open(struct work *w, struct error *err);
// When the plan of a run is finished: shows what is known of it.
void study_task_ready(struct work *w);
// Where the task's samples are the study's: what reads along while their figures are measured, in w->gather;
// else the task has a pass of its own behind them.
void study_task_gather(struct work *w);
bool study_task_due(const struct work *w);
void study_task_clear(struct work *w); // nothing is measured: nothing is shown
// When the figures are complete: opens what is wished for and measures it.
enum status study_task_run(struct work *w, struct error *err);
// Measures one sample under the plan.
void study_task_fetch(struct study *s, const struct plan *plan, int sample);
struct looker *looker_new(void);
void looker_free(struct looker **k);
void study_look_again(struct study *s); // if the last look lacked something
void study_task_note(struct work *w, struct run_note *n);
void study_task_save(const struct study *s, struct cJSON *to);
void study_task_load(struct study *s, struct key k, const struct cJSON *report);

#endif
