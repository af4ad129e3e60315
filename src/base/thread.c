#include "qtui/base/thread.h"

#include <omp.h>
#include <signal.h>
#include <sys/resource.h>
#include <time.h>

// On Linux a thread has a nice value of its own. A refusal leaves things as they are.
void thread_yield(void)
{
	enum { NICE = 10 };
	setpriority(PRIO_PROCESS, 0, NICE);
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
	pthread_attr_setstacksize(&attr, THREAD_STACK);
	sigfillset(&sent);
	for (size_t i = 0; i < sizeof faults / sizeof *faults; i++)
		sigdelset(&sent, faults[i]);
	pthread_sigmask(SIG_SETMASK, &sent, &before);
	started = pthread_create(thread, &attr, fn, arg) == 0;
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
