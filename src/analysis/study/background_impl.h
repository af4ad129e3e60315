// Private to src/analysis: the thread of a job in the background. The job holds it, and shows it to those who ask.
#ifndef QTUI_ANALYSIS_BACKGROUND_IMPL_H
#define QTUI_ANALYSIS_BACKGROUND_IMPL_H

#include "qtui/analysis/background.h"
#include "study_impl.h"

struct background {
	struct study *study;
	background_fn *work;
	void *arg;
	pthread_t thread;
	struct error error; // the thread's until it is over
	bool started;
	atomic_bool over;
	atomic_bool cancel; // for `work` to look at
	atomic_int done;    // of `steps`; written by `work`
	int steps;
};
// Runs work(arg) in a thread that yields to the screen. What is all zero has not been started and may be joined.
MUST_CHECK enum status background_start(struct background *b, struct study *st, int steps, background_fn *work, void *arg, struct error *err);
void background_tell(struct background *b, double progress); // by `work`, 0..1; wakes the screen
// What `work` returned, of one that runs no more.
enum status background_end(const struct background *b, struct error *err);
void background_join(struct background *b); // cancels and waits

#endif
