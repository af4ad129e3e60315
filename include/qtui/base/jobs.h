// A pool of worker threads over which independent tasks (mostly: one image each) are spread. The pool owns its threads.
// Each worker sets its own OpenMP width to 1; a task that runs alone may widen it (see jobs_run).
#ifndef QTUI_BASE_JOBS_H
#define QTUI_BASE_JOBS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

struct jobs;
// `threads` workers, one at the least and as many as the system gives, which thread_start starts.
struct jobs *jobs_new(int threads);
void jobs_free(struct jobs **j); // waits for what runs
// Calls fn(arg, i, worker, width) for i in 0..n-1, spread over the workers in rising order of i, and returns when all
// are done. `worker` in 0..threads-1 names the scratch memory that the call may use; `width` is the number of OpenMP
// threads that it may use inside (all of them when n == 1, else 1). fn stores its errors in arg. Once *cancel is set
// (it may be NULL), no further call begins. With n == 1 the calling thread does the work itself, which saves waking a
// worker; after jobs_yield it does not, since only the workers have a lower priority. Rounds that several
// threads ask for come one after another; fn itself must not ask for one, which would wait for the end of its own.
void jobs_run(struct jobs *j, int n, void (*fn)(void *arg, int i, int worker, int width), void *arg, const atomic_bool *cancel);

// From now on the workers let others go first: for a program whose screen must answer while they compute.
void jobs_yield(struct jobs *j);

#endif
