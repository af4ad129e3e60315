// Threads, the clock and the processors. Whoever starts a thread joins it.
#ifndef QTUI_BASE_THREAD_H
#define QTUI_BASE_THREAD_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include "qtui/base/error.h"

// Every thread but the first is started here. It blocks all signals, so that those sent to the program reach the first
// thread, except those of its own faults (SIGSEGV, SIGBUS), for which handlers run in it, also where its stack is full
// (SA_ONSTACK). `fn` has THREAD_STACK bytes of stack. False: the system gives no thread.
#define THREAD_STACK ((size_t)8 << 20)
MUST_CHECK bool thread_start(pthread_t *thread, void *(*fn)(void *), void *arg);
void thread_yield(void); // lets others go first from now on: the calling thread, and those that it will start

double clock_seconds(void);   // monotonic
int threads_of_machine(void); // processors that this process may use, at least 1

#endif
