// A run is published under the lock as a new generation; workers 0..wanted-1 take part in it and draw numbers from one
// counter, so that calls begin in rising order. The caller sleeps until the last of them has gone idle.
#include "qtui/base/jobs.h"

#include <omp.h>
#include <pthread.h>
#include <stdlib.h>
#include "qtui/base/mem.h"
#include "qtui/base/thread.h"

#define MAX_THREADS 1024

struct worker {
	struct jobs *jobs;
	int index;
	pthread_t thread;
};

struct run {
	int n;
	void (*fn)(void *arg, int i, int worker, int width);
	void *arg;
	const atomic_bool *cancel;
};

struct jobs {
	int threads;
	struct worker *worker;
	pthread_mutex_t caller; // one run at a time
	pthread_mutex_t lock;   // guards all below but `next`
	pthread_cond_t begin, end;
	struct run run;
	unsigned generation;
	int wanted, busy;
	bool stop;
	atomic_bool yield;
	atomic_int next;
};

static bool cancelled(const struct run *r)
{
	return r->cancel && atomic_load_explicit(r->cancel, memory_order_acquire);
}

// Stacks count against a limit on address space, of which threads get a quarter at the most.
static size_t stacks_left(void)
{
	return mem_address_space_left() / THREAD_STACK / 4;
}

// libgomp is not instrumented, so that the thread sanitizer takes each of its teams for a race: it gets none.
// Where the system refuses one of a team's threads libgomp ends the program.
static int wide(const struct jobs *j)
{
#ifdef __SANITIZE_THREAD__
	return j->threads > 0;
#else
	return stacks_left() >= (size_t)j->threads ? j->threads : 1;
#endif
}

// A call that is alone may use all threads; libgomp keeps the width for each thread, so the worker sets its own.
static void draw_calls(struct jobs *j, const struct run *r, int worker)
{
	int width = r->n == 1 ? wide(j) : 1, i;
	if (atomic_load(&j->yield))
		thread_yield();
	omp_set_num_threads(width);
	while (!cancelled(r) && (i = atomic_fetch_add(&j->next, 1)) < r->n)
		r->fn(r->arg, i, worker, width);
	omp_set_num_threads(1);
}

static void *work(void *arg)
{
	struct worker *w = arg;
	struct jobs *j = w->jobs;
	unsigned seen = 0;
	omp_set_num_threads(1);
	pthread_mutex_lock(&j->lock);
	for (;;) {
		while (!j->stop && (j->generation == seen || w->index >= j->wanted))
			pthread_cond_wait(&j->begin, &j->lock);
		if (j->stop)
			break;
		seen = j->generation;
		struct run r = j->run;
		pthread_mutex_unlock(&j->lock);
		draw_calls(j, &r, w->index);
		pthread_mutex_lock(&j->lock);
		if (--j->busy == 0)
			pthread_cond_signal(&j->end);
	}
	pthread_mutex_unlock(&j->lock);
	return NULL;
}

static bool start(struct jobs *j, int index)
{
	struct worker *w = &j->worker[index];
	w->jobs = j;
	w->index = index;
	return thread_start(&w->thread, work, w);
}

// A system that refuses some of the threads gets a smaller pool; without any there is no program.
struct jobs *jobs_new(int threads)
{
	struct jobs *j = xcalloc(1, sizeof *j);
	size_t stacks = stacks_left();
	threads = threads < 1 ? 1 : threads > MAX_THREADS ? MAX_THREADS : threads;
	j->worker = xcalloc((size_t)threads, sizeof *j->worker);
	pthread_mutex_init(&j->caller, NULL);
	pthread_mutex_init(&j->lock, NULL);
	pthread_cond_init(&j->begin, NULL);
	pthread_cond_init(&j->end, NULL);
	while (j->threads < threads && (j->threads == 0 || (size_t)j->threads < stacks) && start(j, j->threads))
		j->threads++;
	if (j->threads == 0)
		error_end("the system gives no thread: raise the limits on threads (ulimit -u) and address space (ulimit -v)");
	return j;
}

void jobs_free(struct jobs **j)
{
	struct jobs *old = *j;
	*j = NULL;
	if (!old)
		return;
	pthread_mutex_lock(&old->lock);
	old->stop = true;
	pthread_cond_broadcast(&old->begin);
	pthread_mutex_unlock(&old->lock);
	for (int i = 0; i < old->threads; i++)
		pthread_join(old->worker[i].thread, NULL);
	pthread_cond_destroy(&old->begin);
	pthread_cond_destroy(&old->end);
	pthread_mutex_destroy(&old->lock);
	pthread_mutex_destroy(&old->caller);
	free(old->worker);
	free(old);
}

// A lone call: waking a worker would take longer than many a call. The caller's own priority stays as it is.
static bool run_here(const struct jobs *j, const struct run *r)
{
	int before = omp_get_max_threads(), width = wide(j);
	if (r->n != 1 || atomic_load(&j->yield))
		return false;
	omp_set_num_threads(width);
	if (!cancelled(r))
		r->fn(r->arg, 0, 0, width);
	omp_set_num_threads(before);
	return true;
}

static void run_on_workers(struct jobs *j, const struct run *r)
{
	pthread_mutex_lock(&j->lock);
	j->run = *r;
	atomic_store(&j->next, 0);
	j->wanted = j->busy = r->n < j->threads ? r->n : j->threads;
	j->generation++;
	pthread_cond_broadcast(&j->begin);
	while (j->busy > 0)
		pthread_cond_wait(&j->end, &j->lock);
	j->wanted = 0;
	pthread_mutex_unlock(&j->lock);
}

void jobs_run(
    struct jobs *j, int n, void (*fn)(void *arg, int i, int worker, int width), void *arg, const atomic_bool *cancel)
{
	if (n <= 0)
		return;
	const struct run r = {n, fn, arg, cancel};
	pthread_mutex_lock(&j->caller);
	if (!run_here(j, &r))
		run_on_workers(j, &r);
	pthread_mutex_unlock(&j->caller);
}

void jobs_yield(struct jobs *j)
{
	atomic_store(&j->yield, true);
}
