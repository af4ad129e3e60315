// The worker pool: who runs what and where, cancelling, signals.
#include "support.h"

#include <omp.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>
#include "qtui/base/jobs.h"
#include "qtui/base/thread.h"

struct record {
	atomic_int calls[1000];
	atomic_int worker_busy[8];
	atomic_int order;
	int began[1000];
	int workers, wrong;
	int width, omp_width;
};

static void note(void *arg, int i, int worker, int width)
{
	struct record *r = arg;
	r->began[i] = atomic_fetch_add(&r->order, 1);
	atomic_fetch_add(&r->calls[i], 1);
	if (worker < 0 || worker >= r->workers || atomic_fetch_add(&r->worker_busy[worker], 1) != 0)
		r->wrong = 1;
	if (width != omp_get_max_threads())
		r->wrong = 1;
	if (i == 0) {
		r->width = width;
		r->omp_width = omp_get_max_threads();
	}
	atomic_fetch_sub(&r->worker_busy[worker], 1);
}

void test_jobs__calls_each_once_and_one_a_worker(void **state)
{
	for (int threads = 1; threads <= 8; threads++) {
		struct jobs *j = jobs_new(threads);
		struct record lone = {.workers = threads};
		jobs_run(j, 1, note, &lone, NULL);
		assert_int_equal(lone.width, SUPPORT_WIDTH(threads));
		for (int n = 0; n <= 1000; n = 3 * n + 1) {
			struct record r = {.workers = threads};
			jobs_run(j, n, note, &r, NULL);
			for (int i = 0; i < 1000; i++)
				assert_int_equal(r.calls[i], i < n);
			assert_int_equal(r.wrong, 0);
		}
		jobs_free(&j);
		assert_null(j);
	}
}

void test_jobs__one_thread_goes_in_order(void **state)
{
	struct jobs *j = jobs_new(1);
	struct record r = {.workers = 1};
	jobs_run(j, 1000, note, &r, NULL);
	for (int i = 0; i < 1000; i++)
		assert_int_equal(r.began[i], i);
	jobs_free(&j);
}

void test_jobs__only_a_lone_call_is_wide(void **state)
{
	struct jobs *j = jobs_new(3);
	struct record lone = {.workers = 3}, many = {.workers = 3};
	jobs_run(j, 1, note, &lone, NULL);
	assert_int_equal(lone.width, SUPPORT_WIDTH(3));
	assert_int_equal(lone.omp_width, SUPPORT_WIDTH(3));
	jobs_run(j, 2, note, &many, NULL);
	assert_int_equal(many.width, 1);
	assert_int_equal(many.omp_width, 1);
	jobs_free(&j);
}

static void note_thread(void *arg, int i, int worker, int width)
{
	(void)i, (void)worker, (void)width;
	*(pthread_t *)arg = pthread_self();
}

// A worker would have to be woken first: longer than a small network takes.
void test_jobs__a_lone_call_stays_with_its_caller(void **state)
{
	for (int threads = 1; threads <= 3; threads++) {
		struct jobs *j = jobs_new(threads);
		pthread_t by;
		int before = omp_get_max_threads();
		jobs_run(j, 1, note_thread, &by, NULL);
		assert_true(pthread_equal(by, pthread_self()));
		assert_int_equal(omp_get_max_threads(), before);
		jobs_yield(j);
		jobs_run(j, 1, note_thread, &by, NULL);
		assert_false(pthread_equal(by, pthread_self()));
		jobs_free(&j);
	}
}

void test_jobs__out_of_range_thread_counts_are_mended(void **state)
{
	static const int wanted[] = {0, -5};
	for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
		struct jobs *j = jobs_new(wanted[i]);
		struct record r = {.workers = 1};
		jobs_run(j, 1, note, &r, NULL);
		assert_int_equal(r.calls[0], 1);
		assert_int_equal(r.width, 1);
		jobs_free(&j);
		jobs_free(&j);
	}
}

struct cancelling {
	atomic_bool cancel;
	atomic_int calls;
	int at;
};

static void cancel_at(void *arg, int i, int worker, int width)
{
	struct cancelling *c = arg;
	atomic_fetch_add(&c->calls, 1);
	if (i == c->at)
		atomic_store(&c->cancel, true);
}

void test_jobs__cancel_keeps_the_rest_from_beginning(void **state)
{
	struct jobs *j = jobs_new(4);
	struct cancelling c = {.at = 10};
	jobs_run(j, 100000, cancel_at, &c, &c.cancel);
	assert_in_range(c.calls, 11, 99999);
	c = (struct cancelling){.cancel = true};
	jobs_run(j, 100, cancel_at, &c, &c.cancel);
	assert_int_equal(c.calls, 0);
	c = (struct cancelling){.at = -1};
	jobs_run(j, 100, cancel_at, &c, &c.cancel);
	assert_int_equal(c.calls, 100);
	jobs_free(&j);
}

static void meet(void *arg, int i, int worker, int width)
{
	pthread_barrier_wait(arg);
}

// Would hang if fewer workers than threads took part.
void test_jobs__all_workers_run_side_by_side(void **state)
{
	struct jobs *j = jobs_new(4);
	pthread_barrier_t barrier;
	pthread_barrier_init(&barrier, NULL, 4);
	for (int i = 0; i < 50; i++)
		jobs_run(j, 4, meet, &barrier, NULL);
	pthread_barrier_destroy(&barrier);
	jobs_free(&j);
}

static void add_one(void *arg, int i, int worker, int width)
{
	(*(int *)arg)++;
}

// What a call wrote is seen by the caller without an atomic of its own: TSan checks.
void test_jobs__a_run_is_a_memory_barrier(void **state)
{
	struct jobs *j = jobs_new(2);
	int count = 0;
	for (int i = 0; i < 2000; i++) {
		jobs_run(j, 1, add_one, &count, NULL);
		count++;
	}
	assert_int_equal(count, 4000);
	jobs_free(&j);
}

struct caller {
	struct jobs *jobs;
	atomic_int *count;
};

static void add_atomic(void *arg, int i, int worker, int width)
{
	atomic_fetch_add((atomic_int *)arg, 1);
}

static void *call_often(void *arg)
{
	struct caller *c = arg;
	for (int i = 0; i < 200; i++)
		jobs_run(c->jobs, 5, add_atomic, c->count, NULL);
	return NULL;
}

void test_jobs__callers_take_turns(void **state)
{
	atomic_int count = 0;
	struct caller c = {jobs_new(3), &count};
	pthread_t thread[3];
	for (int i = 0; i < 3; i++)
		pthread_create(&thread[i], NULL, call_often, &c);
	for (int i = 0; i < 3; i++)
		pthread_join(thread[i], NULL);
	assert_int_equal(count, 3000);
	jobs_free(&c.jobs);
}

static void look_at_mask(void *arg, int i, int worker, int width)
{
	sigset_t now;
	pthread_sigmask(SIG_SETMASK, NULL, &now);
	if (sigismember(&now, SIGWINCH) && sigismember(&now, SIGTERM) && sigismember(&now, SIGINT) && !sigismember(&now, SIGSEGV) &&
	    !sigismember(&now, SIGBUS))
		atomic_fetch_add((atomic_int *)arg, 1);
}

void test_jobs__workers_block_signals_that_are_sent_and_the_caller_does_not(void **state)
{
	struct jobs *j = jobs_new(2);
	atomic_int blocked = 0;
	sigset_t now;
	jobs_run(j, 10, look_at_mask, &blocked, NULL);
	assert_int_equal(blocked, 10);
	pthread_sigmask(SIG_SETMASK, NULL, &now);
	assert_false(sigismember(&now, SIGWINCH));
	jobs_free(&j);
}

void test_jobs__clock_goes_forward(void **state)
{
	double a = clock_seconds(), b;
	usleep(2000);
	b = clock_seconds();
	assert_true(b - a > 0.001 && b - a < 60);
}

static void note_nice(void *arg, int i, int worker, int width)
{
	((int *)arg)[i] = getpriority(PRIO_PROCESS, 0);
	(void)worker, (void)width;
}

void test_jobs__workers_yield_to_the_caller(void **state)
{
	struct jobs *j = jobs_new(2);
	int before[4], after[4], own = getpriority(PRIO_PROCESS, 0);
	jobs_run(j, 4, note_nice, before, NULL);
	jobs_yield(j);
	jobs_run(j, 4, note_nice, after, NULL);
	for (int i = 0; i < 4; i++) {
		assert_int_equal(before[i], own);
		assert_true(after[i] >= 10);
	}
	assert_int_equal(getpriority(PRIO_PROCESS, 0), own);
	jobs_free(&j);
}
