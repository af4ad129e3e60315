// Threads: what a fault in one finds.
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
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
