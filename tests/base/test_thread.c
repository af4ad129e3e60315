// Threads: what a fault in one finds, and what memory they leave to each other.
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include "qtui/base/mem.h"
#include "qtui/base/thread.h"
#include "support.h"

enum { HANDLED = 7 };

static void on_fault(int sig)
{
	_exit(HANDLED);
}

static int fill_stack(int depth)
{
	volatile char frame[1 << 12];
	memset((char *)frame, depth, sizeof frame);
	return depth == 0 ? 0 : fill_stack(depth - 1) + frame[depth % (int)sizeof frame];
}

// A program that was started with less of a claim keeps that.
void test_thread__yield_raises_nobody(void **state)
{
	int status;
	pid_t child = fork();
	if (child == 0) {
		setpriority(PRIO_PROCESS, 0, 15);
		thread_yield();
		_exit(getpriority(PRIO_PROCESS, 0));
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(WEXITSTATUS(status), 15);
}

static void *overflow(void *arg)
{
	*(int *)arg = fill_stack(1 << 20);
	return NULL;
}

// It is the handler that gives the terminal back.
void test_thread__a_handler_runs_where_the_stack_is_full(void **state)
{
	int status;
	pid_t child = fork();
	if (child == 0) {
		const struct sigaction fault = {.sa_handler = on_fault, .sa_flags = SA_ONSTACK};
		pthread_t thread;
		int sum;
		sigaction(SIGSEGV, &fault, NULL);
		if (thread_start(&thread, overflow, &sum))
			pthread_join(thread, NULL);
		_exit(0);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), HANDLED);
}

static double resident_mib(void)
{
	FILE *f = fopen("/proc/self/statm", "re");
	long all, pages = 0;
	assert_non_null(f);
	assert_int_equal(fscanf(f, "%ld %ld", &all, &pages), 2);
	fclose(f);
	return (double)pages * (double)sysconf(_SC_PAGESIZE) / (1 << 20);
}

struct turns {
	pthread_barrier_t own, all; // a thread has had its turn; all have
};

static void use(size_t size)
{
	free(memset(xmalloc(size), 1, size));
}

static void *use_in_turn(void *arg)
{
	struct turns *t = arg;
	use((size_t)20 << 20);
	pthread_barrier_wait(&t->own);
	pthread_barrier_wait(&t->all);
	return NULL;
}

// Beyond --memory there is no room for what each thread has used once.
void test_thread__what_one_has_freed_serves_the_others(void **state)
{
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
	skip();
#endif
	enum { THREADS = 8 };
	pthread_t thread[THREADS];
	struct turns t;
	use((size_t)24 << 20); // from now on glibc takes as much in its heap
	pthread_barrier_init(&t.own, NULL, 2);
	pthread_barrier_init(&t.all, NULL, THREADS + 1);
	double before = resident_mib();
	for (int i = 0; i < THREADS; i++) {
		assert_true(thread_start(&thread[i], use_in_turn, &t));
		pthread_barrier_wait(&t.own);
	}
	double more = resident_mib() - before;
	pthread_barrier_wait(&t.all);
	for (int i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
	pthread_barrier_destroy(&t.own);
	pthread_barrier_destroy(&t.all);
	assert_true(more < 80); // of 160
}
