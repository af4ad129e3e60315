#include "qtui/base/thread.h"

#include <omp.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>
#include "qtui/base/mem.h"

// On Linux a thread has a nice value of its own. A refusal leaves things as they are; who was started under a higher
// value keeps it.
void thread_yield(void)
{
	enum { NICE = 10 };
	if (getpriority(PRIO_PROCESS, 0) < NICE)
		setpriority(PRIO_PROCESS, 0, NICE);
}

struct start {
	void *(*fn)(void *);
	void *arg;
};

// Handlers of faults have room of their own at the stack's beginning: a fault may come of the rest being full.
enum { HANDLERS_STACK = 1 << 16 };

static void *begin(void *arg)
{
	const struct start start = *(struct start *)arg;
	char room[HANDLERS_STACK];
	stack_t before, handlers = {.ss_sp = room, .ss_size = sizeof room};
	free(arg);
	sigaltstack(&handlers, &before);
	void *result = start.fn(start.arg);
	sigaltstack(&before, NULL);
	return result;
}

// A fault whose signal is blocked ends the program without asking any handler. The system's stacks are as large as
// the user's limit of the first thread's says (ulimit -s), which may be less than the kernels' buffers take.
bool thread_start(pthread_t *thread, void *(*fn)(void *), void *arg)
{
	static const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP};
	pthread_attr_t attr;
	sigset_t sent, before;
	bool started;
	if (pthread_attr_init(&attr) != 0)
		return false;
	struct start *start = xmalloc(sizeof *start);
	*start = (struct start){fn, arg};
	pthread_attr_setstacksize(&attr, THREAD_STACK + HANDLERS_STACK);
	sigfillset(&sent);
	for (size_t i = 0; i < sizeof faults / sizeof *faults; i++)
		sigdelset(&sent, faults[i]);
	pthread_sigmask(SIG_SETMASK, &sent, &before);
	started = pthread_create(thread, &attr, begin, start) == 0;
	if (!started)
		free(start);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_attr_destroy(&attr);
	return started;
}

double clock_seconds(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

int threads_of_machine(void)
{
	return omp_get_num_procs(); // respects the affinity mask
}
